--- Whose sessions are searched: those of this machine, or of another host that the server asks. A host is chosen for
--- this Neovim; what is read of a session goes to the host that the session is of, whatever is chosen by then.
local client = require('sessionls.client')
local config = require('sessionls.config')
local text = require('sessionls.text')

local M = {}

--- This machine.
M.here = 'local'

--- The server keeps a connection for five minutes, in milliseconds a little less.
local connection_kept = 280 * 1000
--- How long a connection that nobody waits for any more is still made, in milliseconds: who types asks again at once.
local grace = 300
--- When it is told that an answer takes time, in milliseconds.
local notice_delay = 400

--- What asking a host came to.
---@class sessionls.HostState
---@field err? string why it gave no answer
---@field status? sessionls.Status

---@type string?
local chosen
---@type table<string, sessionls.HostState>
local states = {}
--- When a host answered last.
---@type table<string, integer>
local answered = {}

---@class sessionls.Attempt
---@field waiting table<fun(err?: sessionls.Error), true>
---@field cancel? fun()

--- Connections that are being made.
---@type table<string, sessionls.Attempt>
local attempts = {}

--- Whether a name is that of a host. The rules are the contract's.
---@param name any
---@return boolean
function M.valid(name)
  if type(name) ~= 'string' then
    return false
  end
  local target, id = name:match('^ssh:(.*)$'), name:match('^runtime:(.*)$')
  if target then
    return #target <= 255 and target:match('^[%w_][%w_.@:%%%[%]-]*$') ~= nil
  elseif id then
    return vim.fn.strchars(id) <= 255 and id:match('^%S+$') ~= nil and text.line(id) == id
  end
  return name == M.here
end

--- What a host may be called, for who wrote something else.
M.rule = 'a host is local, ssh:TARGET or runtime:ID'

--- The value of executionHost for a host: nil for this machine.
---@param host? string
---@return string?
function M.of(host)
  return host ~= M.here and host or nil
end

--- The host whose sessions are searched.
---@return string
function M.current()
  return chosen or config.get().host
end

--- Chooses the host whose sessions are searched from now on in this Neovim.
---@param host string
function M.set(host)
  chosen = host
  vim.cmd.redrawstatus({ bang = true })
end

--- A host for people: "this machine", or its name.
---@param host? string
---@return string
function M.name(host)
  return M.of(host) and text.line(host) or 'this machine'
end

--- How a person runs sessionls on a host, as a part of a sentence.
---@param host string
---@param arguments string
---@return string
function M.invocation(host, arguments)
  local target, id = host:match('^ssh:(.*)$'), host:match('^runtime:(.*)$')
  if target then
    return ('`ssh %s sessionls %s`'):format(target, arguments)
  end
  return ('`sessionls %s`%s'):format(arguments, id and ' in ' .. id or '')
end

--- Whether a connection to a host is being made.
---@param host? string
---@return boolean
function M.connecting(host)
  return M.of(host) ~= nil and attempts[host] ~= nil
end

--- Whether a host has answered, so that its connection is there most likely.
---@param host? string
---@return boolean
function M.reached(host)
  local at = answered[host or M.here]
  return M.of(host) == nil or (at ~= nil and vim.uv.now() - at < connection_kept)
end

--- What is said while a connection is made.
---@param host string
---@return string
function M.connecting_words(host)
  return ('connecting to %s …'):format(M.name(host))
end

--- The status of a host as it was told last, nil if it never was.
---@param host string
---@return sessionls.Status?
function M.status(host)
  return states[host] and states[host].status
end

--- Forgets which hosts are connected: the server that was has ended.
function M.server_ended()
  answered = {}
end

--- Takes notice of an answer. A server that has ended says nothing about a host.
---@param host string
---@param err? sessionls.Error
---@param status? sessionls.Status
local function learn(host, err, status)
  if not err then
    answered[host] = vim.uv.now()
    if status then
      states[host] = { status = status }
    elseif states[host] and states[host].err then
      states[host] = nil
    end
  elseif err.data and err.data.code == 'SESSION_QUERY_PERSISTENCE_FAILED' then
    answered[host] = nil
    states[host] = { err = err.message }
  end
end

--- Makes sure that a host is connected. Of several that ask one makes the connection and the others wait; it is given
--- up when nobody waits any more.
---@param host string
---@param callback fun(err?: sessionls.Error)
---@param again? boolean ask for its status even if it is connected
---@return fun() cancel
function M.reach(host, callback, again)
  if M.reached(host) and not again then
    callback()
    return function() end
  end
  local attempt = attempts[host]
  if attempt then
    attempt.waiting[callback] = true
  else
    attempt = { waiting = { [callback] = true } }
    attempts[host] = attempt
    attempt.cancel = client.execute('searchStatus', { executionHost = host }, function(err, status)
      attempts[host] = nil
      learn(host, err, status)
      vim.cmd.redrawstatus({ bang = true })
      for waiting in pairs(attempt.waiting) do
        waiting(err)
      end
    end)
  end
  return function()
    attempt.waiting[callback] = nil
    vim.defer_fn(function()
      if attempts[host] == attempt and not next(attempt.waiting) then
        attempts[host] = nil
        attempt.cancel()
      end
    end, grace)
  end
end

--- Runs a command of the contract on a host. The callback is called once, unless the request is cancelled before.
---@param host? string this machine if nil
---@param command string without prefix
---@param args table the request object
---@param callback fun(err?: sessionls.Error, result?: table)
---@return fun() cancel
function M.ask(host, command, args, callback)
  host = M.of(host)
  if not host then
    return client.execute(command, args, callback)
  end
  local cancel
  local cancelled = false
  local waiting = M.reach(host, function(err)
    if cancelled then
      return
    elseif err then
      return callback(err)
    end
    local request = vim.tbl_extend('force', args, { executionHost = host })
    cancel = client.execute(command, request, function(failure, result)
      learn(host, failure, command == 'searchStatus' and result or nil)
      callback(failure, result)
    end)
  end)
  -- What was reached at once has set it already.
  cancel = cancel or waiting
  return function()
    cancelled = true
    cancel()
  end
end

--- Tells that an answer of another host is waited for, once that takes a moment, and cancels on <C-c> until the
--- returned function is called.
---@param host? string
---@param cancel fun()
---@return fun() done
function M.during(host, cancel)
  if not M.of(host) then
    return function() end
  end
  local over, told = false, false
  local watch = vim.api.nvim_create_namespace('')
  local function finish()
    if over then
      return false
    end
    over = true
    vim.on_key(nil, watch)
    if told then
      vim.api.nvim_echo({ { '' } }, false, {})
    end
    return true
  end
  vim.on_key(function(_, key)
    if key == '\3' and finish() then
      cancel()
      require('sessionls').notify(('%s is not asked any more'):format(M.name(host)))
    end
  end, watch)
  vim.defer_fn(function()
    if not over then
      told = true
      local words = M.reached(host) and ('asking %s …'):format(M.name(host)) or M.connecting_words(host)
      vim.api.nvim_echo({ { ('sessionls: %s  <C-c> cancels'):format(words) } }, false, {})
    end
  end, notice_delay)
  return finish
end

--- M.ask() for a person who waits: a host that takes its time is told of, and <C-c> cancels.
---@param host? string this machine if nil
---@param command string without prefix
---@param args table the request object
---@param callback fun(err?: sessionls.Error, result?: table)
function M.ask_waiting(host, command, args, callback)
  local cancel
  local done = M.during(host, function()
    cancel()
  end)
  cancel = M.ask(host, command, args, function(err, result)
    done()
    callback(err, result)
  end)
end

--- Looks at a host and tells how it stands.
---@param host string
function M.look(host)
  if not M.of(host) then
    return
  end
  local done
  local cancel = M.reach(host, function(err)
    done()
    if err then
      return require('sessionls').notify(err.message, vim.log.levels.WARN)
    end
    local status = M.status(host)
    if status and status.enabled then
      require('sessionls').notify(('%s: %s'):format(M.name(host), text.count(status.sessions, 'session')))
    else
      require('sessionls').notify(M.unavailable('disabled', host), vim.log.levels.WARN)
    end
  end, true)
  done = M.during(host, cancel)
end

--- Why there is no search, for people.
---@param reason string of the contract
---@param host? string
---@return string
function M.unavailable(reason, host)
  local other = M.of(host)
  local words = {
    disabled = other and ('search is not switched on on %s: its user decides, with %s'):format(
      M.name(host),
      M.invocation(other, 'enable')
    ) or 'search is off; :Sessions enable turns it on',
    ['not-ready'] = other
        and ('the index of %s cannot be opened; %s tells why'):format(M.name(host), M.invocation(other, 'doctor'))
      or 'the index cannot be opened; :Sessions log tells why',
    ['no-service'] = ('sessionls on %s is too old to be searched; install a newer one there'):format(M.name(host)),
  }
  return words[reason] or ('search is not available: ' .. text.line(tostring(reason)))
end

--- How a host stands, in a few words; "" if it was never asked.
---@param host string
---@return string
function M.words(host)
  local state = states[host]
  local status = M.of(host) and state and state.status or not M.of(host) and require('sessionls.status').get() or nil
  if M.connecting(host) then
    return 'connecting …'
  elseif state and state.err then
    return 'no answer'
  elseif status and status.enabled then
    return text.count(status.sessions, 'session')
  end
  return status and 'not switched on' or ''
end

return M
