--- :Sessions and what it takes.
local M = {}

---@return table sessionls
local function sessionls()
  return require('sessionls')
end

---@param err? sessionls.Error
---@return boolean whether there was one
local function failed(err)
  if err then
    sessionls().notify(err.message, vim.log.levels.ERROR)
  end
  return err ~= nil
end

--- The current file as the agents may have written it: its path, and where it lies in the folder or the repository.
---@param path string absolute
---@return string[]
local function spellings(path)
  local paths = { path }
  local root = vim.fs.root(path, '.git') or vim.fn.getcwd()
  local inside = vim.startswith(path, root .. '/') and path:sub(#root + 2)
  -- A bare name would be found in every project.
  if inside and inside:find('/') then
    paths[2] = inside
  end
  return paths
end

local function search_file()
  local path = vim.fn.expand('%:p')
  if path == '' or vim.bo.buftype ~= '' then
    return sessionls().notify('this buffer is no file', vim.log.levels.WARN)
  end
  sessionls().sessions({
    scope = 'all',
    filters = { files = spellings(path), sort = 'newest' },
    title = 'Sessions · ' .. vim.fn.fnamemodify(path, ':t'),
  })
end

---@param args vim.api.keyset.create_user_command.command_args
local function search_selection(args)
  local lines
  if args.range > 0 then
    local mode = vim.fn.visualmode()
    local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
    if mode ~= '' and from[2] == args.line1 and to[2] == args.line2 then
      lines = vim.fn.getregion(from, to, { type = mode })
    else
      lines = vim.api.nvim_buf_get_lines(0, args.line1 - 1, args.line2, false)
    end
  else
    lines = { vim.fn.expand('<cword>') }
  end
  local words = vim.trim((table.concat(lines, ' '):gsub('%s+', ' ')))
  sessionls().sessions({ query = words })
end

local function show_status()
  local hosts = require('sessionls.host')
  local host = hosts.of(hosts.current())
  hosts.ask_waiting(host, 'searchStatus', {}, function(err, status)
    if not failed(err) then
      sessionls().notify(table.concat(require('sessionls.status').describe(status, host), '\n'))
    end
  end)
end

--- Words that are said while another host is searched: index and consent are this machine's always.
---@param words string
---@return string
local function ours(words)
  local hosts = require('sessionls.host')
  return hosts.of(hosts.current()) and words or ''
end

local function clear()
  local question = ('sessionls: delete the index%s? Transcripts are not touched; the index is built anew.'):format(
    ours(' of this machine')
  )
  vim.ui.select({ 'Delete the index', 'Cancel' }, { prompt = question }, function(_, choice)
    if choice ~= 1 then
      return
    end
    require('sessionls.client').execute('clear', nil, function(err)
      if not failed(err) then
        sessionls().notify(('the index%s was deleted'):format(ours(' of this machine')))
      end
    end)
  end)
end

--- Where the server writes its log, as the server works it out.
---@return string
function M.log_path()
  local function folder(name)
    local value = vim.env[name]
    -- An empty or relative value counts as unset.
    return value and value:match('^[/\\]') and value or nil
  end
  local own = folder('SESSIONLS_HOME')
  if own then
    return own .. '/sessionls.log'
  end
  local state = folder('XDG_STATE_HOME')
    or vim.fn.expand(vim.fn.has('mac') == 1 and '~/Library/Application Support' or '~/.local/state')
  return state .. '/sessionls/sessionls.log'
end

local function open_log()
  local path = M.log_path()
  if not vim.uv.fs_stat(path) then
    return sessionls().notify('there is no log at ' .. path, vim.log.levels.WARN)
  end
  vim.cmd.tabedit({ args = { path }, magic = { file = false, bar = false } })
  vim.bo.readonly = true
  vim.bo.autoread = true
  vim.cmd.normal({ args = { 'G' }, bang = true })
end

---@param enabled boolean
local function set_policy(enabled)
  require('sessionls.consent').set({ enabled = enabled }, function(err)
    if not failed(err) then
      sessionls().notify((enabled and 'search is on' or 'search is off') .. ours(' on this machine'))
    end
  end)
end

--- Chooses the host whose sessions are searched from now on.
---@param host string
local function use_host(host)
  local hosts = require('sessionls.host')
  hosts.set(host)
  sessionls().notify(('the sessions of %s are searched now'):format(hosts.name(host)))
  hosts.look(host)
end

---@param word string as typed; "" asks
local function choose_host(word)
  local hosts, list = require('sessionls.host'), require('sessionls.host_list')
  local host = list.resolve(word)
  if host then
    if
      not vim.tbl_contains(
        vim.tbl_map(function(known)
          return known.host
        end, list.known()),
        host
      )
    then
      list.remember(host)
    end
    return use_host(host)
  end
  list.choose(hosts.current(), function(name)
    if name then
      use_host(name)
    end
  end)
end

--- The session of the transcript in the current buffer.
---@return sessionls.Item?
local function current_session()
  local document = require('sessionls.transcript').document()
  return document and vim.tbl_extend('keep', {}, document.session, document.header or {})
end

---@class sessionls.Subcommand
---@field takes_query? boolean words may follow
---@field takes? fun(rest: string): boolean whether it is this what follows
---@field run fun(query: string, args: vim.api.keyset.create_user_command.command_args)

---@type table<string, sessionls.Subcommand>
local subcommands = {
  here = {
    takes_query = true,
    run = function(query)
      sessionls().sessions({ query = query, scope = 'here' })
    end,
  },
  all = {
    takes_query = true,
    run = function(query)
      sessionls().sessions({ query = query, scope = 'all' })
    end,
  },
  newest = {
    takes_query = true,
    run = function(query)
      sessionls().sessions({ query = query, filters = { sort = 'newest' }, title = 'Newest sessions' })
    end,
  },
  resume = {
    takes_query = true,
    run = function(query)
      local here = query == '' and current_session()
      if here then
        return require('sessionls.resume').run(here)
      end
      sessionls().sessions({
        query = query,
        filters = { sort = query == '' and 'newest' or nil, presence = { 'present' } },
        title = 'Resume a session',
        default = 'resume',
      })
    end,
  },
  file = { run = search_file },
  selection = {
    run = function(_, args)
      search_selection(args)
    end,
  },
  lineage = {
    run = function()
      local here = current_session()
      if not here then
        return sessionls().notify('this buffer is no transcript', vim.log.levels.WARN)
      end
      require('sessionls.lineage').show(here)
    end,
  },
  host = {
    takes = function(rest)
      return not rest:find('%s') and require('sessionls.host_list').resolve(rest) ~= nil
    end,
    run = choose_host,
  },
  status = { run = show_status },
  clear = { run = clear },
  log = { run = open_log },
  enable = {
    run = function()
      set_policy(true)
    end,
  },
  disable = {
    run = function()
      set_policy(false)
    end,
  },
}

--- Runs :Sessions. A first word that is no subcommand, or that takes no query and has one, belongs to the query.
---@param args vim.api.keyset.create_user_command.command_args
function M.run(args)
  local line = vim.trim(args.args)
  local word, rest = line:match('^(%S+)%s*(.*)$')
  local subcommand = subcommands[word or '']
  if subcommand and (rest == '' or subcommand.takes_query or subcommand.takes and subcommand.takes(rest)) then
    return subcommand.run(rest, args)
  elseif line == '' and args.range > 0 then
    return search_selection(args)
  end
  sessionls().sessions({ query = line })
end

--- Words of the query language that complete by their beginning.
local operators = vim.split(
  'agent: branch: file: is:active is:automated is:continuation is:fork is:missing is:root is:subagent model: not: '
    .. 'path: repo: role:assistant role:tool role:user since: tool: until:',
  ' '
)

--- Completes subcommands in the first place, and operators in any.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local candidates = {}
  if line:match('^.-Sessions%s+host%s+%S*$') then
    candidates = vim.tbl_map(function(known)
      return known.host
    end, require('sessionls.host_list').known())
  elseif line:match('^.-Sessions%s+%S*$') then
    candidates = vim.tbl_keys(subcommands)
    table.sort(candidates)
  end
  vim.list_extend(candidates, operators)
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
