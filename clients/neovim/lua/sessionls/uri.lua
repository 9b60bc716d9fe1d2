--- Names of transcripts: sessionls://session/<host>/<agent>/<sessionId>.md
local M = {}

---@param s string
---@return string
local function encode(s)
  return (s:gsub('[^A-Za-z0-9._~-]', function(c)
    return ('%%%02X'):format(c:byte())
  end))
end

---@param s string
---@return string
local function decode(s)
  return (s:gsub('%%(%x%x)', function(hex)
    return string.char(tonumber(hex, 16))
  end))
end

---@class sessionls.Session
---@field agent string
---@field sessionId string
---@field executionHostId? string

--- The document of a session.
---@param session sessionls.Session
---@return string
function M.of(session)
  return ('sessionls://session/%s/%s/%s.md'):format(
    encode(session.executionHostId or 'local'),
    encode(session.agent),
    encode(session.sessionId)
  )
end

--- What a document's name says, nil if it is none. A fragment, which only links have, is the event.
---@param uri string
---@return sessionls.Session?, integer? seq
function M.parse(uri)
  local name, seq = uri:match('^(.-)#(%d+)$')
  local host, agent, id = (name or uri):match('^sessionls://session/([^/]+)/([^/]+)/([^/]+)%.md$')
  if not host then
    return nil
  end
  host = decode(host)
  local session = { agent = decode(agent), sessionId = decode(id), executionHostId = host ~= 'local' and host or nil }
  return session, tonumber(seq)
end

return M
