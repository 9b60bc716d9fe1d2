--- The test runner: nvim --clean --headless -l harness.lua SPEC... A spec is a file that returns a function of this
--- module's table. The closing line is "N passed, N failed".
local M = { passed = 0, failed = 0 }

--- How long something may take until it counts as never happening, in milliseconds. The machine may be loaded.
M.patience = 20000

---@param name string
---@param run fun()
function M.it(name, run)
  local ok, err = xpcall(run, debug.traceback)
  if ok then
    M.passed = M.passed + 1
  else
    M.failed = M.failed + 1
    io.stdout:write(('FAIL %s: %s\n%s\n'):format(M.spec, name, err))
  end
end

--- Fails unless both are equal, deeply.
function M.eq(got, want, what)
  if not vim.deep_equal(got, want) then
    error(('%s\n  got  %s\n  want %s'):format(what or 'not equal', vim.inspect(got), vim.inspect(want)), 2)
  end
end

--- Fails unless the text holds a string.
function M.has(got, part)
  if type(got) ~= 'string' or not got:find(part, 1, true) then
    error(('no %q in %s'):format(part, vim.inspect(got)), 2)
  end
end

--- Waits until the function returns something true and returns it.
---@generic T
---@param check fun(): T?
---@param what string
---@return T
function M.wait(check, what)
  local value
  local ok = vim.wait(M.patience, function()
    value = check()
    return value
  end, 5)
  if not ok then
    error('never happened: ' .. what, 2)
  end
  return value
end

--- Runs a function that calls back, and returns what it was called back with.
---@param run fun(callback: fun(...))
function M.await(run)
  local got
  run(function(...)
    got = { n = select('#', ...), ... }
  end)
  M.wait(function()
    return got ~= nil
  end, 'the callback')
  return unpack(got, 1, got.n)
end

--- Runs a command of the server; its error is one of the test.
function M.ask(command, args)
  local err, result = M.await(function(callback)
    require('sessionls.client').execute(command, args, callback)
  end)
  if err then
    error(command .. ': ' .. err.message, 2)
  end
  return result
end

--- Consents, and waits for the index.
function M.agree()
  require('sessionls.config').set({ enabled = true })
  M.eq(M.await(require('sessionls.consent').ensure), true)
  local status
  local ok = vim.wait(M.patience, function()
    status = require('sessionls.status').get()
    return status and status.phase == 'current'
  end, 5)
  if not ok then
    error('the index never became current: ' .. vim.inspect(status), 2)
  end
end

--- Notifications since the last call, joined.
local notices = {}
vim.notify = function(message)
  notices[#notices + 1] = message
end
function M.notices()
  local all = table.concat(notices, '\n')
  notices = {}
  return all
end

--- Waits for a notification that holds a string.
function M.notified(part)
  local all = ''
  M.wait(function()
    all = all .. M.notices()
    return all:find(part, 1, true)
  end, 'a notification with ' .. part)
end

--- Answers the questions of vim.ui.select(): with the choice whose text holds a string.
function M.answer(part)
  vim.ui.select = function(items, opts, callback)
    M.asked = opts.prompt
    for i, item in ipairs(items) do
      local label = opts.format_item and opts.format_item(item) or item
      if part and label:find(part, 1, true) then
        return callback(item, i)
      end
    end
    callback(nil, nil)
  end
end

--- The folder of the client.
M.root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')

vim.opt.runtimepath:prepend(M.root)
vim.o.swapfile = false
vim.cmd.runtime('plugin/sessionls.lua')

for _, path in ipairs(_G.arg) do
  M.spec = vim.fn.fnamemodify(path, ':t:r')
  local loaded, spec = pcall(dofile, path)
  if not loaded then
    M.failed = M.failed + 1
    io.stdout:write(('FAIL %s\n'):format(spec))
  else
    local ok, err = xpcall(spec, debug.traceback, M)
    if not ok then
      M.failed = M.failed + 1
      io.stdout:write(('FAIL %s: %s\n'):format(M.spec, err))
    end
  end
end
--- Sockets of the internet in this network namespace, in which nothing but the test runs.
---@return integer
local function sockets()
  local count = 0
  for _, name in ipairs({ 'tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6' }) do
    local ok, lines = pcall(vim.fn.readfile, '/proc/net/' .. name)
    count = count + (ok and math.max(#lines - 1, 0) or 0) -- after a heading
  end
  return count
end
if vim.env.SESSIONLS_ALONE == '1' and sockets() > 0 then
  M.failed = M.failed + 1
  io.stdout:write('FAIL something uses the network\n')
end

-- What Neovim echoes has no line break.
io.stdout:write(('\n%d passed, %d failed\n'):format(M.passed, M.failed))
-- Not :quit, which waits for the server to end.
require('sessionls.client').stop()
os.exit(M.failed == 0 and 0 or 1)
