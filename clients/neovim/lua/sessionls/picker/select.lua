--- The last resort: asks for words with vim.ui.input(), shows what was found with vim.ui.select().
local actions = require('sessionls.actions')
local format = require('sessionls.format')
local hosts = require('sessionls.host')
local live = require('sessionls.live')

local M = {}

---@param source sessionls.Source
---@param query string
local function choose(source, query)
  local search
  local done = hosts.during(source.host, function()
    search:stop()
  end)
  search = live.new(source, function(err)
    done()
    local items = search.items
    if err or #items == 0 then
      return require('sessionls').notify(err or 'no session found', vim.log.levels.WARN)
    end
    vim.ui.select(items, {
      prompt = source.title,
      kind = 'sessionls.session',
      format_item = format.flat,
    }, function(item)
      actions.run(source.default, item, items)
    end)
  end)
  search:search(query)
end

--- Opens the picker.
---@param source sessionls.Source
function M.open(source)
  if source.query ~= '' then
    return choose(source, source.query)
  end
  vim.ui.input({ prompt = source.title .. ': ' }, function(query)
    if query then
      choose(source, query)
    end
  end)
end

return M
