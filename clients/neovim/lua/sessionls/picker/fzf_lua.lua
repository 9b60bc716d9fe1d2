--- Sessions in fzf-lua.
local adapter = require('sessionls.picker.adapter')
local highlight = require('sessionls.highlight')
local live = require('sessionls.live')
local preview = require('sessionls.preview')

local M = {}

--- A key as fzf names it, nil if it has no name for it.
---@param key string such as <C-g>
---@return string?
function M.fzf_key(key)
  local modifier, letter = key:lower():match('^<([cam])%-(%w)>$')
  if modifier then
    return (modifier == 'c' and 'ctrl-' or 'alt-') .. letter
  end
  return key:lower():match('^<(f%d+)>$')
end

--- Colours as fzf shows them; of the groups themselves, whatever the colour scheme.
---@param chunks sessionls.Chunk[]
---@return string
local function ansi(chunks)
  local parts = {}
  for i, chunk in ipairs(chunks) do
    local colour = chunk[2] and vim.api.nvim_get_hl(0, { name = chunk[2], link = false }).fg
    if chunk[2] == 'SessionlsMatch' then
      parts[i] = ('\27[7m%s\27[0m'):format(chunk[1])
    elseif colour then
      local red, green, blue = math.floor(colour / 65536), math.floor(colour / 256) % 256, colour % 256
      parts[i] = ('\27[38;2;%d;%d;%dm%s\27[0m'):format(red, green, blue, chunk[1])
    else
      parts[i] = chunk[1]
    end
  end
  return table.concat(parts)
end

--- The previewer: the class of fzf-lua's own with our text.
---@param item_of fun(entry: string): sessionls.Item?
---@return table
local function previewer(item_of)
  local base = require('fzf-lua.previewer.builtin').base
  local Previewer = base:extend()
  function Previewer:new(...)
    Previewer.super.new(self, ...)
    setmetatable(self, Previewer)
    self.sessionls = preview.new()
    return self
  end
  function Previewer:populate_preview_buf(entry)
    local item = item_of(entry)
    local bufnr = self:get_tmp_buffer()
    self:set_preview_buf(bufnr)
    if item and self.win and self.win.preview_winid then
      self.sessionls:show(item, bufnr, self.win.preview_winid)
    end
  end
  return Previewer
end

--- Opens the picker.
---@param source sessionls.Source
function M.open(source)
  highlight.define()
  local search, show
  search = live.new(source, function(err)
    show(err)
  end)
  -- Each line begins with its number, which fzf does not show.
  local function item_of(entry)
    return entry and search.items[tonumber(entry:match('^(%d+)\t')) or 0]
  end
  local query = source.query
  local function action(name)
    return function(selected)
      adapter.run(name, source, item_of(selected and selected[1]), search.items, query)
    end
  end
  local actions = { ['enter'] = action(nil), ['default'] = action(nil) }
  adapter.each_key(function(name, key)
    local fzf_key = M.fzf_key(key)
    if fzf_key then
      actions[fzf_key] = action(name)
    end
  end)
  adapter.announce(source)
  require('fzf-lua').fzf_live(function(args)
    -- A list of arguments, or in older versions the query.
    query = type(args) == 'table' and args[1] or args or ''
    return function(line)
      show = function(err)
        if err then
          require('sessionls').notify(err, vim.log.levels.WARN)
        end
        for i, item in ipairs(err and {} or search.items) do
          line(('%d\t%s'):format(i, ansi(adapter.row(item))))
        end
        line(nil)
      end
      vim.schedule(function()
        search:search(query)
      end)
    end
  end, {
    prompt = '> ',
    query = source.query,
    winopts = {
      title = ' ' .. source.title .. ' ',
      on_close = function()
        search:stop()
      end,
    },
    exec_empty_query = true,
    previewer = previewer(item_of),
    fzf_opts = { ['--ansi'] = true, ['--delimiter'] = '\t', ['--with-nth'] = '2..', ['--no-multi'] = true },
    actions = actions,
  })
end

return M
