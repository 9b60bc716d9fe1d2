--- A real terminal with Neovim in it: tmux on a socket of its own.
local M = {}

---@class test.Terminal
---@field private socket string
---@field private t table the harness
local Terminal = {}
Terminal.__index = Terminal

local count = 0

--- Opens a terminal with a program in it.
---@param t table the harness
---@param size {columns: integer, lines: integer}
---@param command string[]
---@return test.Terminal
function M.open(t, size, command)
  count = count + 1
  local self = setmetatable({ socket = ('sessionls-%d-%d'):format(vim.fn.getpid(), count), t = t }, Terminal)
  local words = { 'env', 'TERM=tmux-256color', 'COLORTERM=truecolor', unpack(command) }
  for i, word in ipairs(words) do
    words[i] = vim.fn.shellescape(word)
  end
  local start = { '-f', '/dev/null', 'new-session', '-d', '-x', tostring(size.columns), '-y', tostring(size.lines) }
  start[#start + 1] = table.concat(words, ' ')
  self:tmux(start)
  return self
end

---@private
---@param args string[]
---@return string
function Terminal:tmux(args)
  local ran = vim.system({ 'tmux', '-L', self.socket, unpack(args) }, { text = true }):wait()
  if ran.code ~= 0 then
    error('tmux: ' .. ran.stderr, 2)
  end
  return ran.stdout
end

--- What is on the screen; with colours as control sequences if asked for.
---@param colours? boolean
---@return string
function Terminal:screen(colours)
  return self:tmux({ 'capture-pane', '-p', colours and '-e' or nil })
end

--- Presses keys, by tmux's names, or types text.
---@param ... string
function Terminal:keys(...)
  self:tmux({ 'send-keys', ... })
end

--- Waits until the screen holds all strings, and returns it.
---@param ... string
---@return string
function Terminal:wait(...)
  local screen
  local wanted = { ... }
  local ok = vim.wait(self.t.patience, function()
    screen = self:screen()
    for _, part in ipairs(wanted) do
      if not screen:find(part, 1, true) then
        return false
      end
    end
    return true
  end, 50)
  if not ok then
    error(('never on the screen: %s\n%s'):format(table.concat(wanted, ' and '), screen), 2)
  end
  return screen
end

--- Waits until the screen no longer holds a string.
---@param part string
function Terminal:gone(part)
  local screen
  if
    not vim.wait(self.t.patience, function()
      screen = self:screen()
      return not screen:find(part, 1, true)
    end, 50)
  then
    error(('still on the screen: %s\n%s'):format(part, screen), 2)
  end
end

--- Presses <C-c> until the screen no longer holds a string. Where Neovim is at work, <C-c> interrupts that instead of
--- being a key.
---@param part string
function Terminal:dismiss(part)
  for _ = 1, 20 do
    self:keys('C-c')
    local gone = vim.wait(1000, function()
      return not self:screen():find(part, 1, true)
    end, 50)
    if gone then
      return
    end
  end
  self:gone(part)
end

function Terminal:close()
  pcall(self.tmux, self, { 'kill-server' })
end

--- Runs a function with a program in a terminal, and closes that whatever happens.
---@param t table
---@param size {columns: integer, lines: integer}
---@param command string[]
---@param run fun(terminal: test.Terminal)
function M.run(t, size, command, run)
  local terminal = M.open(t, size, command)
  local ok, err = xpcall(run, debug.traceback, terminal)
  terminal:close()
  if not ok then
    error(err, 0)
  end
end

--- The same with this Neovim and the plugin.
---@param t table
---@param size {columns: integer, lines: integer}
---@param args string[] of Neovim
---@param run fun(terminal: test.Terminal)
function M.with(t, size, args, run)
  local command = { vim.v.progpath, '--clean', '--cmd', 'set noswapfile runtimepath^=' .. t.root, unpack(args) }
  M.run(t, size, command, run)
end

return M
