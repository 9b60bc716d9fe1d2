--- Where a picker's rows come from: a search over all sessions, over the events of one, or a fixed list.
local client = require('sessionls.client')
local config = require('sessionls.config')

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
---@field toggled? fun(): sessionls.Source the same with the other scope

local unavailable = {
  disabled = 'search is off; :Sessions enable turns it on',
  ['not-ready'] = 'the index cannot be opened; :Sessions log tells why',
  ['no-service'] = 'there is no search on that host',
}

--- A clause that holds for every session: without text and clauses a search finds nothing, with one it lists the
--- newest.
local every_session = { presence = { 'present', 'unverifiable', 'missing' } }

---@class sessionls.SearchOptions
---@field query? string
---@field scope? 'all'|'here'
---@field filters? table as in the contract
---@field title? string
---@field default? string

--- Searches sessions.
---@param opts sessionls.SearchOptions
---@return sessionls.Source
function M.sessions(opts)
  local here = opts.scope == 'here'
  local filters = vim.tbl_extend('force', {}, opts.filters or {})
  if here then
    filters.scopePaths = { vim.fn.getcwd() }
  end
  local title = opts.title or 'Sessions'
  return {
    title = here and title .. ' · here' or title,
    query = opts.query or '',
    default = opts.default,
    toggled = function()
      return M.sessions(vim.tbl_extend('force', opts, { scope = here and 'all' or 'here' }))
    end,
    fetch = function(query, cursor, callback)
      local clauses = query:match('%S') and filters or vim.tbl_extend('force', every_session, filters)
      return client.execute('searchSessions', {
        query = query,
        cursor = cursor,
        limit = config.get().picker_options.limit,
        filters = next(clauses) and clauses or nil,
      }, function(err, answer)
        if err or not answer then
          return callback(err and err.message or 'no answer')
        elseif answer.kind == 'unavailable' then
          return callback(unavailable[answer.reason] or ('search is not available: ' .. tostring(answer.reason)))
        elseif answer.kind ~= 'results' then
          return callback(nil, { items = {}, total = 0, exact = false, stale = true })
        end
        for _, hit in ipairs(answer.hits) do
          hit.query = query
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
  return {
    title = 'In: ' .. require('sessionls.text').fit(require('sessionls.text').line(item.title), 50),
    query = query or '',
    nothing = 'Nothing found in this session.',
    fetch = function(words, cursor, callback)
      return client.execute('searchEvents', {
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
---@return sessionls.Source
function M.list(title, items)
  return {
    title = title,
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
