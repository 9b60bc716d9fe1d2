--- What the server last told about itself, and the component for a status line.
local text = require('sessionls.text')

local M = {}

---@class sessionls.Status
---@field enabled boolean
---@field decided boolean
---@field phase 'closed'|'idle'|'degraded'|'current'|'indexing'
---@field filesIndexed integer
---@field filesDue integer
---@field filesFailed integer
---@field degradedRoots {root?: string, reason: string}[]
---@field generation integer
---@field identity string
---@field sessions integer
---@field events integer
---@field indexBytes integer
---@field progress? {bytesDone: integer, bytesTotal: integer, filesDone: integer, filesTotal: integer}
---@field agents {agent: string, label: string, roots?: string[], sessions: integer, events: integer, failed: integer}[]
---@field writer 'this'|'other'|'none'
---@field notices? string[]

---@type sessionls.Status?
local last

---@type table<fun(status?: sessionls.Status), true>
local listeners = {}

--- The last status that was told, nil when no server runs.
---@return sessionls.Status?
function M.get()
  return last
end

--- Whether an index is being built, or is about to be: what was told last may be from before the user agreed.
---@return boolean
function M.building()
  return last == nil or (last.phase ~= 'current' and last.phase ~= 'degraded')
end

--- Takes a new status, tells the listeners and fires `User SessionlsStatus`.
---@param status? sessionls.Status
function M.set(status)
  last = status
  for listener in pairs(listeners) do
    listener(status)
  end
  vim.api.nvim_exec_autocmds('User', { pattern = 'SessionlsStatus', modeline = false, data = status })
  vim.cmd.redrawstatus({ bang = true })
end

--- Calls the listener with every new status until the returned function is called.
---@param listener fun(status?: sessionls.Status)
---@return fun() stop
function M.subscribe(listener)
  listeners[listener] = true
  return function()
    listeners[listener] = nil
  end
end

--- Calls back after the index has changed: at most once in an interval, and once after the last change.
---@param interval fun(): integer milliseconds
---@param callback fun()
---@return fun() stop
function M.follow(interval, callback)
  local generation = last and last.generation
  local due, called = false, vim.uv.now()
  local stop
  local stopped = false
  stop = M.subscribe(function(now)
    if not now or now.generation == generation then
      return
    end
    generation = now.generation
    if due then
      return
    end
    due = true
    vim.defer_fn(function()
      due, called = false, vim.uv.now()
      if not stopped then
        callback()
      end
    end, math.max(called + interval() - vim.uv.now(), 0))
  end)
  return function()
    stopped = true
    stop()
  end
end

--- A status in a few cells: how many sessions there are, or how far indexing is; "" if that is not known.
---@param status? sessionls.Status
---@return string
local function figures(status)
  if not status or not status.enabled then
    return ''
  end
  if status.phase == 'indexing' then
    local progress = status.progress
    if progress and progress.filesTotal > 0 then
      return (' %d/%d'):format(progress.filesDone, progress.filesTotal)
    end
    return ' …'
  end
  return (status.phase == 'degraded' and ' %d !' or ' %d'):format(status.sessions)
end

--- The status in a few cells, with the host if another one is searched: "" while no server runs or search is off. Holds
--- no per cent sign, which a status line would interpret. Starts nothing and waits for nothing.
---@return string
function M.component()
  if not last then
    return ''
  end
  local hosts = require('sessionls.host')
  local host = hosts.of(hosts.current())
  if host then
    return ('sessions %s%s'):format(hosts.name(host):gsub('%%', '~'), figures(hosts.status(host)))
  end
  local told = figures(last)
  return told ~= '' and 'sessions' .. told or ''
end

---@param n integer bytes
---@return string
local function size(n)
  for _, unit in ipairs({ { 1e9, 'GB' }, { 1e6, 'MB' }, { 1e3, 'kB' } }) do
    if n >= unit[1] then
      return ('%.1f %s'):format(n / unit[1], unit[2])
    end
  end
  return n .. ' B'
end

--- A status as lines for people.
---@param status sessionls.Status
---@param host? string whose it is, nil for this machine
---@return string[]
function M.describe(status, host)
  if host then
    local hosts = require('sessionls.host')
    if not status.enabled then
      return { hosts.unavailable('disabled', host) }
    end
    return vim.list_extend({ hosts.name(host) .. ':' }, M.describe(status))
  end
  if not status.enabled then
    return {
      status.decided and 'Search is off. :Sessions enable turns it on.'
        or 'Search was not agreed to yet. :Sessions enable turns it on.',
    }
  end
  local lines = {
    ('%s, %s, index %s, generation %d'):format(
      text.count(status.sessions, 'session'),
      text.count(status.events, 'event'),
      size(status.indexBytes),
      status.generation
    ),
    ('%s: %d transcripts read, %d due, %d failed'):format(
      status.phase,
      status.filesIndexed,
      status.filesDue,
      status.filesFailed
    ),
  }
  local progress = status.progress
  if progress then
    lines[#lines + 1] = ('reading %s of %s'):format(size(progress.bytesDone), size(progress.bytesTotal))
  end
  for _, agent in ipairs(status.agents or {}) do
    if agent.sessions > 0 or agent.failed > 0 then
      lines[#lines + 1] = ('  %-22s %6d%s'):format(
        text.line(agent.label),
        agent.sessions,
        agent.failed > 0 and ('  %d failed'):format(agent.failed) or ''
      )
    end
  end
  for _, root in ipairs(status.degradedRoots or {}) do
    lines[#lines + 1] = ('! %s %s'):format(text.line(root.root or ''), text.line(root.reason))
  end
  for _, notice in ipairs(status.notices or {}) do
    lines[#lines + 1] = '! ' .. text.line(notice)
  end
  return lines
end

return M
