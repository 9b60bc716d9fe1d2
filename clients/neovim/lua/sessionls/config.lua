--- Options: defaults, what the user set, and a check of it.
local M = {}

---@class sessionls.Keys
---@field open string|false
---@field split string|false
---@field vsplit string|false
---@field tab string|false
---@field resume string|false
---@field yank_command string|false
---@field yank_id string|false
---@field quickfix string|false
---@field search_in string|false
---@field lineage string|false
---@field host string|false
---@field toggle_scope string|false

---@class sessionls.PickerOptions
---@field width number part of the screen, 0.3 to 1
---@field height number part of the screen, 0.3 to 1
---@field border string|string[] as of |nvim_open_win()|
---@field preview boolean whether the built-in picker has a preview
---@field limit integer sessions on a page, 1 to 100

---@class sessionls.Options
---@field cmd string[] the server's command line
---@field enabled? boolean true: consent; false: never ask; nil: ask once
---@field picker 'auto'|'builtin'|'telescope'|'fzf-lua'|'snacks'|'mini'|'select'
---@field scope 'all'|'here' where :Sessions looks when it is not said
---@field host string whose sessions are searched: local, ssh:TARGET or runtime:ID
---@field workspace_symbols boolean whether sessions are workspace symbols
---@field attach boolean whether the server is attached to file buffers, which workspace symbols need
---@field picker_options sessionls.PickerOptions
---@field keys sessionls.Keys in the picker; false takes a key away
---@field terminal string how the terminal of a resumed session is opened, an Ex command

---@type sessionls.Options
local defaults = {
  cmd = { 'sessionls' },
  enabled = nil,
  picker = 'auto',
  scope = 'all',
  host = 'local',
  workspace_symbols = true,
  attach = true,
  picker_options = { width = 0.9, height = 0.85, border = 'rounded', preview = true, limit = 30 },
  keys = {
    open = '<CR>',
    split = '<C-s>',
    vsplit = '<C-v>',
    tab = '<C-t>',
    resume = '<C-g>',
    yank_command = '<C-y>',
    yank_id = '<C-k>',
    quickfix = '<C-q>',
    search_in = '<C-o>',
    lineage = '<C-l>',
    toggle_scope = '<C-a>',
    host = '<C-e>',
  },
  terminal = 'botright split',
}

local pickers = { 'auto', 'builtin', 'telescope', 'fzf-lua', 'snacks', 'mini', 'select' }

---@type sessionls.Options
local current = vim.deepcopy(defaults)

--- What is wrong with user's options, one sentence each.
---@param opts table
---@return string[]
local function check(opts)
  local problems = {}
  local function expect(ok, message)
    if not ok then
      problems[#problems + 1] = message
    end
  end
  -- vim.empty_dict and friends are told from the defaults by name, at the depth that has names.
  local function known(given, known_keys, where)
    for key in pairs(given) do
      expect(known_keys[key], ('there is no option %s%s'):format(where, tostring(key)))
    end
  end
  local names = vim.tbl_extend('force', { enabled = true }, defaults)
  known(opts, names, '')
  for _, group in ipairs({ 'keys', 'picker_options' }) do
    if opts[group] ~= nil then
      expect(type(opts[group]) == 'table', group .. ' is a table')
      known(type(opts[group]) == 'table' and opts[group] or {}, defaults[group], group .. '.')
    end
  end
  local cmd = opts.cmd
  expect(
    cmd == nil or type(cmd) == 'string' or (type(cmd) == 'table' and #cmd > 0 and type(cmd[1]) == 'string'),
    'cmd is a program or a list of a program and its arguments'
  )
  expect(opts.enabled == nil or type(opts.enabled) == 'boolean', 'enabled is true, false or nil')
  expect(
    opts.picker == nil or vim.tbl_contains(pickers, opts.picker),
    'picker is one of ' .. table.concat(pickers, ', ')
  )
  expect(opts.scope == nil or opts.scope == 'all' or opts.scope == 'here', 'scope is all or here')
  if opts.host ~= nil then
    local host = require('sessionls.host')
    expect(host.valid(opts.host), host.rule)
  end
  return problems
end

--- Takes the user's options over the defaults. What is wrong is reported once and left out.
---@param opts? table
---@return string[] problems
function M.set(opts)
  opts = opts or {}
  local problems = check(opts)
  current = vim.deepcopy(defaults)
  if #problems == 0 then
    current = vim.tbl_deep_extend('force', current, opts)
    if type(current.cmd) == 'string' then
      current.cmd = { current.cmd }
    end
  end
  M.problems = problems
  return problems
end

--- What was wrong with the options of the last setup.
---@type string[]
M.problems = {}

---@return sessionls.Options
function M.get()
  return current
end

return M
