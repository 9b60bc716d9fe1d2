--- Sessions in the picker of snacks.nvim.
local adapter = require('sessionls.picker.adapter')
local format = require('sessionls.format')
local highlight = require('sessionls.highlight')
local live = require('sessionls.live')
local preview = require('sessionls.preview')

local M = {}

--- Opens the picker.
---@param source sessionls.Source
function M.open(source)
  highlight.define()
  local answered ---@type fun(err?: string)
  local search = live.new(source, function(err)
    answered(err)
  end)
  local shown = preview.new()

  --- Finds in a coroutine of snacks', which ends early when more is typed.
  local function finder(_, ctx)
    return function(add)
      local async = ctx.async
      local waiting, failure = true, nil
      answered = function(err)
        failure = err
        waiting = false
        async:resume()
      end
      async:on(
        'abort',
        vim.schedule_wrap(function()
          -- The next search has begun already if this one ended because of it.
          if waiting then
            waiting = false
          end
        end)
      )
      vim.schedule(function()
        if waiting then
          search:search(ctx.filter.search)
        end
      end)
      while waiting do
        async:suspend()
      end
      if failure then
        return require('sessionls').notify(failure, vim.log.levels.WARN)
      end
      for _, item in ipairs(search.items) do
        add({ text = format.title(item), item = item })
      end
    end
  end

  local actions, keys = {}, {}
  local function action(name)
    return function(picker, chosen)
      local query = picker.input and picker.input.filter and picker.input.filter.search or source.query
      if not require('sessionls.actions').get(name).keeps_open then
        picker:close()
      end
      adapter.run(name, source, chosen and chosen.item, search.items, query)
    end
  end
  adapter.each_key(function(name, key)
    actions['sessionls_' .. name] = action(name)
    keys[key] = { 'sessionls_' .. name, mode = { 'n', 'i' } }
  end)

  adapter.announce(source)
  require('snacks.picker').pick({
    source = 'sessionls',
    title = source.title,
    live = true,
    supports_live = true,
    search = source.query,
    finder = finder,
    format = function(chosen)
      return adapter.row(chosen.item)
    end,
    preview = function(ctx)
      ctx.preview:reset()
      ctx.preview:minimal()
      shown:show(ctx.item.item, ctx.buf, ctx.win)
      return true
    end,
    confirm = action(nil),
    actions = actions,
    win = { input = { keys = keys }, list = { keys = keys } },
    on_close = function()
      shown:stop()
      search:stop()
    end,
  })
end

return M
