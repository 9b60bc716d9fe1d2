--- A search while the user types: the earlier request is cancelled, only the last answer counts, pages follow one
--- another, and a page that is refused because the index moved is asked for again from the first.
local M = {}

---@class sessionls.Live
---@field source sessionls.Source
---@field items sessionls.Item[] of all pages so far
---@field page? sessionls.Page the last one
---@field private on_change fun(err?: string, first: boolean)
---@field private query? string
---@field private cancel? fun()
---@field private ticket integer
local Live = {}
Live.__index = Live

---@param source sessionls.Source
---@param on_change fun(err?: string, first: boolean) first: the items are new, not only more
---@return sessionls.Live
function M.new(source, on_change)
  return setmetatable({ source = source, items = {}, on_change = on_change, ticket = 0 }, Live)
end

---@private
---@param cursor? string
function Live:request(cursor)
  self:stop()
  local ticket = self.ticket
  local answered = false
  local cancel = self.source.fetch(self.query, cursor, function(err, page)
    answered = true
    if ticket ~= self.ticket then
      return
    end
    self.cancel = nil
    if page and page.stale and cursor then
      return self:request(nil)
    end
    if not cursor then
      self.items = {}
    end
    if page then
      self.page = page
      vim.list_extend(self.items, page.items)
    end
    self.on_change(err, cursor == nil)
  end)
  if not answered then
    self.cancel = cancel
  end
end

--- Whether an answer is under way.
---@return boolean
function Live:asking()
  return self.cancel ~= nil
end

--- Asks for the first page of a query.
---@param query string
function Live:search(query)
  self.query = query
  self:request(nil)
end

--- Asks for the same again, to see what is new, unless something is under way.
---@return boolean whether it asks
function Live:refresh()
  if not self.query or self.cancel then
    return false
  end
  self:request(nil)
  return true
end

--- Asks for the next page, if there is one and nothing is under way.
function Live:more()
  if self.page and self.page.cursor and not self.cancel then
    self:request(self.page.cursor)
  end
end

--- Cancels what is under way.
function Live:stop()
  self.ticket = self.ticket + 1
  if self.cancel then
    self.cancel()
    self.cancel = nil
  end
end

return M
