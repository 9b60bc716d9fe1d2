--- Where a picker's rows come from: a search over all sessions, over the events of one, or a fixed list.
local config = require('sessionls.config')
local hosts = require('sessionls.host')
local text = require('sessionls.text')

local M = {}

---@class sessionls.Evidence
---@field snippet string
---@field marks [integer, integer][] UTF-16 offsets
---@field role 'user'|'assistant'|'tool'|'system'|'unknown'
---@field timestamp? string
---@field seq? integer
---@field type string

--- A row: a hit of searchSessions, or what has its fields.
---@class sessionls.Item
---@field agent string
---@field sessionId string
---@field executionHostId? string
---@field title string
---@field cwd? string
---@field branch? string
---@field updatedAt? string
---@field messageCount? integer
---@field matchCount? integer
---@field relation? string
---@field active? boolean
---@field automated? boolean
---@field source? {presence: string, filePath?: string}
---@field evidence? sessionls.Evidence
---@field resumeCommand? string
---@field depth? integer how far to indent, in a lineage
---@field query? string what was searched for when it was found

---@class sessionls.Page
---@field items sessionls.Item[]
---@field cursor? string where the next page begins
---@field total integer
---@field exact boolean
---@field ms? number
---@field diagnostics? {start: integer, ["end"]: integer, message: string}[]
---@field stale? boolean the index has moved since the cursor was made

---@alias sessionls.Fetch fun(query: string, cursor?: string, callback: fun(err?: string, page?: sessionls.Page)): fun()

---@class sessionls.Source
---@field title string
---@field query string what the prompt begins with
---@field fetch sessionls.Fetch returns what cancels it
---@field default? string the action of <CR>, "open" unless said
---@field nothing? string said when there are no rows
---@field host? string whose sessions they are, nil for this machine
---@field toggled? fun(): sessionls.Source the same with the other scope
---@field on_host? fun(host: string): sessionls.Source the same on a host

--- A clause that holds for every session: without text and clauses a search finds nothing, with one it lists the
--- newest.
local every_session = { presence = { 'present', 'unverifiable', 'missing' } }

---@class sessionls.SearchOptions
---@field query? string
---@field scope? 'all'|'here'
---@field host? string this machine if not said
---@field filters? table as in the contract
---@field title? string
---@field default? string

--- The project of the current folder by its name, which is all that another machine may have in common with this one.
---@return string? name nil if the folder has none
local function project()
  local cwd = vim.fn.getcwd()
  local name = text.basename(vim.fs.root(cwd, '.git') or cwd):gsub('"', '')
  return name ~= '' and name or nil
end

--- Searches sessions.
---@param opts sessionls.SearchOptions
---@return sessionls.Source
function M.sessions(opts)
  local here = opts.scope == 'here'
  local host = hosts.of(opts.host)
  local filters = vim.tbl_extend('force', {}, opts.filters or {})
  local title = opts.title or 'Sessions'
  local operator = ''
  if host then
    title = title .. ' · ' .. hosts.name(host)
  end
  if here and host then
    local name = project()
    -- Before what is typed: an unclosed quote of that ends with it.
    operator = name and ('repo:"%s" '):format(name) or ''
    title = title .. ' · ' .. (name or 'here')
  elseif here then
    filters.scopePaths = { vim.fn.getcwd() }
    title = title .. ' · here'
  end
  local ahead = text.utf16_length(operator)
  return {
    title = title,
    query = opts.query or '',
    default = opts.default,
    host = host,
    toggled = function()
      return M.sessions(vim.tbl_extend('force', opts, { scope = here and 'all' or 'here' }))
    end,
    on_host = function(other)
      return M.sessions(vim.tbl_extend('force', opts, { host = other }))
    end,
    fetch = function(query, cursor, callback)
      local clauses = query:match('%S') and filters or vim.tbl_extend('force', every_session, filters)
      return hosts.ask(host, 'searchSessions', {
        query = operator .. query,
        cursor = cursor,
        limit = config.get().picker_options.limit,
        filters = next(clauses) and clauses or nil,
      }, function(err, answer)
        if err or not answer then
          return callback(err and err.message or 'no answer')
        elseif answer.kind == 'unavailable' then
          return callback(hosts.unavailable(answer.reason, host))
        elseif answer.kind ~= 'results' then
          return callback(nil, { items = {}, total = 0, exact = false, stale = true })
        end
        for _, hit in ipairs(answer.hits) do
          hit.query = query
        end
        for _, diagnostic in ipairs(answer.diagnostics or {}) do
          diagnostic.start = math.max(diagnostic.start - ahead, 0)
          diagnostic['end'] = math.max(diagnostic['end'] - ahead, 0)
        end
        callback(nil, {
          items = answer.hits,
          cursor = answer.page.cursor,
          total = answer.total.sessions,
          exact = answer.total.exact,
          ms = answer.durationMs,
          diagnostics = answer.diagnostics,
        })
      end)
    end,
  }
end

--- Searches the events of one session.
---@param item sessionls.Item
---@param query? string
---@return sessionls.Source
function M.events(item, query)
  local host = hosts.of(item.executionHostId)
  return {
    title = 'In: ' .. text.fit(text.line(item.title), 50) .. (host and ' · ' .. hosts.name(host) or ''),
    host = host,
    query = query or '',
    nothing = 'Nothing found in this session.',
    fetch = function(words, cursor, callback)
      return hosts.ask(host, 'searchEvents', {
        sessionId = item.sessionId,
        agent = item.agent,
        query = words,
        cursor = cursor,
        limit = config.get().picker_options.limit,
      }, function(err, answer)
        if err and err.data and err.data.code == 'SESSION_QUERY_STALE_CURSOR' then
          return callback(nil, { items = {}, total = 0, exact = false, stale = true })
        elseif err or not answer then
          return callback(err and err.message or 'no answer')
        end
        local items = {}
        for i, hit in ipairs(answer.hits) do
          items[i] = vim.tbl_extend('force', {}, item, {
            title = ('#%d %s'):format(hit.seq, hit.type),
            updatedAt = hit.time,
            matchCount = 1,
            query = words,
            evidence = {
              snippet = hit.snippet,
              marks = hit.marks,
              role = hit.role,
              timestamp = hit.time,
              seq = hit.seq,
              type = hit.type,
            },
          })
        end
        callback(nil, {
          items = items,
          cursor = answer.page.cursor,
          total = answer.total.events,
          exact = answer.total.exact,
        })
      end)
    end,
  }
end

--- A fixed list, narrowed by what is typed.
---@param title string
---@param items sessionls.Item[]
---@param host? string whose sessions they are
---@return sessionls.Source
function M.list(title, items, host)
  host = hosts.of(host)
  return {
    title = host and title .. ' · ' .. hosts.name(host) or title,
    host = host,
    query = '',
    fetch = function(query, _, callback)
      local words = vim.fn.tolower(vim.trim(query))
      local found = vim.tbl_filter(function(item)
        return words == '' or vim.fn.tolower(item.title .. ' ' .. item.agent):find(words, 1, true) ~= nil
      end, items)
      callback(nil, { items = found, total = #found, exact = true })
      return function() end
    end,
  }
end

return M
