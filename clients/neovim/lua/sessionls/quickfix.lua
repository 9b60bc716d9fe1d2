--- The hits of a picker as a quickfix list.
local client = require('sessionls.client')
local format = require('sessionls.format')
local uri = require('sessionls.uri')

local M = {}

--- Fills the list and opens it.
---@param entries table[]
---@param title string
local function fill(entries, title)
  vim.fn.setqflist({}, ' ', { title = title, items = entries })
  vim.cmd.copen({ mods = { split = 'botright' } })
end

--- Puts items into the quickfix list, each at the line of its hit in the transcript.
---@param items sessionls.Item[]
function M.set(items)
  local entries = {}
  local query = items[1] and items[1].query or ''
  for i, item in ipairs(items) do
    entries[i] = {
      filename = uri.of(item),
      lnum = 1,
      text = format.title(item) .. ': ' .. format.plain(format.snippet(item)),
      user_data = { sessionls = { seq = item.evidence and item.evidence.seq } },
    }
  end
  local title = 'Sessions ' .. query
  if not client.supports('renderTranscript') then
    return fill(entries, title)
  end
  require('sessionls.lines').locate(items, function(lines)
    for i, line in pairs(lines) do
      entries[i].lnum = line
    end
    fill(entries, title)
  end)
end

return M
