-- Helix runs the server and lists its commands. The recipe is in the README of the client.
return function(t)
  local tmux = dofile(t.root .. '/test/tmux.lua')

  t.it('Helix starts the server, lists its commands and runs one', function()
    local config = vim.env.XDG_CONFIG_HOME .. '/helix'
    vim.fn.mkdir(config, 'p')
    vim.fn.writefile({
      '[language-server.sessionls]',
      'command = "sessionls"',
      '',
      '[[language]]',
      'name = "markdown"',
      'language-servers = ["sessionls"]',
    }, config .. '/languages.toml')
    local notes = vim.fn.tempname() .. '.md'
    vim.fn.writefile({ '# notes of the test' }, notes)
    t.ask('setPolicy', { enabled = true })
    t.ask('searchSessions', { query = 'harbor', freshness = 'wait-until-current' })
    local log = vim.fn.tempname()
    local program = vim.env.SESSIONLS_TOOLS .. '/helix/usr/bin/hx'
    tmux.run(t, { columns = 100, lines = 24 }, { program, '-vvv', '--log', log, notes }, function(terminal)
      terminal:wait('notes of the test')
      -- The picker is empty until the server has answered initialize.
      for _ = 1, 40 do
        terminal:keys(':lsp-workspace-command', 'Enter')
        vim.uv.sleep(250)
        if terminal:screen():find('sessionls.searchSessions', 1, true) then
          break
        end
        terminal:keys('Escape', 'Escape')
      end
      terminal:wait('sessionls.searchSessions', 'sessionls.clear')
      terminal:keys('Escape')
      terminal:gone('sessionls.clear')
      terminal:keys(':lsp-workspace-command sessionls.searchSessions {"query":"harbor"}', 'Enter')
      -- Helix shows no answer of a command, but writes it into its log.
      t.wait(function()
        local file = io.open(log)
        local text = file and file:read('*a') or ''
        if file then
          file:close()
        end
        return text:find('"kind":"results"', 1, true) and text:find('tide DST fix', 1, true)
      end, 'the answer in the log')
    end)
  end)
end
