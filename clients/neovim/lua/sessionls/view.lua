--- Moves windows. Without :normal, which a key that is pressed meanwhile interrupts.
local M = {}

--- Puts the cursor of a window to a line, opens the folds over it, and shows it in the upper half.
---@param winid integer
---@param line integer from 1; the last line if there are fewer
---@param col? integer bytes from 0
function M.show(winid, line, col)
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(winid))
  line = math.max(math.min(line, last), 1)
  vim.api.nvim_win_set_cursor(winid, { line, col or 0 })
  vim.api.nvim_win_call(winid, function()
    M.open_fold()
    vim.fn.winrestview({ topline = math.max(line - math.floor(vim.api.nvim_win_get_height(winid) / 3), 1) })
  end)
end

--- Opens the folds over the cursor of the current window.
function M.open_fold()
  if vim.fn.foldclosed('.') ~= -1 then
    vim.cmd.foldopen({ bang = true })
  end
end

return M
