--- Transcripts of Claude Code in a folder of the test's own, which it may change.
local M = {}

---@class test.Session
---@field id string
---@field cwd string
---@field path string
---@field count integer

--- A folder of transcripts that the server reads in place of ~/.claude; to be made before it starts.
---@return string
function M.root()
  local root = vim.fn.tempname() .. '/claude'
  vim.fn.mkdir(root .. '/projects', 'p')
  vim.env.CLAUDE_CONFIG_DIR = root
  return root
end

--- Begins a transcript.
---@param root string
---@param id string
---@param cwd string
---@return test.Session
function M.begin(root, id, cwd)
  local folder = root .. '/projects/' .. cwd:gsub('[^%w]', '-')
  vim.fn.mkdir(folder, 'p')
  return { id = id, cwd = cwd, path = ('%s/%s.jsonl'):format(folder, id), count = 0 }
end

--- Appends what somebody said.
---@param session test.Session
---@param role 'user'|'assistant'
---@param content string|table[]
function M.say(session, role, content)
  session.count = session.count + 1
  local function uuid(n)
    return ('00000000-0000-4000-8000-%012d'):format(n)
  end
  local record = {
    type = role,
    uuid = uuid(session.count),
    parentUuid = session.count > 1 and uuid(session.count - 1) or vim.NIL,
    sessionId = session.id,
    cwd = session.cwd,
    gitBranch = 'main',
    version = '2.1.230',
    isSidechain = false,
    userType = 'external',
    entrypoint = 'cli',
    timestamp = ('2026-05-04T%02d:%02d:%02d.000Z'):format(
      10 + math.floor(session.count / 3600),
      math.floor(session.count / 60) % 60,
      session.count % 60
    ),
  }
  if role == 'user' then
    record.message = { role = role, content = content }
  else
    record.message = {
      id = 'msg_' .. session.count,
      type = 'message',
      role = role,
      model = 'claude-opus-4-5-20251101',
      content = type(content) == 'string' and { { type = 'text', text = content } } or content,
      stop_reason = vim.NIL,
      usage = { input_tokens = 1, output_tokens = 1 },
    }
  end
  local file = assert(io.open(session.path, 'a'))
  file:write(vim.json.encode(record), '\n')
  file:close()
end

--- Makes a transcript look as if it had not been written to for a day.
---@param session test.Session
function M.age(session)
  local then_ = os.time() - 86400
  assert(vim.uv.fs_utime(session.path, then_, then_))
end

return M
