return function(t)
  local command = require('sessionls.command')
  local eq, it = t.eq, t.it

  --- Runs :Sessions and returns what it would search for.
  local function searched(line)
    local got
    local sessions = require('sessionls').sessions
    require('sessionls').sessions = function(opts)
      got = opts
    end
    local ok, err = pcall(vim.cmd, line)
    require('sessionls').sessions = sessions
    if not ok then
      error(err, 2)
    end
    return got
  end

  it('nothing of the plugin is loaded until it is used', function()
    local loaded = vim
      .system({
        vim.v.progpath,
        '--clean',
        '--headless',
        '--cmd',
        'set runtimepath^=' .. t.root,
        '-c',
        [[lua io.stdout:write(vim.fn.exists(':Sessions'), ' ', #vim.tbl_filter(function(name)
        return vim.startswith(name, 'sessionls')
      end, vim.tbl_keys(package.loaded)), ' ', #vim.lsp.get_clients())]],
        '-c',
        'quitall!',
      }, { text = true })
      :wait()
    eq(loaded.stdout, '2 0 0', loaded.stderr)
  end)

  it('a subcommand, or a query', function()
    eq(searched('Sessions'), { query = '' })
    eq(searched('Sessions tide table'), { query = 'tide table' })
    eq(searched('Sessions here tide'), { query = 'tide', scope = 'here' })
    eq(searched('Sessions all'), { query = '', scope = 'all' })
    eq(searched('Sessions newest').filters, { sort = 'newest' })
    eq(searched('Sessions resume').default, 'resume')
    eq(searched('Sessions status code 500'), { query = 'status code 500' })
    eq(searched('Sessions all status'), { query = 'status', scope = 'all' })
    eq(searched([[Sessions "exact phrase" | x %]]), { query = [["exact phrase" | x %]] })
  end)

  it('the selection, lines, or the word', function()
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'alpha beta gamma', 'delta  epsilon' })
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    vim.cmd('normal! wve\27')
    eq(searched("'<,'>Sessions selection"), { query = 'beta' })
    vim.cmd('normal! gg0wvj2l\27')
    eq(searched("'<,'>Sessions"), { query = 'beta gamma delta ep' })
    eq(searched('1Sessions selection'), { query = 'alpha beta gamma' })
    vim.api.nvim_win_set_cursor(0, { 1, 12 })
    eq(searched('Sessions selection'), { query = 'gamma' })
  end)

  it('the file, by its path and its place in the repository', function()
    local root = vim.fn.resolve(vim.fn.tempname())
    vim.fn.mkdir(root .. '/.git', 'p')
    vim.fn.mkdir(root .. '/src', 'p')
    vim.cmd.edit(root .. '/src/lamp.go')
    local got = searched('Sessions file')
    eq(got.filters, { files = { root .. '/src/lamp.go', 'src/lamp.go' }, sort = 'newest' })
    t.has(got.title, 'lamp.go')
    vim.cmd.edit(root .. '/README.md')
    eq(searched('Sessions file').filters.files, { root .. '/README.md' })
    vim.cmd('enew!')
    eq(searched('Sessions file'), nil)
    t.notified('no file')
  end)

  it('completes subcommands first, operators everywhere', function()
    eq(command.complete('he', 'Sessions he'), { 'here' })
    eq(command.complete('is:f', 'Sessions here is:f'), { 'is:fork' })
    eq(command.complete('he', 'Sessions tide he'), {})
    eq(vim.tbl_contains(vim.fn.getcompletion('Sessions ', 'cmdline'), 'resume'), true)
  end)

  it('the log is where the server writes it', function()
    t.agree()
    vim.cmd('Sessions log')
    t.wait(function()
      return vim.api.nvim_buf_get_name(0) == vim.uv.fs_realpath(command.log_path())
        or vim.api.nvim_buf_get_name(0) == command.log_path()
    end, 'the log')
    eq(vim.bo.readonly, true)
    vim.cmd.bwipeout()
  end)

  it('status, clear', function()
    vim.cmd('Sessions status')
    t.notified('Claude Code')
    t.answer('Cancel')
    local identity = t.ask('searchStatus').identity
    vim.cmd('Sessions clear')
    eq(t.ask('searchStatus').identity, identity)
    t.answer('Delete the index')
    vim.cmd('Sessions clear')
    t.notified('was deleted')
    t.has(t.asked, 'Transcripts are not touched')
    eq(t.ask('searchStatus').identity ~= identity, true)
  end)

  it('the status component has no sign that a status line interprets', function()
    t.wait(function()
      return require('sessionls').statusline():match('^sessions %d+$')
    end, 'the component')
    vim.o.statusline = "%{v:lua.require'sessionls'.statusline()}"
    t.has(vim.api.nvim_eval_statusline(vim.o.statusline, {}).str, 'sessions ')
    local set = require('sessionls.status').set
    local status = vim.deepcopy(require('sessionls.status').get())
    status.phase = 'indexing'
    status.progress = { filesDone = 3, filesTotal = 9, bytesDone = 1, bytesTotal = 2 }
    set(status)
    eq(require('sessionls').statusline(), 'sessions 3/9')
    set(nil)
    eq(require('sessionls').statusline(), '')
  end)

  it('the first build of an index is LspProgress', function()
    local kinds = {}
    vim.api.nvim_create_autocmd('LspProgress', {
      callback = function(args)
        local value = (args.data.params or args.data.result).value
        kinds[#kinds + 1] = value.kind
        if value.kind == 'begin' then
          eq(value.title, 'Indexing agent sessions')
        end
      end,
    })
    local root = vim.fn.tempname()
    vim.fn.mkdir(root .. '/projects/-p', 'p')
    local corpus = dofile(t.root .. '/test/corpus.lua')
    local session = corpus.begin(root, '11111111-2222-4333-8444-555555555555', '/p')
    local text = ('the lamp turns and the horn calls '):rep(300)
    for i = 1, 300 do
      corpus.say(session, 'user', i .. text)
    end
    require('sessionls.client').stop()
    t.wait(function()
      return #vim.lsp.get_clients({ name = 'sessionls' }) == 0
    end, 'the end of the server')
    vim.env.CLAUDE_CONFIG_DIR = root
    vim.env.SESSIONLS_HOME = vim.fn.tempname()
    t.agree()
    -- A build may be over before the client has agreed to be told of it; then another one is told.
    for _ = 1, 50 do
      if kinds[#kinds] == 'end' then
        break
      end
      t.ask('clear')
      vim.wait(200, function()
        return kinds[#kinds] == 'end'
      end)
    end
    eq(kinds[#kinds], 'end')
    eq(kinds[1], 'begin')
  end)
end
