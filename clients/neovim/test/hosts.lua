--- Other hosts: homes of their own behind scripts, as environments of the configuration file and behind an ssh that is
--- none. To be made before the server starts.
local M = {}

---@param path string
---@param lines string[]
local function script(path, lines)
  vim.fn.writefile(vim.list_extend({ '#!/bin/sh' }, lines), path)
  vim.fn.setfperm(path, 'rwxr-xr-x')
end

---@class test.Hosts
---@field root string the folder of Claude Code on the host that can be searched
---@field log string what was started, a line each
---@field config string the configuration file of this machine

--- A home of this machine with a configuration that names other hosts:
---   runtime:box    can be searched, and has a terminal       runtime:bare  the same without a terminal
---   runtime:off    search is not switched on there           runtime:gone  its program is not there
---   runtime:hang   never answers                             runtime:slow  box, after a second
---   ssh:devbox     box, over ssh
---@return test.Hosts
function M.make()
  local folder = vim.fn.tempname()
  local home, bin, log = folder .. '/home', folder .. '/bin', folder .. '/log'
  local there = folder .. '/there'
  for _, path in ipairs({ home .. '/.ssh', bin, there .. '/.claude/projects', folder .. '/off' }) do
    vim.fn.mkdir(path, 'p')
  end
  local program = vim.fn.exepath('sessionls')
  local function machine(name, own)
    local environment = ("env -i PATH='%s' HOME='%s' SESSIONLS_HOME='%s/own'"):format(vim.env.PATH, own, own)
    script(bin .. '/' .. name, {
      ('echo %s >>"%s"'):format(name, log),
      ('exec %s "%s" "$@"'):format(environment, program),
    })
  end
  machine('box', there)
  machine('off', folder .. '/off')
  script(bin .. '/hang', { ('echo "hang $$" >>"%s"'):format(log), 'exec sleep 1000' })
  script(bin .. '/slow', { ('echo slow >>"%s"'):format(log), 'sleep 1', ('exec "%s/box" "$@"'):format(bin) })
  script(bin .. '/ssh', {
    'while [ "$1" != -- ]; do shift; done',
    '[ "$2" = devbox ] || { echo "ssh: Could not resolve hostname $2: Name or service not known" >&2; exit 255; }',
    ('exec "%s/box" serve'):format(bin),
  })
  script(bin .. '/claude', { 'echo "claude $* in $(pwd)"', 'sleep 100' })
  vim.fn.writefile({ 'Host *', '  User me', 'Host devbox' }, home .. '/.ssh/config')

  local config = folder .. '/sessionls/config.toml'
  vim.fn.mkdir(vim.fs.dirname(config), 'p')
  local lines = {}
  local function host(id, label, words, rest)
    vim.list_extend(lines, { ('[hosts.%s]'):format(id), ('label = "%s"'):format(label) })
    lines[#lines + 1] = ('command = ["%s"]'):format(table.concat(words, '", "'))
    lines[#lines + 1] = rest
  end
  host('box', 'Dev box', { bin .. '/box', 'serve' }, 'terminal = ["env"]')
  host('bare', 'Bare box', { bin .. '/box', 'serve' })
  host('off', 'Other box', { bin .. '/off', 'serve' })
  host('gone', 'Gone box', { bin .. '/not-there', 'serve' })
  host('hang', 'Hanging box', { bin .. '/hang' })
  host('slow', 'Slow box', { bin .. '/slow', 'serve' })
  vim.fn.writefile(lines, config)

  vim.env.HOME = home
  vim.env.XDG_CONFIG_HOME = folder
  vim.env.PATH = bin .. ':' .. vim.env.PATH
  vim.env.CLAUDE_CONFIG_DIR = nil
  return { root = there .. '/.claude', log = log, config = config }
end

--- Switches search on on the host that can be searched, and reads what is there.
function M.enable()
  for _, command in ipairs({ 'enable', 'index' }) do
    local ran = vim.system({ 'box', command }, { text = true }):wait()
    if ran.code ~= 0 then
      error(('box %s: %s'):format(command, ran.stderr), 2)
    end
  end
end

--- What was started so far, sorted out by its first word.
---@param hosts test.Hosts
---@return table<string, integer>
function M.started(hosts)
  local count = {}
  for _, line in ipairs(vim.fn.filereadable(hosts.log) == 1 and vim.fn.readfile(hosts.log) or {}) do
    local name = line:match('^%S+')
    count[name] = (count[name] or 0) + 1
  end
  return count
end

--- Whether a host that hangs is still being connected: whether a process of it lives.
---@param hosts test.Hosts
---@return boolean
function M.hanging(hosts)
  for _, line in ipairs(vim.fn.filereadable(hosts.log) == 1 and vim.fn.readfile(hosts.log) or {}) do
    local pid = tonumber(line:match('^hang (%d+)$'))
    if pid and vim.uv.kill(pid, 0) == 0 then
      return true
    end
  end
  return false
end

return M
