--- What can be done with a session in a list. Every picker offers the same.
local M = {}

--- Closes the picker, and opens another one sooner or later.
---@alias sessionls.Switch fun(source: sessionls.Source, query: string, open: fun(source: sessionls.Source))

---@class sessionls.Action
---@field desc string
---@field short? string where there is little room
---@field run fun(item: sessionls.Item, items: sessionls.Item[], tell: fun(message: string))
---@field keeps_open? boolean the picker stays; tell is where it has room for a message
---@field switch? sessionls.Switch in place of run

---@param how string an Ex command that takes a name
---@return fun(item: sessionls.Item)
local function opener(how)
  return function(item)
    require('sessionls.transcript').open(item, how)
  end
end

---@param value string?
---@param what string
---@param tell fun(message: string)
local function yank(value, what, tell)
  if not value then
    return tell(('this session has no %s'):format(what))
  end
  vim.fn.setreg(vim.v.register, value)
  tell('yanked ' .. require('sessionls.text').line(value))
end

---@type table<string, sessionls.Action>
local actions = {
  open = { desc = 'open the transcript', short = 'open', run = opener('edit') },
  split = { desc = 'open in a split', run = opener('split') },
  vsplit = { desc = 'open in a vertical split', run = opener('vsplit') },
  tab = { desc = 'open in a tab', run = opener('tabedit') },
  resume = {
    desc = 'go on with the session in a terminal',
    short = 'resume',
    run = function(item)
      require('sessionls.resume').run(item)
    end,
  },
  yank_command = {
    desc = 'yank the command that resumes it',
    keeps_open = true,
    run = function(item, _, tell)
      require('sessionls.resume').command(item, function(command, why)
        if not command and why then
          return tell(why)
        end
        yank(command, 'resume command', tell)
      end)
    end,
  },
  yank_id = {
    desc = 'yank the session id',
    keeps_open = true,
    run = function(item, _, tell)
      yank(item.sessionId, 'session id', tell)
    end,
  },
  quickfix = {
    desc = 'all hits into the quickfix list',
    run = function(_, items)
      require('sessionls.quickfix').set(items)
    end,
  },
  search_in = {
    desc = 'search in this session',
    run = function(item)
      require('sessionls.picker').open(require('sessionls.source').events(item, item.query))
    end,
  },
  lineage = {
    desc = 'parents and children of the session',
    run = function(item)
      require('sessionls.lineage').show(item)
    end,
  },
  toggle_scope = {
    desc = 'this folder, or everywhere',
    short = 'here/all',
    run = function() end,
    switch = function(source, query, open)
      local other = source.toggled and source.toggled() or source
      other.query = query
      open(other)
    end,
  },
  host = {
    desc = 'whose sessions: this machine, or another host',
    short = 'host',
    run = function() end,
    switch = function(source, query, open)
      source.query = query
      if not source.on_host then
        require('sessionls').notify('what is listed here is of one host', vim.log.levels.WARN)
        return open(source)
      end
      local host = require('sessionls.host')
      require('sessionls.host_list').choose(source.host or host.here, function(name)
        if not name then
          return open(source)
        end
        host.set(name)
        local other = source.on_host(name)
        other.query = query
        -- This machine wants the user's consent first, which another host does not need.
        require('sessionls').enabled(function()
          open(other)
        end, name)
      end)
    end,
  },
}

--- An action by its name in the option "keys"; "open" for nil and for a name that is none.
---@param name? string
---@return sessionls.Action
function M.get(name)
  return actions[name or 'open'] or actions.open
end

--- Runs an action that a picker which is closed by now was asked for.
---@param name? string
---@param item? sessionls.Item
---@param items sessionls.Item[]
function M.run(name, item, items)
  if item then
    M.get(name).run(item, items, require('sessionls').notify)
  end
end

--- The names of all actions, sorted.
---@return string[]
function M.names()
  local names = vim.tbl_keys(actions)
  table.sort(names)
  return names
end

--- The keys that one has to know, for a border.
---@return string
function M.hint()
  local keys = require('sessionls.config').get().keys
  local parts = {}
  for _, name in ipairs({ 'open', 'resume', 'toggle_scope' }) do
    if keys[name] then
      parts[#parts + 1] = keys[name] .. ' ' .. actions[name].short
    end
  end
  parts[#parts + 1] = '<F1> keys'
  return ' ' .. table.concat(parts, '  ') .. ' '
end

--- The keys of the picker, a line each.
---@return string[]
function M.help()
  local keys = require('sessionls.config').get().keys
  local lines = {}
  for _, name in ipairs(M.names()) do
    if keys[name] then
      lines[#lines + 1] = ('%-8s %s'):format(keys[name], actions[name].desc)
    end
  end
  return lines
end

return M
