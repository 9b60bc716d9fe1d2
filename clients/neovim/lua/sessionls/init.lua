--- Search the sessions of coding agents. See |sessionls.txt|.
---
--- Nothing of this is loaded before the first command, and no server runs before it is needed.
local M = {}

--- Takes options; not needed to use the plugin. See |sessionls-options|.
---@param opts? sessionls.Options|{} any part of them
function M.setup(opts)
  local problems = require('sessionls.config').set(opts)
  if #problems > 0 then
    M.notify('setup: ' .. table.concat(problems, '; '), vim.log.levels.ERROR)
  end
end

--- Tells the user something, after the redraw that closes a picker.
---@param message string
---@param level? integer
function M.notify(message, level)
  vim.schedule(function()
    vim.notify('sessionls: ' .. message, level or vim.log.levels.INFO)
  end)
end

--- Calls back once the server runs and the user has agreed; else tells why not.
---@param callback fun()
function M.enabled(callback)
  require('sessionls.consent').ensure(function(agreed, why)
    if agreed then
      return callback()
    end
    M.notify(why or 'search is off', vim.log.levels.WARN)
  end)
end

--- Opens a picker of sessions.
---@param opts? sessionls.SearchOptions
function M.sessions(opts)
  local search = vim.tbl_extend('keep', opts or {}, { scope = require('sessionls.config').get().scope })
  M.enabled(function()
    require('sessionls.picker').open(require('sessionls.source').sessions(search))
  end)
end

--- Asks the server: any command of the contract, without its prefix. Returns a function that cancels.
---@param command string
---@param args? table
---@param callback fun(err?: sessionls.Error, result?: table)
---@return fun() cancel
function M.execute(command, args, callback)
  return require('sessionls.client').execute(command, args, callback)
end

--- For a status line: how many sessions there are, or how far indexing is; "" while no server runs.
---@return string
function M.statusline()
  local status = package.loaded['sessionls.status']
  return status and status.component() or ''
end

return M
