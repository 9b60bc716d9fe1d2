return function(t)
  local client = require('sessionls.client')
  local config = require('sessionls.config')
  local consent = require('sessionls.consent')
  local status = require('sessionls.status')
  local eq, it = t.eq, t.it

  local function ensure()
    return t.await(consent.ensure)
  end

  --- The process of the server, which is the only child of this one.
  local function server_pid()
    return vim.api.nvim_get_proc_children(vim.fn.getpid())[1]
  end

  it('a program that is not there is an error that tells what to do', function()
    config.set({ cmd = 'sessionls-that-is-not-there' })
    local err = t.await(function(callback)
      client.execute('searchStatus', nil, callback)
    end)
    t.has(err.message, 'sessionls-that-is-not-there cannot be run')
    config.set()
  end)

  it('wrong options are told and not used', function()
    require('sessionls').setup({ picker = 'dmenu', colour = 'red', keys = { opne = 'x' } })
    t.notified('there is no option colour')
    eq(config.get().picker, 'auto')
    require('sessionls').setup({ cmd = 'sessionls' })
    eq(config.get().cmd, { 'sessionls' })
  end)

  it('nothing runs until it is needed', function()
    eq(#vim.lsp.get_clients(), 0)
    eq(require('sessionls').statusline(), '')
  end)

  it('undecided, "Not now" keeps search off and is not asked twice', function()
    t.answer('Not now')
    local agreed, why = ensure()
    eq(agreed, false)
    t.has(why, ':Sessions enable')
    t.has(t.asked, 'Transcripts are only read')
    eq(t.ask('getPolicy').enabled, nil)
    t.asked = nil
    eq(ensure(), false)
    eq(t.asked, nil)
  end)

  it('a search without consent tells so', function()
    local err = t.await(function(callback)
      require('sessionls.source').sessions({}).fetch('tide', nil, callback)
    end)
    t.has(err, 'search is off')
  end)

  it('setup{ enabled = false } never asks', function()
    config.set({ enabled = false })
    t.answer('Yes')
    eq(ensure(), false)
    eq(t.asked, nil)
  end)

  it('setup{ enabled = true } is consent', function()
    local seen = {}
    vim.api.nvim_create_autocmd('LspProgress', {
      callback = function(args)
        seen[#seen + 1] = args.data and args.data.params and args.data.params.value.kind or args.data.result.value.kind
      end,
    })
    config.set({ enabled = true })
    eq(ensure(), true)
    eq(t.ask('getPolicy').enabled, true)
    t.wait(function()
      local now = status.get()
      return now and now.phase == 'current' and now.sessions > 0
    end, 'the index')
    t.has(require('sessionls').statusline(), 'sessions ' .. status.get().sessions)
    t.has(table.concat(status.describe(status.get()), '\n'), 'Claude Code')
  end)

  it('a search answers', function()
    local found = t.ask('searchSessions', { query = 'harbor tide table' })
    eq(found.kind, 'results')
    t.has(found.hits[1].evidence.snippet, '[[harbor tide table]]')
  end)

  it('errors of the server come back', function()
    local err = t.await(function(callback)
      client.execute('searchSessions', { query = 1 }, callback)
    end)
    eq(err.data.code, 'SESSION_QUERY_INVALID_QUERY')
    err = t.await(function(callback)
      client.execute('makeCoffee', nil, callback)
    end)
    t.has(err.message, 'does not know makeCoffee')
  end)

  it('what is cancelled never calls back', function()
    local called = false
    local cancel = client.execute('searchSessions', { query = 'tide', freshness = 'wait-until-current' }, function()
      called = true
    end)
    cancel()
    cancel()
    t.ask('searchStatus')
    eq(called, false)
  end)

  it('typing cancels the earlier request, and the last answer counts', function()
    local live = require('sessionls.live')
    local answers = {}
    local search
    search = live.new(require('sessionls.source').sessions({}), function()
      answers[#answers + 1] = search.query
    end)
    for _, query in ipairs({ 't', 'ti', 'tid', 'tide' }) do
      search:search(query)
    end
    t.wait(function()
      return answers[1]
    end, 'an answer')
    t.ask('searchStatus')
    eq(answers, { 'tide' })
    eq(search.page.total > 5, true)
  end)

  it('pages follow one another, and a stale one begins anew', function()
    config.set({ picker_options = { limit = 5 } })
    local answered = 0
    local search = require('sessionls.live').new(require('sessionls.source').sessions({}), function(err)
      eq(err, nil)
      answered = answered + 1
    end)
    local function after(run)
      local before = answered
      run()
      t.wait(function()
        return answered > before
      end, 'a page')
    end
    after(function()
      search:search('')
    end)
    eq(#search.items, 5)
    after(function()
      search:more()
    end)
    eq(#search.items, 10)
    local ids = {}
    for _, item in ipairs(search.items) do
      ids[item.agent .. item.sessionId] = true
    end
    eq(vim.tbl_count(ids), 10)
    t.ask('clear') -- moves the generation
    after(function()
      search:more()
    end)
    eq(#search.items <= 5, true, 'the first page')
    t.wait(function()
      return status.get().phase == 'current'
    end, 'the new index')
    config.set({})
  end)

  it('a server that is killed during a search fails it, and the next search has a new one', function()
    local pid = server_pid()
    eq(pid ~= nil, true)
    vim.uv.kill(pid, 'sigstop')
    local err
    client.execute('searchSessions', { query = 'tide' }, function(failure)
      err = failure
    end)
    vim.uv.kill(pid, 'sigkill')
    t.wait(function()
      return err
    end, 'the error')
    eq(err.code, 'ended')
    t.has(err.message, 'signal 9')
    eq(status.get(), nil)
    eq(t.ask('searchSessions', { query = 'tide' }).kind, 'results')
    eq(server_pid() ~= pid, true)
  end)

  it('disabled stays disabled', function()
    vim.cmd('Sessions disable')
    t.notified('search is off')
    config.set({ enabled = true })
    local agreed, why = ensure()
    eq(agreed, false)
    t.has(why, ':Sessions enable')
    vim.cmd('Sessions enable')
    t.notified('search is on')
    eq(ensure(), true)
  end)
end
