--- Finds the words of a hit again in the lines of a buffer, and colours them.
local highlight = require('sessionls.highlight')
local text = require('sessionls.text')

local M = {}

--- A place in a buffer: line and columns, 0-based, end exclusive.
---@alias sessionls.Match [integer, integer, integer]

--- Longer lines are not looked at past this, in bytes: they are no text that a person reads.
local line_limit = 20000

--- All places of terms in some lines of a buffer, in order. Letters of ASCII match in either case; others, whose other
--- case may have another length, as they are, or in a line without capitals.
---@param lines string[]
---@param terms string[] lower case, the longest first
---@param offset integer the number of the first line
---@return sessionls.Match[]
function M.find(lines, terms, offset)
  local found = {} ---@type sessionls.Match[]
  for i, line in ipairs(lines) do
    if #line > line_limit then
      line = line:sub(1, line_limit)
    end
    local lower = vim.fn.tolower(line)
    if #lower ~= #line then
      lower = line:lower()
    end
    local here = {} ---@type sessionls.Match[]
    for _, term in ipairs(terms) do
      local at = 1
      while true do
        local from, to = lower:find(term, at, true)
        if not from then
          break
        end
        here[#here + 1] = { offset + i - 1, from - 1, to }
        at = to + 1
      end
    end
    table.sort(here, function(a, b)
      if a[2] == b[2] then
        return a[3] > b[3]
      end
      return a[2] < b[2]
    end)
    local past = 0
    for _, match in ipairs(here) do
      if match[2] >= past then -- not inside a longer term
        found[#found + 1] = match
        past = match[3]
      end
    end
  end
  return found
end

--- Colours the terms in a range of lines of a buffer and returns where they are.
---@param bufnr integer
---@param terms string[]
---@param first integer 0-based
---@param last integer exclusive
---@return sessionls.Match[]
function M.mark(bufnr, terms, first, last)
  if #terms == 0 then
    return {}
  end
  local found = M.find(vim.api.nvim_buf_get_lines(bufnr, first, last, false), terms, first)
  for _, match in ipairs(found) do
    vim.api.nvim_buf_set_extmark(bufnr, highlight.namespace, match[1], match[2], {
      end_col = match[3],
      hl_group = 'SessionlsMatch',
      priority = 200,
    })
  end
  return found
end

--- The most lines of a note.
local note_lines = 4

--- Shows a snippet under a line whose event has it in a part that is not shown, such as the rest of a long output.
---@param bufnr integer
---@param line integer 0-based
---@param evidence {snippet: string, marks: [integer, integer][]}
---@param width integer cells
function M.note(bufnr, line, evidence, width)
  local lines = { { { '▸ ', 'SessionlsRole' } } }
  local room = width - 2
  for _, piece in ipairs(text.pieces(evidence.snippet, evidence.marks)) do
    local group = piece.marked and 'SessionlsMatch' or 'SessionlsSnippet'
    for gap, word in piece.text:gmatch('(%s*)(%S*)') do
      local cells = vim.api.nvim_strwidth(gap .. word)
      if cells > room and #lines < note_lines then
        lines[#lines + 1] = { { '  ' } }
        room, gap = width - 2, ''
      end
      if cells > 0 then
        room = room - cells
        table.insert(lines[#lines], { gap, 'SessionlsSnippet' })
        table.insert(lines[#lines], { word, group })
      end
    end
  end
  vim.api.nvim_buf_set_extmark(bufnr, highlight.namespace, line, 0, { virt_lines = lines })
end

return M
