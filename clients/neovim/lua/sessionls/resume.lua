--- Going on with a session where its agent runs: in a terminal.
local client = require('sessionls.client')
local config = require('sessionls.config')
local hosts = require('sessionls.host')
local text = require('sessionls.text')

local M = {}

---@param message string
---@param level? integer
local function notify(message, level)
  require('sessionls').notify(message, level)
end

---@class sessionls.ResumePlan
---@field argv? string[]
---@field command? string for a POSIX shell
---@field cwd? string
---@field checks {binary?: boolean, directory?: boolean, transcript?: boolean}
---@field warnings {code: string, message: string}[]

--- How to resume a session. A server that has no plans tells the command with a hit.
---@param item sessionls.Item
---@param callback fun(err?: string, plan?: sessionls.ResumePlan)
local function plan(item, callback)
  client.ready(function(failure)
    if failure then
      return callback(failure.message)
    elseif not client.supports('resumePlan') then
      local command = item.resumeCommand
      return callback(nil, {
        argv = command and { 'sh', '-c', command } or nil,
        command = command,
        cwd = item.cwd,
        checks = {},
        warnings = {},
      })
    end
    local request = { sessionId = item.sessionId, agent = item.agent }
    hosts.ask_waiting(item.executionHostId, 'resumePlan', request, function(err, answer)
      callback(err and err.message, answer)
    end)
  end)
end

--- Calls back with the command that resumes a session, nil if there is none.
---@param item sessionls.Item
---@param callback fun(command?: string, why?: string) why there is none
function M.command(item, callback)
  plan(item, function(err, answer)
    if err then
      notify(err, vim.log.levels.ERROR)
    end
    callback(answer and answer.command, answer and answer.warnings[1] and text.line(answer.warnings[1].message))
  end)
end

--- Tells that there is no command to run here, and offers what can be taken along: the command if there is one for
--- elsewhere, else the id.
---@param found sessionls.ResumePlan
---@param item sessionls.Item
local function offer(found, item)
  local why = found.warnings[1] and text.line(found.warnings[1].message)
  why = why or ('%s sessions cannot be resumed from a terminal'):format(item.agent)
  if not hosts.of(item.executionHostId) then
    return notify(why, vim.log.levels.WARN)
  end
  local what = found.command and 'Copy the command' or 'Copy the session id'
  local prompt = ('sessionls: %s (%s).'):format(why, hosts.name(item.executionHostId))
  vim.ui.select({ what, 'Cancel' }, { prompt = prompt }, function(_, choice)
    if choice == 1 then
      local value = found.command or item.sessionId
      vim.fn.setreg(vim.v.register, value)
      notify('copied ' .. text.line(value))
    end
  end)
end

---@param found sessionls.ResumePlan
---@param item sessionls.Item
local function open_terminal(found, item)
  local cwd = found.cwd and vim.fn.isdirectory(found.cwd) == 1 and found.cwd or nil
  vim.cmd(config.get().terminal)
  vim.cmd.enew()
  local bufnr = vim.api.nvim_get_current_buf()
  local job
  if vim.fn.has('nvim-0.11') == 1 then
    job = vim.fn.jobstart(found.argv, { term = true, cwd = cwd })
  else
    job = vim.fn.termopen(found.argv, cwd and { cwd = cwd } or vim.empty_dict())
  end
  if job <= 0 then
    vim.api.nvim_buf_delete(bufnr, { force = true })
    return notify(('%s cannot be run'):format(text.line(found.argv[1])), vim.log.levels.ERROR)
  end
  vim.b[bufnr].sessionls_session = item.sessionId
  vim.cmd.startinsert()
end

--- Resumes a session in a terminal, in its folder. Asks first if something is not as it was.
---@param item sessionls.Item
function M.run(item)
  plan(item, function(err, found)
    if err or not found then
      return notify(err or 'no answer', vim.log.levels.ERROR)
    elseif not found.argv then
      return offer(found, item)
    end
    local doubts = {}
    for _, warning in ipairs(found.warnings) do
      doubts[#doubts + 1] = text.line(warning.message)
    end
    if #doubts == 0 and found.checks.binary == false then
      doubts[1] = ('%s is not on the PATH'):format(found.argv[1])
    end
    if #doubts == 0 then
      return open_terminal(found, item)
    end
    local prompt = ('sessionls: %s. Resume all the same?'):format(table.concat(doubts, '; '))
    vim.ui.select({ 'Resume', 'Cancel' }, { prompt = prompt }, function(_, choice)
      if choice == 1 then
        open_terminal(found, item)
      end
    end)
  end)
end

return M
