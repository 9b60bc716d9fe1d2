--- :checkhealth sessionls
local M = {}

local client = require('sessionls.client')
local config = require('sessionls.config')
local hosts = require('sessionls.host')
local status = require('sessionls.status')

--- How long each answer is waited for, in milliseconds.
local patience = 5000
--- The same for another host, which may have to be connected.
local remote_patience = 15000

--- Runs a command of the server and waits for the answer.
---@param command string
---@param host? string
---@return sessionls.Error? err, table? result
local function ask(command, host)
  local done, err, result = false, nil, nil
  local time = host and remote_patience or patience
  local cancel = hosts.ask(host, command, {}, function(failure, answer)
    done, err, result = true, failure, answer
  end)
  if not vim.wait(time, function()
    return done
  end, 10) then
    cancel()
    return { message = ('no answer to %s within %d s'):format(command, time / 1000) }
  end
  return err, result
end

local function check_neovim()
  vim.health.start('Neovim')
  if vim.fn.has('nvim-0.10') == 0 then
    return vim.health.error('Neovim 0.10 or newer is needed')
  end
  vim.health.ok('Neovim ' .. tostring(vim.version()))
  if vim.g.loaded_sessionls ~= true then
    vim.health.warn('plugin/sessionls.lua was not run: :Sessions is missing', {
      'put the folder clients/neovim of the repository on the runtimepath',
      'does the plugin manager load it lazily? then name the command Sessions there',
    })
  end
  if pcall(vim.treesitter.language.inspect, 'markdown') then
    vim.health.ok('the Markdown parser for transcripts is there')
  else
    vim.health.warn('no treesitter parser for Markdown: transcripts have no colours')
  end
end

local function check_options()
  vim.health.start('Options')
  for _, problem in ipairs(config.problems) do
    vim.health.error(problem, { 'the options of setup() are not used until this is mended; :help sessionls-options' })
  end
  if #config.problems == 0 then
    vim.health.ok('options are understood')
  end
  local wish = config.get().picker
  local name = require('sessionls.picker').choose()
  if wish ~= 'auto' and wish ~= name then
    vim.health.warn(('picker is %s, but it is not installed; %s is used'):format(wish, name))
  else
    vim.health.ok('picker: ' .. name)
  end
end

--- Whether another program of this name would be started, such as an old one.
---@return boolean whether the server can be run
local function check_program()
  vim.health.start('Server')
  local missing = client.missing()
  if missing then
    vim.health.error(missing, {
      'with Go: go install -tags sqlite_fts5 github.com/sessionls/sessionls@latest',
      'is $(go env GOPATH)/bin on the PATH?',
      'Neovim started by a desktop may have another PATH than a shell',
    })
    return false
  end
  local cmd = config.get().cmd
  local path = vim.fn.exepath(cmd[1])
  local ok, ran = pcall(function()
    return vim.system({ path, 'version' }, { text = true }):wait(patience)
  end)
  local first = ok and vim.split(ran.stdout or '', '\n')[1] or ''
  if not ok or ran.code ~= 0 or not first:match('^sessionls') then
    vim.health.error(path .. ' is not sessionls, or does not work', {
      'run it in a shell: ' .. path .. ' version',
      'an old build, or one without -tags sqlite_fts5? build it again',
    })
    return false
  end
  vim.health.ok(('%s: %s'):format(path, first))
  return true
end

local function check_server()
  local err, policy = ask('getPolicy')
  if err or not policy then
    vim.health.error('the server does not answer: ' .. (err and err.message or ''), {
      ':LspLog has what it wrote on standard error',
      ':Sessions log opens its own log',
    })
    return
  end
  local running = client.get()
  local info = running and running.server_info or {}
  vim.health.ok(('answers: %s %s'):format(info.name or 'sessionls', info.version or ''))
  local lacking = vim.tbl_filter(function(command)
    return not client.supports(command)
  end, { 'searchSessions', 'searchEvents', 'renderTranscript', 'resumePlan', 'traceSession' })
  if #lacking > 0 then
    vim.health.warn('the server is older than this plugin and lacks ' .. table.concat(lacking, ', '), {
      'build and install it anew',
    })
  end
  if #vim.lsp.get_clients({ name = client.name }) > 1 then
    vim.health.warn('more than one client is named sessionls', {
      "use either vim.lsp.enable('sessionls') or a vim.lsp.start() of your own",
    })
  end
  return policy
end

---@param policy {enabled?: boolean, historyDays?: integer}
local function check_index(policy)
  vim.health.start('Index')
  if policy.enabled == nil then
    return vim.health.warn(
      'you have not agreed to indexing: nothing is read',
      { ':Sessions asks, :Sessions enable agrees' }
    )
  elseif not policy.enabled then
    return vim.health.warn('search is off', { ':Sessions enable turns it on' })
  end
  vim.health.ok(('search is on, for %s'):format(policy.historyDays and policy.historyDays .. ' days' or 'all history'))
  local err, now = ask('searchStatus')
  if err or not now then
    return vim.health.error('no status: ' .. (err and err.message or ''))
  end
  for _, line in ipairs(status.describe(now)) do
    vim.health.info(line)
  end
  if now.phase ~= 'indexing' and now.sessions == 0 then
    vim.health.warn('no session was found', {
      'sessionls doctor tells where each agent was looked for',
      'CLAUDE_CONFIG_DIR, CODEX_HOME and their like must be set for Neovim, too',
    })
  end
  if now.filesFailed > 0 then
    vim.health.warn(('%d transcripts could not be read'):format(now.filesFailed), { ':Sessions log tells why' })
  end
  if now.writer == 'other' then
    vim.health.info('another process keeps the index up to date')
  end
end

--- The hosts that can be searched. None but the one that is chosen is asked: it would mean to connect to them.
local function check_hosts()
  vim.health.start('Hosts')
  local done, err, known, warnings = false, nil, {}, {}
  require('sessionls.host_list').list(function(...)
    done = true
    err, known, warnings = ...
  end)
  vim.wait(patience, function()
    return done
  end, 10)
  if err or not done then
    vim.health.warn(err or 'the hosts cannot be listed: no answer', { 'sessionls hosts in a shell tells more' })
  end
  for _, warning in ipairs(warnings) do
    vim.health.warn(warning)
  end
  local from = { config = 'configuration file', ssh_config = '~/.ssh/config', typed = 'named here' }
  local others = 0
  for _, one in ipairs(known) do
    if hosts.of(one.host) then
      others = others + 1
      vim.health.info(('%s (%s)'):format(hosts.name(one.host), from[one.source] or 'known'))
    end
  end
  if others == 0 and not err and done then
    vim.health.info('no other host is configured; :Sessions host takes every name that ssh takes')
  end
  local current = hosts.of(hosts.current())
  if not current then
    return vim.health.ok('the sessions of this machine are searched')
  end
  local failure, now = ask('searchStatus', current)
  if failure or not now then
    vim.health.error(failure and failure.message or 'no answer', { ':Sessions host local searches this machine again' })
  elseif not now.enabled then
    vim.health.warn(hosts.unavailable('disabled', current))
  else
    vim.health.ok(('the sessions of %s are searched: %d'):format(hosts.name(current), now.sessions))
  end
end

--- Checks what usually goes wrong.
function M.check()
  check_neovim()
  check_options()
  if not check_program() then
    return
  end
  local policy = check_server()
  if policy then
    check_index(policy)
    check_hosts()
  end
end

return M
