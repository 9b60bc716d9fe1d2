return function(t)
  local corpus = dofile(t.root .. '/test/corpus.lua')
  local host = require('sessionls.host')
  local others = dofile(t.root .. '/test/hosts.lua')
  local it = t.it

  local made = others.make()
  for i = 1, 3 do
    local one = corpus.begin(made.root, ('22222222-2222-4333-8444-5555555555%02d'):format(i), '/srv/elsewhere')
    corpus.say(one, 'user', 'foghorn number ' .. i)
  end
  others.enable()
  t.agree()

  it(':checkhealth lists the hosts and asks the chosen one', function()
    local function health()
      vim.cmd('checkhealth sessionls')
      local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
      vim.cmd.bwipeout({ bang = true })
      return text
    end
    local text = health()
    t.has(text, 'ssh:devbox (~/.ssh/config)')
    t.has(text, 'runtime:hang (configuration file)')
    t.has(text, 'the sessions of this machine are searched')
    host.set('runtime:box')
    t.has(health(), 'the sessions of runtime:box are searched: 3')
    host.set('runtime:gone')
    t.has(health(), 'is it installed on this machine?')
    host.set('local')
  end)
end
