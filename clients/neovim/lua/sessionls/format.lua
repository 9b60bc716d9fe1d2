--- Rows of a list: what to show of a session, in which colours.
local text = require('sessionls.text')

local M = {}

--- A stretch of text with its highlight group, as in virtual text.
---@alias sessionls.Chunk [string, string?]

---@param item sessionls.Item
---@return string
function M.title(item)
  return text.line(item.title)
end

--- The host of a session that is not of this machine, in a few cells: "@" and what ssh or the configuration calls it.
---@param item sessionls.Item
---@param width integer
---@return sessionls.Chunk[]
function M.host(item, width)
  local host = require('sessionls.host').of(item.executionHostId)
  return host and { { text.fit('@' .. text.line(host:gsub('^%l+:', '')), width - 1) .. ' ', 'SessionlsHost' } } or {}
end

--- Host, agent, project, age: what stands to the right of a title.
---@param item sessionls.Item
---@param now? integer
---@return sessionls.Chunk[]
function M.origin(item, now)
  local chunks = {} ---@type sessionls.Chunk[]
  if item.active then
    chunks[#chunks + 1] = { '● ', 'SessionlsActive' }
  end
  vim.list_extend(chunks, M.host(item, 16))
  chunks[#chunks + 1] = { text.line(item.agent), 'SessionlsAgent' }
  local project = text.basename(item.cwd)
  if project ~= '' then
    chunks[#chunks + 1] = { ' ' .. text.fit(project, 20), 'SessionlsProject' }
  end
  chunks[#chunks + 1] = { (' %3s'):format(text.age(item.updatedAt, now)), 'SessionlsMeta' }
  return chunks
end

--- The line of facts about a session that was not found by its text.
---@param item sessionls.Item
---@return string
function M.facts(item)
  local facts = {}
  local function add(fact)
    if fact and fact ~= '' then
      facts[#facts + 1] = fact
    end
  end
  add(item.messageCount and text.count(item.messageCount, 'message'))
  add(item.branch and text.line(item.branch))
  add(item.relation ~= 'root' and item.relation or nil)
  add(item.automated and 'automated' or nil)
  local presence = item.source and item.source.presence
  add(presence == 'missing' and 'transcript deleted' or presence == 'unverifiable' and 'not found now' or nil)
  return table.concat(facts, ' · ')
end

local roles = { user = 'user', assistant = 'assistant', tool = 'tool', system = 'system' }
local places = { ['session/title'] = 'title', ['session/branch'] = 'branch', ['session/cwd'] = 'project' }

--- Who said what was found, or where it stands.
---@param evidence sessionls.Evidence
---@return string
function M.speaker(evidence)
  return places[evidence.type] or roles[evidence.role] or text.line(evidence.type)
end

--- The pieces of a snippet as chunks.
---@param evidence sessionls.Evidence
---@param group string for what is not marked
---@return sessionls.Chunk[]
local function chunks_of(evidence, group)
  local chunks = {} ---@type sessionls.Chunk[]
  for i, piece in ipairs(text.pieces(evidence.snippet, evidence.marks)) do
    chunks[i] = { piece.text, piece.marked and 'SessionlsMatch' or group }
  end
  return chunks
end

--- Leaves out as much of the beginning as it takes to have the first mark in view.
---@param chunks sessionls.Chunk[]
---@param width integer cells
local function show_mark(chunks, width)
  local first = chunks[1]
  if not chunks[2] or first[2] == 'SessionlsMatch' then
    return
  end
  local mark = vim.api.nvim_strwidth(chunks[2][1])
  local room = math.max(width - mark - 8, math.floor(width / 3), 4)
  local length = vim.fn.strchars(first[1])
  if vim.api.nvim_strwidth(first[1]) > room then
    local tail = vim.fn.strcharpart(first[1], math.max(length - math.floor(room / 2), 0))
    -- From the beginning of a word, if there is one.
    chunks[1] = { '…' .. (tail:match('^%S*%s+(.+)$') or tail), first[2] }
  end
end

--- The evidence of a hit, marks in their colour, the first one in view; the facts if the title is the evidence.
---@param item sessionls.Item
---@param width? integer cells that can be seen
---@return sessionls.Chunk[]
function M.snippet(item, width)
  local evidence = item.evidence
  local matches = (item.matchCount or 0) > 1 and ('×%d '):format(item.matchCount) or ''
  if not evidence or evidence.type == 'session/title' then
    return { { matches .. M.facts(item), 'SessionlsMeta' } }
  end
  ---@type sessionls.Chunk[]
  local head = { { M.speaker(evidence) .. ' ', 'SessionlsRole' }, { matches, 'SessionlsMeta' } }
  local chunks = chunks_of(evidence, 'SessionlsSnippet')
  if width then
    show_mark(chunks, width - vim.api.nvim_strwidth(M.plain(head)))
  end
  return vim.list_extend(head, chunks)
end

--- The text of chunks.
---@param chunks sessionls.Chunk[]
---@return string
function M.plain(chunks)
  local parts = {}
  for i, chunk in ipairs(chunks) do
    parts[i] = chunk[1]
  end
  return table.concat(parts)
end

--- The highlights of chunks that stand at a byte offset of a line: {from, to, group}, 0-based, end exclusive.
---@param chunks sessionls.Chunk[]
---@param offset integer
---@return [integer, integer, string][]
function M.spans(chunks, offset)
  local spans = {}
  for _, chunk in ipairs(chunks) do
    local to = offset + #chunk[1]
    if chunk[2] and to > offset then
      spans[#spans + 1] = { offset, to, chunk[2] }
    end
    offset = to
  end
  return spans
end

--- The title, with its marks if it is what was found.
---@param item sessionls.Item
---@param width integer cells
---@return sessionls.Chunk[]
function M.title_chunks(item, width)
  local title = text.fit(M.title(item), width)
  if item.evidence and item.evidence.type == 'session/title' then
    local chunks = chunks_of(item.evidence, 'SessionlsTitle')
    if M.plain(chunks) == title then
      return chunks
    end
  end
  return { { title, 'SessionlsTitle' } }
end

--- A line of a list and its highlights.
---@class sessionls.Line
---@field text string
---@field spans [integer, integer, string][]

--- The narrowest room for a title beside its origin.
local least_title = 12

--- The two lines of a row in a list of the given width: what and whose it is, and what was found.
---@param item sessionls.Item
---@param width integer cells
---@param now? integer
---@return sessionls.Line, sessionls.Line
function M.row(item, width, now)
  local indent = ('  '):rep(1 + (item.depth or 0))
  local inside = width - #indent - 1
  local origin = M.origin(item, now)
  local room = inside - vim.api.nvim_strwidth(M.plain(origin)) - 1
  if room < least_title then
    origin, room = {}, inside
  end
  local title = M.title_chunks(item, room)
  local gap = inside - vim.api.nvim_strwidth(M.plain(title)) - vim.api.nvim_strwidth(M.plain(origin))
  local chunks = vim.list_extend(title, { { (' '):rep(gap) } })
  vim.list_extend(chunks, origin)
  local snippet = M.snippet(item, inside - 2)
  return { text = indent .. M.plain(chunks), spans = M.spans(chunks, #indent) }, {
    text = indent .. '  ' .. M.plain(snippet),
    spans = M.spans(snippet, #indent + 2),
  }
end

--- One line without colours, for lists that have only that: vim.ui.select() and quickfix.
---@param item sessionls.Item
---@return string
function M.flat(item)
  local indent = ('  '):rep(item.depth or 0)
  return ('%s%s  [%s]  %s'):format(indent, M.title(item), vim.trim(M.plain(M.origin(item))), M.plain(M.snippet(item)))
end

return M
