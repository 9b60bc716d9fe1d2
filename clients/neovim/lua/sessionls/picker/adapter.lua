--- What the pickers of other plugins have in common: rows of one line, keys, and actions.
local actions = require('sessionls.actions')
local config = require('sessionls.config')
local format = require('sessionls.format')
local hosts = require('sessionls.host')
local text = require('sessionls.text')

local M = {}

--- The cells that a title and the name of an agent take in a row of one line.
local title_width, agent_width = 30, 9

--- A row of one line, which has little room: title, agent, age, and what was found, or else the project and the facts.
---@param item sessionls.Item
---@return sessionls.Chunk[]
function M.row(item)
  local chunks = { { ('  '):rep(item.depth or 0) } } ---@type sessionls.Chunk[]
  local function pad(width)
    chunks[#chunks + 1] = { (' '):rep(width - vim.api.nvim_strwidth(format.plain(chunks))) }
  end
  vim.list_extend(chunks, format.title_chunks(item, title_width - 1 - #chunks[1][1]))
  pad(title_width)
  chunks[#chunks + 1] = { text.fit(text.line(item.agent), agent_width - 1), 'SessionlsAgent' }
  pad(title_width + agent_width)
  chunks[#chunks + 1] = { ('%3s  '):format(text.age(item.updatedAt)), 'SessionlsMeta' }
  vim.list_extend(chunks, format.host(item, 14))
  if not item.evidence then
    chunks[#chunks + 1] = { text.basename(item.cwd) .. '  ', 'SessionlsProject' }
  end
  return vim.list_extend(chunks, format.snippet(item, 40))
end

--- Calls back for every action that has a key, but for the first one, which is <CR>'s in every picker.
---@param each fun(name: string, key: string, action: sessionls.Action)
function M.each_key(each)
  for name, key in pairs(config.get().keys) do
    if key and name ~= 'open' then
      each(name, key, actions.get(name))
    end
  end
end

--- Tells that the first answer may take a while; the list has no room for it.
---@param source sessionls.Source
function M.announce(source)
  if not hosts.reached(source.host) then
    require('sessionls').notify(hosts.connecting_words(source.host) .. ' closing the list cancels')
  end
end

--- Runs an action once the other plugin has closed its windows, or, if it stays open, at once.
---@param name? string
---@param source sessionls.Source
---@param item? sessionls.Item
---@param items sessionls.Item[]
---@param query string what is typed at the moment
function M.run(name, source, item, items, query)
  vim.schedule(function()
    local switch = actions.get(name).switch
    if switch then
      return switch(source, query, require('sessionls.picker').open)
    end
    actions.run(name or source.default, item, items)
  end)
end

return M
