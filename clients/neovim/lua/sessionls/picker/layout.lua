--- Where the windows of the built-in picker go.
local M = {}

---@class sessionls.Rectangle
---@field row integer of the border's corner
---@field col integer
---@field width integer inside the border
---@field height integer

---@class sessionls.Layout
---@field prompt sessionls.Rectangle
---@field list sessionls.Rectangle
---@field preview? sessionls.Rectangle nil where there is no room for it

--- Prompt and list share a border: a line parts them.
M.top_border = { '╭', '─', '╮', '│', '', '', '', '│' }
M.bottom_border = { '├', '─', '┤', '│', '╯', '─', '╰', '│' }

--- The least that a list and a preview beside it need, in cells, and the least lines for one below it.
local list_least, preview_least, below_least = 50, 50, 22

--- The smallest screen that the picker makes sense on.
M.least_columns, M.least_lines = 30, 10

---@param columns integer of the screen
---@param lines integer of the screen, without the command line
---@param opts sessionls.PickerOptions
---@return sessionls.Layout
function M.compute(columns, lines, opts)
  local function part(of, share, least)
    return math.max(math.min(math.floor(of * share), of), math.min(least, of))
  end
  local width = part(columns, opts.width, 80)
  local height = part(lines, opts.height, 20)
  local row, col = math.floor((lines - height) / 2), math.floor((columns - width) / 2)
  local beside = opts.preview and width >= list_least + preview_least
  local below = opts.preview and not beside and height >= below_least
  local list_width = beside and math.max(list_least, math.floor(width * 0.48)) or width
  local list_height = below and math.floor(height * 0.5) or height
  ---@type sessionls.Layout
  local out = {
    -- Two lines of border and the prompt are above the list, one line of border below it.
    prompt = { row = row, col = col, width = list_width - 2, height = 1 },
    list = { row = row + 2, col = col, width = list_width - 2, height = math.max(list_height - 4, 1) },
  }
  if beside then
    out.preview = { row = row, col = col + list_width, width = width - list_width - 2, height = height - 2 }
  elseif below then
    out.preview = { row = row + list_height, col = col, width = width - 2, height = height - list_height - 2 }
  end
  return out
end

return M
