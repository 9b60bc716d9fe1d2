--- Transcripts as Markdown, page by page, with the map from events to lines.
local hosts = require('sessionls.host')
local uri = require('sessionls.uri')

local M = {}

--- Events on a page, the most that the contract allows.
M.page_size = 2000

--- Where an event stands in a document: the first line and the one after the last, 0-based.
---@class sessionls.Span
---@field first integer
---@field last integer
---@field seq integer

---@class sessionls.Rendered
---@field session table the header
---@field markdown string
---@field lines {line: integer, endLine: integer, seq: integer}[] both ends inclusive
---@field nextSeq? integer
---@field truncated boolean

--- The lines of a page. Its last line break ends a line and begins none.
---@param rendered sessionls.Rendered
---@return string[]
function M.split(rendered)
  local lines = vim.split(rendered.markdown, '\n', { plain = true })
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  return lines
end

--- Where the events of a page stand in a document in which the page begins at a line.
---@param rendered sessionls.Rendered
---@param offset integer
---@return sessionls.Span[]
function M.spans(rendered, offset)
  local spans = {}
  for i, range in ipairs(rendered.lines) do
    spans[i] = { seq = range.seq, first = range.line + offset, last = range.endLine + 1 + offset }
  end
  return spans
end

--- Asks for the pages of a session from an event on, one after the other.
---@param session sessionls.Session
---@param from integer the first event
---@param on_page fun(page: sessionls.Rendered): boolean? false ends it
---@param on_end fun(err?: sessionls.Error)
---@return fun() cancel
function M.pages(session, from, on_page, on_end)
  local cancel
  local function ask(seq)
    cancel = hosts.ask(session.executionHostId, 'renderTranscript', {
      sessionId = session.sessionId,
      agent = session.agent,
      fromSeq = seq,
      limit = M.page_size,
    }, function(err, page)
      if err or not page then
        return on_end(err or { message = 'no answer' })
      elseif on_page(page) ~= false and page.nextSeq and page.nextSeq > seq then
        return ask(page.nextSeq)
      end
      on_end()
    end)
  end
  ask(from)
  return function()
    cancel()
  end
end

--- The span of an event, or of the last one before it that has lines.
---@param spans sessionls.Span[] by seq
---@param seq integer
---@return sessionls.Span?
function M.span(spans, seq)
  local low, high = 0, #spans -- spans[low].seq <= seq < spans[high + 1].seq
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if spans[middle].seq <= seq then
      low = middle
    else
      high = middle - 1
    end
  end
  return spans[low]
end

--- Finds the lines of the items' hits in their documents and calls back with them, by the place of the item, from 1.
--- What cannot be read is missing.
---@param items sessionls.Item[]
---@param callback fun(lines: table<integer, integer>)
function M.locate(items, callback)
  local found, left = {}, 1
  local function done()
    left = left - 1
    if left == 0 then
      callback(found)
    end
  end
  -- Hits of one session are found in one reading.
  local wanted = {} ---@type table<string, {session: sessionls.Session, seqs: table<integer, integer>, last: integer}>
  for i, item in ipairs(items) do
    local seq = item.evidence and item.evidence.seq
    if seq then
      local name = uri.of(item)
      wanted[name] = wanted[name] or { session = item, seqs = {}, last = 0 }
      wanted[name].seqs[i] = seq
      wanted[name].last = math.max(wanted[name].last, seq)
    end
  end
  for _, want in pairs(wanted) do
    left = left + 1
    local offset, spans = 0, {}
    M.pages(want.session, 0, function(page)
      vim.list_extend(spans, M.spans(page, offset))
      offset = offset + #M.split(page)
      return page.nextSeq ~= nil and page.nextSeq <= want.last
    end, function()
      for i, seq in pairs(want.seqs) do
        local span = M.span(spans, seq)
        found[i] = span and span.first + 1
      end
      done()
    end)
  end
  done()
end

return M
