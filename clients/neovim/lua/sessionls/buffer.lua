--- Lines of buffers that nobody else may change.
local M = {}

---@type fun()?
local change

--- For replace() only.
function M.run()
  change()
end

--- Replaces the lines from one on, 0-based, to the end. Marks and quickfix entries stay at their lines: they were made
--- for the text that comes, not for the one that goes.
---@param bufnr integer
---@param first integer
---@param lines string[]
function M.replace(bufnr, first, lines)
  vim.bo[bufnr].modifiable = true
  vim.bo[bufnr].readonly = false
  change = function()
    vim.api.nvim_buf_set_lines(bufnr, first, -1, false, lines)
  end
  vim.api.nvim_cmd({ cmd = 'lua', args = { "require('sessionls.buffer').run()" }, mods = { lockmarks = true } }, {})
  change = nil
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].readonly = true
  vim.bo[bufnr].modified = false
end

return M
