--- The hosts whose sessions can be searched, and how the user chooses one of them.
local client = require('sessionls.client')
local config = require('sessionls.config')
local hosts = require('sessionls.host')
local text = require('sessionls.text')

local M = {}

--- How long the command line may take to list the hosts, in milliseconds; it asks none of them.
local list_patience = 10000
--- The same for who cannot go on without the list, such as completion.
local known_patience = 2000
--- How long the list is withheld for the states of its hosts, in milliseconds.
local check_patience = 2000
--- How many hosts are asked for their states at a time.
local checks_at_once = 8

--- A host as the command line lists it.
---@class sessionls.KnownHost
---@field host string
---@field label string its name for people
---@field source 'local'|'config'|'ssh_config'|'typed'

--- What was typed and is in no list.
---@type sessionls.KnownHost[]
local typed = {}
--- What the command line listed last.
---@type sessionls.KnownHost[]?
local listed

--- The command line that lists the hosts.
---@return string[]
local function list_command()
  local cmd = vim.deepcopy(config.get().cmd)
  if #cmd > 1 and cmd[#cmd] == 'serve' then
    cmd[#cmd] = nil
  end
  return vim.list_extend(cmd, { 'hosts', '--json' })
end

--- What the command line printed, as a list of hosts.
---@param ran vim.SystemCompleted
---@return string? err, sessionls.KnownHost[] hosts, string[] warnings
local function read_list(ran)
  local ok, answer = pcall(vim.json.decode, ran.stdout or '')
  if ran.code ~= 0 or not ok or type(answer) ~= 'table' or type(answer.hosts) ~= 'table' then
    local said = text.line(vim.trim((ran.stderr or ''):match('^[^\n]*') or '')):gsub('^sessionls: ', '')
    return ('the hosts cannot be listed: %s'):format(said ~= '' and said or 'the server is too old'), {}, {}
  end
  local found = {} ---@type sessionls.KnownHost[]
  for _, known in ipairs(answer.hosts) do
    if hosts.valid(known.host) and known.host ~= hosts.here then
      found[#found + 1] = { host = known.host, label = text.line(tostring(known.label)), source = known.source }
    end
  end
  local warnings = type(answer.warnings) == 'table' and answer.warnings or {}
  return nil, found, vim.tbl_map(text.line, warnings)
end

--- This machine, what the command line lists, and what was typed or set.
---@param from_command sessionls.KnownHost[]
---@return sessionls.KnownHost[]
local function complete_list(from_command)
  local all = { { host = hosts.here, label = 'this machine', source = 'local' } }
  local seen = { [hosts.here] = true }
  local current = { host = hosts.current(), label = '', source = 'typed' }
  for _, list in ipairs({ from_command, typed, { current } }) do
    for _, known in ipairs(list) do
      if not seen[known.host] then
        seen[known.host] = true
        all[#all + 1] = known
      end
    end
  end
  return all
end

--- Lists the hosts without asking any of them: this machine first. An error leaves those that are known anyhow.
---@param callback fun(err: string?, known: sessionls.KnownHost[], warnings: string[])
function M.list(callback)
  local function finish(err, found, warnings)
    if not err then
      listed = found
    end
    callback(err, complete_list(found), warnings)
  end
  local missing = client.missing()
  if missing then
    return finish(missing, {}, {})
  end
  local started, failure = pcall(vim.system, list_command(), { text = true, timeout = list_patience }, function(ran)
    vim.schedule(function()
      finish(read_list(ran))
    end)
  end)
  if not started then
    finish(text.line(tostring(failure)), {}, {})
  end
end

--- The hosts as they were listed last, for completion, which cannot wait long: only the first time it waits.
---@return sessionls.KnownHost[]
function M.known()
  local done = false
  M.list(function()
    done = true
  end)
  if not listed then
    vim.wait(known_patience, function()
      return done
    end, 5)
  end
  return complete_list(listed or {})
end

--- The host that a word means: the name of one, or what ssh or the configuration calls it. Nil if there is none.
---@param word string
---@return string?
function M.resolve(word)
  if hosts.valid(word) then
    return word
  end
  for _, known in ipairs(M.known()) do
    if word ~= '' and (known.host == 'ssh:' .. word or known.host == 'runtime:' .. word) then
      return known.host
    end
  end
end

--- Remembers a host that is in no list.
---@param host string
function M.remember(host)
  typed[#typed + 1] = { host = host, label = '', source = 'typed' }
end

--- Asks hosts for their states, some at a time. Calls back when all have answered or nobody should wait any longer;
--- those that are under way go on until it is stopped.
---@param names string[]
---@param callback fun()
---@return fun() stop
local function check(names, callback)
  local queue, running = vim.list_slice(names), {}
  local told = false
  local function tell()
    if not told then
      told = true
      callback()
    end
  end
  local function step()
    while #queue > 0 and vim.tbl_count(running) < checks_at_once do
      local host = table.remove(queue, 1)
      running[host] = hosts.reach(host, function()
        running[host] = nil
        vim.schedule(step)
      end, true)
    end
    if #queue == 0 and not next(running) then
      tell()
    end
  end
  step()
  vim.defer_fn(tell, check_patience)
  return function()
    queue, told = {}, true
    for _, cancel in pairs(running) do
      cancel()
    end
  end
end

---@param known sessionls.KnownHost
---@param marked string which one is chosen now
---@return string
local function row(known, marked)
  local label = (known.label ~= '' and known.host ~= 'ssh:' .. known.label) and known.label or ''
  local name = hosts.of(known.host) and (label ~= '' and label .. '  ' or '') .. known.host or 'this machine'
  name = text.fit(name, 50)
  local state = hosts.words(known.host)
  local gap = state ~= '' and (' '):rep(math.max(34 - vim.api.nvim_strwidth(name), 2)) or ''
  return (known.host == marked and '● ' or '  ') .. name .. gap .. state
end

--- Asks for the name of a host that is in no list.
---@param callback fun(host?: string)
local function ask_name(callback)
  vim.ui.input({ prompt = 'Host, as ssh takes it: ' }, function(word)
    word = vim.trim(word or '')
    if word == '' then
      return callback(nil)
    end
    local host = hosts.valid(word) and word or hosts.valid('ssh:' .. word) and 'ssh:' .. word or nil
    if not host then
      require('sessionls').notify(('%s is no host: %s'):format(text.line(word), hosts.rule), vim.log.levels.WARN)
    elseif hosts.of(host) then
      M.remember(host)
    end
    callback(host)
  end)
end

--- Has the user choose a host: this machine first, then what is configured, then what ssh's configuration names. How
--- they stand is shown as far as it is known, and asked on demand: to ask connects to them.
---@param marked string which one is chosen now
---@param callback fun(host?: string) nil if none was chosen
function M.choose(marked, callback)
  local stop = function() end
  local function show(list)
    local others = vim.tbl_filter(
      hosts.of,
      vim.tbl_map(function(known)
        return known.host
      end, list)
    )
    local choices = vim.list_slice(list) ---@type table[]
    choices[#choices + 1] = { other = true }
    if #others > 0 then
      choices[#choices + 1] = { check = true }
    end
    vim.ui.select(choices, {
      prompt = 'Whose sessions?',
      kind = 'sessionls.host',
      format_item = function(choice)
        if choice.other then
          return '  another host that ssh reaches …'
        elseif choice.check then
          return '  ask them all how they stand'
        end
        return row(choice, marked)
      end,
    }, function(choice)
      stop()
      if choice and choice.check then
        stop = check(others, function()
          show(list)
        end)
        return
      elseif choice and choice.other then
        return ask_name(callback)
      end
      callback(choice and choice.host)
    end)
  end
  M.list(function(err, list, warnings)
    local problems = vim.list_extend({ err }, warnings)
    if #problems > 0 then
      require('sessionls').notify(table.concat(problems, '\n'), vim.log.levels.WARN)
    end
    show(list)
  end)
end

return M
