--- The relatives of a session: what it came from, and what came from it.
local hosts = require('sessionls.host')
local source = require('sessionls.source')

local M = {}

--- A header as an item.
---@param header table
---@param depth integer
---@return sessionls.Item
local function item_of(header, depth)
  local item = vim.tbl_extend('force', {}, header, { depth = depth })
  item.source = { presence = header.presence, filePath = header.sourcePath }
  return item
end

--- The relatives in the order of a family tree, the oldest first.
---@param answer table of traceSession
---@return sessionls.Item[] items, integer target the place of the session itself
function M.flatten(answer)
  local items = {}
  local ancestors = answer.ancestors or {}
  for i = #ancestors, 1, -1 do
    items[#items + 1] = item_of(ancestors[i], #ancestors - i)
  end
  local target = #items + 1
  items[target] = item_of(answer.target, #ancestors)
  local function add(nodes)
    for _, node in ipairs(nodes or {}) do
      items[#items + 1] = item_of(node.session, #ancestors + (node.depth or 1))
      add(node.descendants)
    end
  end
  add(answer.descendants)
  for _, node in ipairs(answer.deeper or {}) do
    items[#items + 1] = item_of(node.session, #ancestors + node.depth)
  end
  return items, target
end

--- Shows the relatives of a session in a picker.
---@param item sessionls.Item
function M.show(item)
  local request = { sessionId = item.sessionId, agent = item.agent }
  hosts.ask_waiting(item.executionHostId, 'traceSession', request, function(err, answer)
    if err or not answer then
      return require('sessionls').notify(err and err.message or 'no answer', vim.log.levels.ERROR)
    end
    local items = M.flatten(answer)
    if #items == 1 and answer.complete then
      return require('sessionls').notify('this session has no relatives')
    end
    require('sessionls.picker').open(source.list('Lineage', items, item.executionHostId))
  end)
end

return M
