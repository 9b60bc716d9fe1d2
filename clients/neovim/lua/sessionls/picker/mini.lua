--- Sessions in mini.pick.
local adapter = require('sessionls.picker.adapter')
local format = require('sessionls.format')
local highlight = require('sessionls.highlight')
local live = require('sessionls.live')
local preview = require('sessionls.preview')

local M = {}

--- Shows rows with their colours.
---@param bufnr integer
---@param entries {item: sessionls.Item}[]
local function show(bufnr, entries)
  local lines, rows = {}, {}
  for i, entry in ipairs(entries) do
    rows[i] = adapter.row(entry.item)
    lines[i] = format.plain(rows[i])
  end
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.api.nvim_buf_clear_namespace(bufnr, highlight.namespace, 0, -1)
  for i, chunks in ipairs(rows) do
    for _, span in ipairs(format.spans(chunks, 0)) do
      local mark = { end_col = span[2], hl_group = span[3], priority = 199 }
      vim.api.nvim_buf_set_extmark(bufnr, highlight.namespace, i - 1, span[1], mark)
    end
  end
end

--- Opens the picker.
---@param source sessionls.Source
function M.open(source)
  highlight.define()
  local pick = require('mini.pick')
  local query = source.query
  local tick
  local search
  search = live.new(source, function(err)
    if err then
      require('sessionls').notify(err, vim.log.levels.WARN)
    end
    local entries = {}
    for i, item in ipairs(err and {} or search.items) do
      entries[i] = { text = format.title(item), item = item }
    end
    -- Dropped if more was typed meanwhile.
    pick.set_picker_items(entries, { do_match = false, querytick = tick })
  end)
  local shown = preview.new()
  local mappings = {}
  local function current()
    local matches = pick.get_picker_matches()
    return matches and matches.current and matches.current.item
  end
  adapter.each_key(function(name, key)
    mappings['sessionls_' .. name] = {
      char = key,
      func = function()
        adapter.run(name, source, current(), search.items, query)
        -- True ends the picker.
        return not require('sessionls.actions').get(name).keeps_open
      end,
    }
  end)
  adapter.announce(source)
  pick.start({
    source = {
      name = source.title,
      items = {},
      match = function(_, _, characters)
        -- Called for new items, too.
        if tick ~= pick.get_querytick() then
          tick = pick.get_querytick()
          query = table.concat(characters)
          search:search(query)
        end
      end,
      show = show,
      preview = function(bufnr, entry)
        vim.schedule(function()
          local winid = vim.fn.bufwinid(bufnr)
          if winid ~= -1 then
            shown:show(entry.item, bufnr, winid)
          end
        end)
      end,
      choose = function(entry)
        adapter.run(nil, source, entry.item, search.items, query)
      end,
    },
    mappings = mappings,
  })
  shown:stop()
  search:stop()
end

return M
