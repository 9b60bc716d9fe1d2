--- Chooses the picker: the user's, else the first one that is installed, else the built-in one.
local config = require('sessionls.config')

local M = {}

--- The pickers of other plugins, in the order in which they are looked for, and what tells that they are there.
local adapters = {
  { name = 'telescope', module = 'telescope', adapter = 'sessionls.picker.telescope' },
  { name = 'fzf-lua', module = 'fzf-lua', adapter = 'sessionls.picker.fzf_lua' },
  { name = 'snacks', module = 'snacks.picker', adapter = 'sessionls.picker.snacks' },
  { name = 'mini', module = 'mini.pick', adapter = 'sessionls.picker.mini' },
}

---@return boolean
local function room_for_floats()
  local layout = require('sessionls.picker.layout')
  return vim.o.columns >= layout.least_columns and vim.o.lines >= layout.least_lines
end

--- The picker to use: the name of the option that stands for it, and its module.
---@return string name, string module
function M.choose()
  local wish = config.get().picker
  for _, adapter in ipairs(adapters) do
    if (wish == 'auto' or wish == adapter.name) and pcall(require, adapter.module) then
      return adapter.name, adapter.adapter
    end
  end
  if wish == 'select' or not room_for_floats() then
    return 'select', 'sessionls.picker.select'
  end
  return 'builtin', 'sessionls.picker.builtin'
end

--- Opens a picker.
---@param source sessionls.Source
function M.open(source)
  local _, module = M.choose()
  require(module).open(source)
end

return M
