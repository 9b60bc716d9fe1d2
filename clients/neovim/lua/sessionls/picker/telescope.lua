--- Sessions in telescope.nvim. Also as :Telescope sessionls, see lua/telescope/_extensions/.
local adapter = require('sessionls.picker.adapter')
local format = require('sessionls.format')
local highlight = require('sessionls.highlight')
local live = require('sessionls.live')
local preview = require('sessionls.preview')
local status = require('sessionls.status')

local M = {}

--- How often a list follows an index that is being built, in milliseconds.
local refresh_interval = 500

--- A finder that asks the server with every change of the prompt, and cancels what it asked before.
---@param source sessionls.Source
---@return table finder, sessionls.Live
local function finder_of(source)
  local show ---@type fun(err?: string)
  local search = live.new(source, function(err)
    show(err)
  end)
  local finder = setmetatable({
    close = function()
      search:stop()
    end,
  }, {
    __call = function(_, prompt, process_result, process_complete)
      show = function(err)
        if err then
          require('sessionls').notify(err, vim.log.levels.WARN)
        end
        for i, item in ipairs(err and {} or search.items) do
          local chunks = adapter.row(item)
          local plain = format.plain(chunks)
          local spans = {}
          for j, span in ipairs(format.spans(chunks, 0)) do
            spans[j] = { { span[1], span[2] }, span[3] }
          end
          local entry = { value = item, index = i, ordinal = plain, valid = true }
          entry.display = function()
            return plain, spans
          end
          if process_result(entry) then
            break
          end
        end
        process_complete()
      end
      search:search(prompt or '')
    end,
  })
  return finder, search
end

--- Opens the picker.
---@param source sessionls.Source
---@param opts? table telescope's own, such as a theme
function M.open(source, opts)
  highlight.define()
  local telescope_actions = require('telescope.actions')
  local state = require('telescope.actions.state')
  local finder, search = finder_of(source)
  local shown = preview.new()
  local picker, stop_following
  picker = require('telescope.pickers').new(opts or {}, {
    prompt_title = source.title,
    default_text = source.query,
    finder = finder,
    -- The order is the server's.
    sorter = require('telescope.sorters').empty(),
    previewer = require('telescope.previewers').new_buffer_previewer({
      title = 'Transcript',
      define_preview = function(self, entry)
        local winid = self.state.winid
        vim.wo[winid].wrap = true
        vim.wo[winid].linebreak = true
        vim.wo[winid].conceallevel = 2
        shown:show(entry.value, self.state.bufnr, winid)
      end,
      teardown = function()
        shown:stop()
        stop_following()
      end,
    }),
    attach_mappings = function(bufnr, map)
      local function run(name)
        local entry = state.get_selected_entry()
        local query = state.get_current_line()
        if require('sessionls.actions').get(name).keeps_open then
          return adapter.run(name, source, entry and entry.value, search.items, query)
        end
        telescope_actions.close(bufnr)
        adapter.run(name, source, entry and entry.value, search.items, query)
      end
      local defaults = { split = 'select_horizontal', vsplit = 'select_vertical', tab = 'select_tab' }
      telescope_actions.select_default:replace(run)
      for name, default in pairs(defaults) do
        telescope_actions[default]:replace(function()
          run(name)
        end)
      end
      adapter.each_key(function(name, key, action)
        map({ 'i', 'n' }, key, function()
          run(name)
        end, { desc = action.desc })
      end)
      return true
    end,
  })
  -- Only while an index is built, and once after it: it moves the selection.
  local building = status.building()
  stop_following = status.follow(function()
    return refresh_interval
  end, function()
    if not source.host and (building or status.building()) then
      picker:refresh(nil, { reset_prompt = false })
    end
    building = status.building()
  end)
  picker:find()
  adapter.announce(source)
end

return M
