--- The language server: started when it is first needed, asked without waiting, and started again when it has ended.
local config = require('sessionls.config')

local M = {}

M.name = 'sessionls'

---@class sessionls.Error
---@field message string
---@field code? integer|string JSON-RPC code, or "ended" when the server is gone
---@field data? {code?: string, field?: string}

--- Requests without an answer, by client id. Neovim drops them silently when a server ends.
---@type table<integer, table<function, true>>
local pending = {}

--- What waits for a server to be initialized.
---@type (fun(err?: sessionls.Error, client?: vim.lsp.Client))[]
local waiting = {}

-- Methods of a client are plain functions before Neovim 0.11.
local methods = vim.fn.has('nvim-0.11') == 1

---@param client vim.lsp.Client
---@param method string
local function call(client, method, ...)
  if methods then
    return client[method](client, ...)
  end
  return client[method](...)
end

--- An answer without vim.NIL: what JSON calls null is absent. Older versions of Neovim decode it so.
---@generic T
---@param value T
---@return T
local function without_null(value)
  if type(value) == 'table' then
    for key, inner in pairs(value) do
      if inner == vim.NIL then
        value[key] = nil
      else
        without_null(inner)
      end
    end
  end
  return value
end

--- The running client, initialized or not.
---@return vim.lsp.Client?
function M.get()
  for _, client in ipairs(vim.lsp.get_clients({ name = M.name })) do
    if not call(client, 'is_stopped') then
      return client
    end
  end
end

---@param err? sessionls.Error
---@param client? vim.lsp.Client
local function flush(err, client)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(err, client)
  end
end

--- Whether sessions are to be found as workspace symbols in a buffer: ordinary files only.
---@param bufnr integer
local function attach(bufnr)
  local client = M.get()
  if
    client
    and client.initialized
    and vim.api.nvim_buf_is_loaded(bufnr)
    and vim.bo[bufnr].buftype == ''
    and not vim.lsp.buf_is_attached(bufnr, client.id)
  then
    vim.lsp.buf_attach_client(bufnr, client.id)
  end
end

local group = vim.api.nvim_create_augroup('sessionls.client', { clear = true })

--- Attaches file buffers, those there are and those to come, if workspace symbols are wanted and offered. The server
--- is sent no text: it does not ask for any.
---@param client vim.lsp.Client
local function attach_files(client)
  local opts = config.get()
  if not (opts.attach and opts.workspace_symbols and client.server_capabilities.workspaceSymbolProvider) then
    return
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    attach(bufnr)
  end
  vim.api.nvim_create_autocmd('BufEnter', {
    group = group,
    desc = 'sessions as workspace symbols',
    callback = function(args)
      attach(args.buf)
    end,
  })
end

---@param client vim.lsp.Client
local function on_init(client)
  -- The client counts as initialized only after this.
  vim.schedule(function()
    flush(nil, client)
    attach_files(client)
  end)
end

---@param code integer
---@param signal integer
---@param client_id integer
local function on_exit(code, signal, client_id)
  vim.schedule(function()
    vim.api.nvim_clear_autocmds({ group = group })
    require('sessionls.status').set(nil)
    local host = package.loaded['sessionls.host']
    if host then
      host.server_ended()
    end
    ---@type sessionls.Error
    local err = {
      code = 'ended',
      message = ('the server ended (exit code %d%s)'):format(code, signal ~= 0 and ', signal ' .. signal or ''),
    }
    local callbacks = pending[client_id] or {}
    pending[client_id] = nil
    for callback in pairs(callbacks) do
      callback(err)
    end
    if not M.get() then
      flush(err)
    end
  end)
end

--- The configuration for vim.lsp.start() and, through lsp/sessionls.lua, for vim.lsp.enable().
---@return vim.lsp.ClientConfig
function M.lsp_config()
  local opts = config.get()
  local cwd = vim.fn.getcwd()
  local settings = { workspaceSymbols = opts.workspace_symbols, statusNotifications = true }
  return {
    name = M.name,
    cmd = opts.cmd,
    -- One server for all folders: where to look is said with every request.
    workspace_folders = { { uri = vim.uri_from_fname(cwd), name = cwd } },
    reuse_client = function(client)
      return client.name == M.name
    end,
    init_options = settings,
    settings = { sessionls = settings },
    handlers = {
      ['sessionls/status'] = function(_, status)
        require('sessionls.status').set(without_null(status))
      end,
    },
    on_init = on_init,
    on_exit = on_exit,
  }
end

--- Why the server cannot be started, or nil.
---@return string?
function M.missing()
  local program = config.get().cmd[1]
  if vim.fn.executable(program) ~= 1 then
    return ("%s cannot be run: install it, or name it with require('sessionls').setup{ cmd = ... }"):format(program)
  end
end

--- Starts the server unless it runs.
---@return sessionls.Error?
local function start()
  local missing = M.missing()
  if missing then
    return { message = missing, code = 'missing' }
  end
  local lsp_config = M.lsp_config()
  local id
  if methods then
    id = vim.lsp.start(lsp_config, { attach = false, silent = true })
  else
    id = vim.lsp.start_client(lsp_config)
  end
  if not id then
    return { message = 'the server did not start, see :LspLog', code = 'missing' }
  end
end

--- How often a client that somebody else configured is looked at until it is initialized, in milliseconds.
local poll_interval = 20

--- Calls back with the client once it is initialized; starts it if need be. Inside the call if it runs already.
---@param callback fun(err?: sessionls.Error, client?: vim.lsp.Client)
function M.ready(callback)
  local client = M.get()
  if client and client.initialized then
    return callback(nil, client)
  end
  waiting[#waiting + 1] = callback
  if client then
    -- on_init may have been replaced in the user's vim.lsp.config().
    local function look()
      if #waiting > 0 and client.initialized then
        flush(nil, client)
      elseif #waiting > 0 and not call(client, 'is_stopped') then
        vim.defer_fn(look, poll_interval)
      end
    end
    return look()
  end
  if #waiting == 1 then
    local err = start()
    if err then
      vim.schedule(function()
        flush(err)
      end)
    end
  end
end

--- Whether the running server has a command.
---@param command string without prefix
---@return boolean
function M.supports(command)
  local client = M.get()
  local provider = client and client.server_capabilities and client.server_capabilities.executeCommandProvider
  return provider ~= nil and vim.tbl_contains(provider.commands or {}, M.name .. '.' .. command)
end

--- Runs a command of the contract. The callback is called once, unless the request is cancelled before.
---@param command string without prefix
---@param args? table the request object
---@param callback fun(err?: sessionls.Error, result?: table)
---@return fun() cancel
function M.execute(command, args, callback)
  local over = false
  local client, id ---@type vim.lsp.Client?, integer?
  local function finish(err, result)
    if over then
      return
    end
    over = true
    if client and pending[client.id] then
      pending[client.id][finish] = nil
    end
    callback(err, without_null(result))
  end
  M.ready(function(err, ready)
    if over then
      return
    elseif err or not ready then
      return finish(err)
    elseif not M.supports(command) then
      return finish({ message = ('this server does not know %s; a newer one does'):format(command), code = -32601 })
    end
    client = ready
    pending[client.id] = pending[client.id] or {}
    pending[client.id][finish] = true
    local request = {
      command = M.name .. '.' .. command,
      arguments = { args and next(args) and args or vim.empty_dict() },
    }
    local sent
    sent, id = call(client, 'request', 'workspace/executeCommand', request, finish)
    if not sent then
      finish({ message = 'the server has ended', code = 'ended' })
    end
  end)
  return function()
    if over then
      return
    end
    over = true
    if client and id then
      if pending[client.id] then
        pending[client.id][finish] = nil
      end
      call(client, 'cancel_request', id)
    end
  end
end

--- Stops the server.
function M.stop()
  local client = M.get()
  if client then
    call(client, 'stop')
  end
end

return M
