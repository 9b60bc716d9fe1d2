--- The transcript around a hit, in somebody's preview window.
local client = require('sessionls.client')
local format = require('sessionls.format')
local highlight = require('sessionls.highlight')
local hosts = require('sessionls.host')
local rendered = require('sessionls.lines')
local matches = require('sessionls.matches')
local text = require('sessionls.text')
local view = require('sessionls.view')

local M = {}

--- How many events before and after the hit are shown.
local before, count = 6, 40

---@class sessionls.Preview
---@field private cancel? fun()
---@field private shown? string what is in the buffer
local Preview = {}
Preview.__index = Preview

---@return sessionls.Preview
function M.new()
  return setmetatable({}, Preview)
end

--- What is known without asking: the facts and the snippet.
---@param item sessionls.Item
---@return string[]
function M.card(item)
  local lines = { '# ' .. text.line(item.title), '' }
  local function fact(name, value)
    if value and value ~= '' then
      lines[#lines + 1] = ('- **%s** %s'):format(name, text.line(value))
    end
  end
  fact('host', hosts.of(item.executionHostId))
  fact('agent', item.agent)
  fact('folder', item.cwd)
  fact('branch', item.branch)
  fact('updated', item.updatedAt)
  fact('has', format.facts(item))
  fact('id', item.sessionId)
  fact('resume', item.resumeCommand and '`' .. item.resumeCommand .. '`')
  local evidence = item.evidence
  if evidence then
    vim.list_extend(lines, { '', ('## %s'):format(format.speaker(evidence)), '' })
    local plain = {}
    for i, piece in ipairs(text.pieces(evidence.snippet, evidence.marks)) do
      plain[i] = piece.text
    end
    lines[#lines + 1] = table.concat(plain)
  end
  return lines
end

---@param bufnr integer
---@param lines string[]
local function fill(bufnr, lines)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.api.nvim_buf_clear_namespace(bufnr, highlight.namespace, 0, -1)
  -- Without a file type, so that no plugin takes it for a file.
  pcall(vim.treesitter.start, bufnr, 'markdown')
end

--- Cancels what is under way.
function Preview:stop()
  if self.cancel then
    self.cancel()
    self.cancel = nil
  end
end

--- Shows an item, or nothing. What is shown stays until the new text is there.
---@param item? sessionls.Item
---@param bufnr integer
---@param winid integer
function Preview:show(item, bufnr, winid)
  self:stop()
  local evidence = item and item.evidence
  local seq = evidence and evidence.seq or nil
  local host = item and item.executionHostId or hosts.here
  local key = item and table.concat({ bufnr, host, item.agent, item.sessionId, tostring(seq), item.query or '' }, '\n')
    or ''
  if key == self.shown then
    return
  end
  ---@param lines string[]
  ---@param at integer the line of the hit, from 1
  local function put(lines, at, first, last)
    if not (vim.api.nvim_buf_is_valid(bufnr) and vim.api.nvim_win_is_valid(winid)) then
      return
    end
    self.shown = key
    fill(bufnr, lines)
    if evidence then
      local terms = text.terms(evidence.snippet, evidence.marks)
      local found = matches.mark(bufnr, terms, first or 0, last or #lines)
      if found[1] then
        at = found[1][1] + 1
      elseif first then
        matches.note(bufnr, first, evidence, vim.api.nvim_win_get_width(winid))
      end
    end
    view.show(winid, at)
  end
  if not item then
    return put({ '' }, 1)
  elseif not client.supports('renderTranscript') then
    return put(M.card(item), 1)
  end
  local from = math.max((seq or 0) - before, 0)
  self.cancel = hosts.ask(host, 'renderTranscript', {
    sessionId = item.sessionId,
    agent = item.agent,
    fromSeq = from,
    limit = count,
  }, function(err, answer)
    self.cancel = nil
    if err or not answer then
      local lines = M.card(item)
      vim.list_extend(lines, { '', '> ' .. text.line(err and err.message or 'no answer') })
      return put(lines, 1)
    end
    local span = seq and rendered.span(rendered.spans(answer, 0), seq)
    put(rendered.split(answer), span and span.first + 1 or 1, span and span.first, span and span.last)
  end)
end

return M
