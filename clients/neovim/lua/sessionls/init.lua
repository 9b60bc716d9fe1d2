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

--- Calls back once the server runs and the user has agreed; else tells why not. Another host has a consent of its own,
--- and tells so itself.
---@param callback fun()
---@param host? string whose sessions are asked for
function M.enabled(callback, host)
  if require('sessionls.host').of(host) then
    return require('sessionls.client').ready(function(err)
      if err then
        return M.notify(err.message, vim.log.levels.ERROR)
      end
      callback()
    end)
  end
  require('sessionls.consent').ensure(function(agreed, why)
    if agreed then
      return callback()
    end
    M.notify(why or 'search is off', vim.log.levels.WARN)
  end)
end

--- Calls back with what a picker of sessions shows, once that can be searched; else tells why not.
---@param opts? sessionls.SearchOptions
---@param callback fun(source: sessionls.Source)
function M.source(opts, callback)
  local host = require('sessionls.host')
  local search = vim.tbl_extend('keep', opts or {}, {
    scope = require('sessionls.config').get().scope,
    host = host.current(),
  })
  if not host.valid(search.host) then
    return M.notify(host.rule, vim.log.levels.ERROR)
  end
  M.enabled(function()
    callback(require('sessionls.source').sessions(search))
  end, search.host)
end

--- Opens a picker of sessions.
---@param opts? sessionls.SearchOptions
function M.sessions(opts)
  M.source(opts, function(source)
    require('sessionls.picker').open(source)
  end)
end

--- The host whose sessions are searched in this Neovim; with a name, another one from now on.
---@param name? string local, ssh:TARGET or runtime:ID
---@return string
function M.host(name)
  local host = require('sessionls.host')
  if name ~= nil then
    if not host.valid(name) then
      error('sessionls: ' .. host.rule, 2)
    end
    host.set(name)
  end
  return host.current()
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
