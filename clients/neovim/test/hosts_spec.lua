return function(t)
  local builtin = require('sessionls.picker.builtin')
  local client = require('sessionls.client')
  local config = require('sessionls.config')
  local corpus = dofile(t.root .. '/test/corpus.lua')
  local host = require('sessionls.host')
  local list = require('sessionls.host_list')
  local others = dofile(t.root .. '/test/hosts.lua')
  local source = require('sessionls.source')
  local transcript = require('sessionls.transcript')
  local eq, it = t.eq, t.it

  vim.o.columns, vim.o.lines = 140, 40
  local made = others.make()
  local project = vim.fn.resolve(vim.fn.tempname()) .. '/lighthouse'
  vim.fn.mkdir(project .. '/.git', 'p')
  vim.fn.writefile({ 'one' }, project .. '/lamp.go')
  local lens = corpus.begin(made.root, '11111111-2222-4333-8444-555555555555', project)
  corpus.say(lens, 'user', 'polish the fresnel lens in lamp.go')
  corpus.say(lens, 'assistant', 'The lens is polished.')
  for i = 1, 12 do
    local one = corpus.begin(made.root, ('22222222-2222-4333-8444-5555555555%02d'):format(i), '/srv/elsewhere')
    corpus.say(one, 'user', 'foghorn number ' .. i)
    corpus.age(one)
  end
  others.enable()

  --- What was asked of the server: the host by the command, "" for none.
  local asked = {}
  local execute = client.execute
  client.execute = function(command, args, callback)
    asked[command] = asked[command] or {}
    asked[command][args and args.executionHost or ''] = true
    return execute(command, args, callback)
  end

  --- Searches a host, and returns what the picker would show.
  local function search(name, query, opts)
    local what = source.sessions(vim.tbl_extend('force', { host = name }, opts or {}))
    local err, page = t.await(function(callback)
      what.fetch(query, nil, callback)
    end)
    return err, page, what
  end

  local function hit(query)
    local err, page = search('runtime:box', query or 'fresnel lens')
    eq(err, nil)
    return page.items[1]
  end

  local function floats()
    return vim.tbl_filter(function(winid)
      return vim.api.nvim_win_get_config(winid).relative ~= ''
    end, vim.api.nvim_list_wins())
  end

  --- The windows of the built-in picker: its title, and the lines of its list.
  local function picker()
    local title, lines = '', {}
    for _, winid in ipairs(floats()) do
      local shape = vim.api.nvim_win_get_config(winid)
      if type(shape.border) == 'table' and shape.border[1] == '├' then
        lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(winid), 0, -1, false)
      elseif shape.title and type(shape.border) == 'table' and shape.border[7] == '' then
        title = shape.title[1][1]
      end
    end
    return vim.trim(title), table.concat(lines, '\n')
  end

  local function shows(part)
    local ok = pcall(t.wait, function()
      local _, lines = picker()
      return lines:find(part, 1, true)
    end, part)
    if not ok then
      error(('never in the list: %s\n%s'):format(part, select(2, picker())), 2)
    end
  end

  local function press(keys)
    vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
  end

  --- The choices of the last question for a host.
  local choices
  local function answer(part)
    vim.ui.select = function(items, opts, callback)
      choices = vim.tbl_map(opts.format_item or tostring, items)
      t.asked = opts.prompt
      for i, choice in ipairs(choices) do
        if part and choice:find(part, 1, true) then
          return callback(items[i], i)
        end
      end
      callback(nil, nil)
    end
  end

  it('names of hosts are those of the contract', function()
    for _, name in ipairs({
      'local',
      'ssh:box',
      'ssh:me@box.example:22',
      'ssh:a[::1]',
      'runtime:dev/Ü',
      'ssh:fe80::1%eth0',
    }) do
      eq(host.valid(name), true, name)
    end
    local wrong = { '', 'all', 'box', 'ssh:', 'ssh:-oProxyCommand=x', 'ssh:a b', 'ssh:a;b', 'runtime:', 'runtime:a b' }
    vim.list_extend(wrong, { 'runtime:a\27b', 'ssh:' .. ('x'):rep(256), 7, false })
    for _, name in ipairs(wrong) do
      eq(host.valid(name), false, tostring(name))
    end
    eq(config.set({ host = 'box' }), { host.rule })
    eq(config.set({ host = 'runtime:box' }), {})
    eq(host.current(), 'runtime:box')
    config.set({})
    eq(host.current(), 'local')
  end)

  it('lists this machine, the configuration and ssh, and asks none of them', function()
    local err, known, warnings = t.await(list.list)
    eq({ err, warnings }, { nil, {} })
    local names = vim.tbl_map(function(one)
      return one.host
    end, known)
    eq(names[1], 'local')
    eq(names[#names], 'ssh:devbox')
    eq(#names, 8)
    eq(known[3].label, 'Dev box')
    eq(others.started(made).hang, nil)
    eq(#vim.lsp.get_clients(), 0)
  end)

  it('a fault in the configuration is told, and this machine stays', function()
    local lines = vim.fn.readfile(made.config)
    vim.fn.writefile(vim.list_extend({ '[hosts.mute]', 'label = "no command"' }, lines), made.config)
    local err, known, warnings = t.await(list.list)
    eq({ err, #known }, { nil, 8 })
    t.has(warnings[1], 'hosts.mute has no command')
    vim.fn.writefile({ 'hosts = 1' }, made.config)
    err, known = t.await(list.list)
    t.has(err, 'hosts must be a table')
    eq(#known, 1)
    vim.fn.writefile(lines, made.config)
    t.await(list.list)
  end)

  it('completes, and takes the name of a host only', function()
    local names = require('sessionls.command').complete('runtime:b', 'Sessions host runtime:b')
    eq(names, { 'runtime:bare', 'runtime:box' })
    local got
    local sessions = require('sessionls').sessions
    require('sessionls').sessions = function(opts)
      got = opts.query
    end
    vim.cmd('Sessions host key verification')
    eq(got, 'host key verification')
    vim.cmd('Sessions host nowhere-to-be-found')
    eq(got, 'host nowhere-to-be-found')
    require('sessionls').sessions = sessions
    eq(host.current(), 'local')
  end)

  it('another host is searched without a word about this machine', function()
    answer('Yes')
    t.asked = nil
    local err, page, what = search('runtime:box', 'fresnel lens')
    eq(err, nil)
    eq(what.title, 'Sessions · runtime:box')
    eq(page.items[1].executionHostId, 'runtime:box')
    eq(page.items[1].sessionId, lens.id)
    local row = require('sessionls.format').row(page.items[1], 70)
    t.has(row.text, '@box claude lighthouse')
    t.has(require('sessionls.format').flat(page.items[1]), '@box')
    t.has(require('sessionls.format').plain(require('sessionls.picker.adapter').row(page.items[1])), '@box')
    eq(asked.getPolicy, nil)
    eq(t.asked, nil)
    eq(t.ask('getPolicy').enabled, nil)
  end)

  it('pages go on there', function()
    config.set({ picker_options = { limit = 5 } })
    local answers = 0
    local live = require('sessionls.live').new(source.sessions({ host = 'runtime:box' }), function(err)
      eq(err, nil)
      answers = answers + 1
    end)
    live:search('foghorn')
    t.wait(function()
      return answers == 1
    end, 'the first page')
    live:more()
    t.wait(function()
      return answers == 2
    end, 'the second page')
    eq(#live.items, 10)
    eq(live.items[10].executionHostId, 'runtime:box')
    config.set({})
  end)

  it('"here" is the project by its name, and what is not understood is underlined where it stands', function()
    vim.cmd.cd(project)
    local err, page, what = search('runtime:box', '', { scope = 'here' })
    eq({ err, what.title, page.total }, { nil, 'Sessions · runtime:box · lighthouse', 1 })
    err, page = search('runtime:box', 'is:nothing lens', { scope = 'here' })
    eq(err, nil)
    eq({ page.diagnostics[1].start, page.diagnostics[1]['end'] <= 10 }, { 0, true })
    err, page = search('runtime:box', '"lens', { scope = 'here' })
    eq({ err, page.total }, { nil, 1 })
    eq(page.items[1].query, '"lens')
    vim.cmd.cd('/')
    err, page, what = search('runtime:box', '', { scope = 'here' })
    eq(err, nil)
    eq({ what.title, page.total }, { 'Sessions · runtime:box · here', 13 })
  end)

  it('a host that is not there, not switched on, or not known says what to do, in the words of the server', function()
    t.has(search('runtime:gone', 'x'), 'is it installed on this machine?')
    eq(host.words('runtime:gone'), 'no answer')
    t.has(search('runtime:off', 'x'), 'its user decides, with `sessionls enable` in off')
    t.has(search('ssh:nowhere', 'x'), 'ssh does not know this host')
    t.has(search('runtime:none', 'x'), 'is not in the configuration file')
    eq(host.words('runtime:off'), 'not switched on')
    eq(host.words('runtime:box'), '13 sessions')
    eq(host.words('runtime:hang'), '')
  end)

  it('in the picker the reason is whole, however long', function()
    builtin.open(source.sessions({ host = 'runtime:gone', query = 'x' }))
    t.wait(function()
      local title, lines = picker()
      return title == 'Sessions · runtime:gone'
        and lines:gsub('%s+', ' '):find('is it installed on this machine?', 1, true)
    end, 'the reason')
    press('q')
  end)

  it('while a host is connected that is shown, typing does not begin anew, and closing gives it up', function()
    builtin.open(source.sessions({ host = 'runtime:hang' }))
    shows('connecting to runtime:hang …')
    local prompt = vim.api.nvim_get_current_buf()
    for _, query in ipairs({ 'f', 'fr', 'fre' }) do
      vim.api.nvim_buf_set_lines(prompt, 0, -1, false, { query })
      vim.api.nvim_exec_autocmds('TextChangedI', { buffer = prompt })
      vim.wait(100)
    end
    t.wait(function()
      return others.hanging(made)
    end, 'the connection')
    eq(others.started(made).hang, 1)
    shows('connecting to runtime:hang …')
    t.ask('searchStatus') -- this machine answers meanwhile
    press('<C-c>')
    eq(#floats(), 0)
    t.wait(function()
      return not others.hanging(made)
    end, 'the end of the connection')
    eq(host.connecting('runtime:hang'), false)
  end)

  it('what was typed meanwhile is found when the host answers', function()
    builtin.open(source.sessions({ host = 'runtime:slow' }))
    shows('connecting to runtime:slow …')
    local prompt = vim.api.nvim_get_current_buf()
    vim.api.nvim_buf_set_lines(prompt, 0, -1, false, { 'fresnel' })
    vim.api.nvim_exec_autocmds('TextChangedI', { buffer = prompt })
    shows('polish the fresnel lens')
    eq(others.started(made).slow, 1)
    press('q')
  end)

  it('a key of the picker chooses the host, keeps what was typed, and comes back', function()
    host.set('local')
    t.agree()
    answer('Dev box  runtime:box')
    builtin.open(source.sessions({ query = 'fresnel', host = 'local' }))
    eq(picker(), 'Sessions')
    press('<C-e>')
    t.wait(function()
      return picker() == 'Sessions · runtime:box'
    end, 'the picker of the host')
    shows('@box claude')
    eq(host.current(), 'runtime:box')
    t.has(choices[1], '● this machine')
    t.has(choices[3], 'Dev box  runtime:box')
    t.has(choices[3], '13 sessions')
    t.has(choices[7], 'Slow box')
    t.has(choices[8], 'ssh:devbox')
    t.has(choices[9], 'another host that ssh reaches')
    answer(nil)
    press('<C-e>')
    t.wait(function()
      return picker() == 'Sessions · runtime:box'
    end, 'the same picker')
    shows('polish the fresnel lens')
    answer('this machine')
    press('<C-e>')
    t.wait(function()
      return picker() == 'Sessions'
    end, 'the picker of this machine')
    shows('No session found')
    press('q')
    eq(host.current(), 'local')
  end)

  it('a typed name is taken if it is one', function()
    local words = { 'devbox', 'a b' }
    vim.ui.input = function(opts, callback)
      t.has(opts.prompt, 'ssh')
      callback(table.remove(words, 1))
    end
    answer('another host')
    local got = t.await(function(callback)
      list.choose('local', callback)
    end)
    eq(got, 'ssh:devbox')
    eq(
      t.await(function(callback)
        list.choose('local', callback)
      end),
      nil
    )
    t.notified('a b is no host')
    local err, page = search('ssh:devbox', 'fresnel')
    eq({ err, page.items[1].executionHostId }, { nil, 'ssh:devbox' })
  end)

  it('asks how they stand on demand, without waiting for those that hang', function()
    local shown = 0
    vim.ui.select = function(items, opts, callback)
      choices = vim.tbl_map(opts.format_item, items)
      shown = shown + 1
      if shown == 1 then
        return callback(items[#items], #items)
      end
      callback(nil, nil)
    end
    t.has(
      t.await(function(callback)
        list.choose('local', function(name)
          callback(name or 'none')
        end)
      end),
      'none'
    )
    eq(shown, 2)
    local all = table.concat(choices, '\n')
    for _, part in ipairs({
      'Dev box.*13 sessions',
      'Gone box.*no answer',
      'Hanging box.*connecting',
      'not switched on',
    }) do
      eq(all:find(part) ~= nil, true, part .. ' in\n' .. all)
    end
    t.wait(function()
      return not others.hanging(made)
    end, 'the end of the connection')
  end)

  it(':Sessions host tells whether the host answers, and <C-c> gives up', function()
    vim.cmd('Sessions host box')
    t.notified('the sessions of runtime:box are searched now')
    t.notified('runtime:box: 13 sessions')
    vim.cmd('Sessions host runtime:off')
    t.notified('not switched on on runtime:off')
    vim.cmd('Sessions host runtime:hang')
    t.wait(function()
      return others.hanging(made)
    end, 'the connection')
    press('<C-c>')
    t.notified('runtime:hang is not asked any more')
    t.wait(function()
      return not others.hanging(made)
    end, 'the end of the connection')
    vim.cmd('Sessions host local')
    t.notified('the sessions of this machine are searched now')
  end)

  it('the status line and :Sessions status tell of the host', function()
    host.set('runtime:box')
    eq(require('sessionls').statusline(), 'sessions runtime:box 13')
    vim.cmd('Sessions status')
    t.notified('runtime:box:\n13 sessions')
    host.set('ssh:fe80::1%eth0')
    eq(require('sessionls').statusline(), 'sessions ssh:fe80::1~eth0')
    host.set('runtime:off')
    vim.cmd('Sessions status')
    t.notified('not switched on on runtime:off')
    host.set('local')
    t.has(require('sessionls').statusline(), 'sessions 0')
  end)

  it('a transcript of the host is as one of this machine, whatever is chosen by then', function()
    transcript.open(hit(), 'edit')
    host.set('runtime:gone')
    eq(vim.api.nvim_buf_get_name(0), ('sessionls://session/runtime%%3Abox/claude/%s.md'):format(lens.id))
    t.wait(function()
      return #transcript.document().hits > 0
    end, 'the hits')
    t.has(vim.api.nvim_get_current_line(), 'fresnel')
    eq(vim.b.sessionls.host, 'runtime:box')
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    press(']s')
    t.has(vim.api.nvim_get_current_line(), 'lens')
    t.notices()
    vim.cmd('Sessions lineage')
    t.notified('no relatives')
    vim.fn.search('lamp.go')
    press('gf')
    t.notified('this file is on runtime:box, not here')
    eq(vim.bo.filetype, 'sessionls')
    vim.cmd.edit()
    t.wait(function()
      return transcript.document().loaded
    end, 'the transcript')
    local marks = vim.api.nvim_buf_get_extmarks(0, -1, 0, 0, { details = true })
    t.has(vim.inspect(marks), '" runtime:box"')
    host.set('local')
  end)

  it('it grows while its session goes on', function()
    eq(transcript.document().header.active, true)
    corpus.say(lens, 'user', 'now oil the hinges')
    t.wait(function()
      return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('oil the hinges', 1, true)
    end, 'the new line')
    vim.cmd.bwipeout()
  end)

  it('a transcript of a host that hangs blocks nothing, and is given up', function()
    local name = require('sessionls.uri').of({
      agent = 'claude',
      sessionId = lens.id,
      executionHostId = 'runtime:hang',
    })
    vim.cmd.edit({ args = { name }, magic = { file = false } })
    eq(vim.api.nvim_buf_get_lines(0, 0, -1, false), { '> connecting to runtime:hang … <C-c> gives up' })
    t.wait(function()
      return others.hanging(made)
    end, 'the connection')
    press('<C-c>')
    t.has(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1], 'given up')
    t.wait(function()
      return not others.hanging(made)
    end, 'the end of the connection')
    vim.cmd.bwipeout()
  end)

  it('a quickfix entry of a host that is not connected yet leads to its line all the same', function()
    local item = hit()
    item.executionHostId = 'runtime:slow'
    client.stop()
    t.wait(function()
      return #vim.lsp.get_clients({ name = 'sessionls' }) == 0
    end, 'the end of the server')
    eq(host.reached('runtime:slow'), false)
    local name = require('sessionls.uri').of(item)
    vim.fn.setqflist({ { filename = name, lnum = 9, text = 'x' } })
    vim.cmd.cfirst()
    t.wait(function()
      return transcript.document() and transcript.document().loaded
    end, 'the transcript')
    eq(vim.api.nvim_win_get_cursor(0)[1], 9)
    vim.cmd.bwipeout()
  end)

  it('events, relatives and previews are asked of the host of the session', function()
    local item = hit()
    local err, page = t.await(function(callback)
      source.events(item, 'lens').fetch('lens', nil, callback)
    end)
    eq({ err, page.total, page.items[1].executionHostId }, { nil, 2, 'runtime:box' })
    t.has(source.events(item).title, '· runtime:box')
    local bufnr = vim.api.nvim_create_buf(false, true)
    require('sessionls.preview').new():show(item, bufnr, vim.api.nvim_get_current_win())
    t.wait(function()
      return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n'):find('fresnel', 1, true)
    end, 'the preview')
    local found = t.await(function(callback)
      require('sessionls.lines').locate({ hit('"is polished"') }, callback)
    end)
    eq(found[1] > 1, true)
  end)

  it('resumes there, in a terminal here', function()
    answer(nil)
    require('sessionls.actions').run('resume', hit(), {})
    t.wait(function()
      return vim.bo.buftype == 'terminal'
    end, 'the terminal')
    local said = ('claude --resume %s in %s'):format(lens.id, project)
    t.wait(function()
      return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), ''):find(said, 1, true)
    end, said)
    vim.cmd.bwipeout({ bang = true })
  end)

  it('without a terminal there it says so and offers what can be taken along', function()
    local item = hit()
    item.executionHostId = 'runtime:bare'
    answer('Copy the session id')
    t.asked = nil
    require('sessionls.actions').run('resume', item, {})
    t.wait(function()
      return t.asked
    end, 'the offer')
    t.has(t.asked, 'hosts.bare.terminal')
    eq(vim.fn.getreg('"'), lens.id)
    local said
    require('sessionls.actions').get('yank_command').run(item, {}, function(message)
      said = message
    end)
    t.wait(function()
      return said
    end, 'the reason')
    t.has(said, 'hosts.bare.terminal')
    item.executionHostId = 'runtime:box'
    require('sessionls.actions').get('yank_command').run(item, {}, function() end)
    t.wait(function()
      return vim.fn.getreg('"'):find('^env sh %-c ')
    end, 'the command')
  end)

  it('vim.ui.select() has the host in its title, and <C-c> gives up', function()
    require('sessionls').setup({ picker = 'select', host = 'runtime:box' })
    host.set('runtime:box')
    answer('polish the fresnel lens')
    vim.cmd('Sessions fresnel')
    t.wait(function()
      return vim.api.nvim_buf_get_name(0):find(lens.id, 1, true)
    end, 'the transcript')
    eq(t.asked, 'Sessions · runtime:box')
    vim.cmd.bwipeout()
    host.set('runtime:hang')
    vim.cmd('Sessions fresnel')
    t.wait(function()
      return others.hanging(made)
    end, 'the connection')
    press('<C-c>')
    t.notified('runtime:hang is not asked any more')
    t.wait(function()
      return not others.hanging(made)
    end, 'the end of the connection')
    require('sessionls').setup({})
    host.set('local')
  end)

  it('fzf-lua, snacks and mini.pick choose the host with the same key', function()
    answer('runtime:box')
    local opened
    require('sessionls.picker').open = function(other)
      opened = other
    end
    local adapter = require('sessionls.picker.adapter')
    adapter.run('host', source.sessions({ host = 'local' }), nil, {}, 'lens')
    t.wait(function()
      return opened
    end, 'the picker')
    eq({ opened.title, opened.query, opened.host }, { 'Sessions · runtime:box', 'lens', 'runtime:box' })
    opened = nil
    adapter.run('host', source.events(hit(), ''), nil, {}, 'lens')
    t.notified('of one host')
    eq({ opened.title:find('In: ', 1, true), opened.query }, { 1, 'lens' })
    package.loaded['sessionls.picker'] = nil
    local keys = {}
    adapter.each_key(function(name, key)
      keys[name] = key
    end)
    eq(keys.host, '<C-e>')
    t.notices()
    adapter.announce(source.sessions({ host = 'runtime:box' }))
    adapter.announce(source.sessions({ host = 'runtime:hang' }))
    t.notified('connecting to runtime:hang')
    host.set('local')
  end)

  it('index, consent and policy are of this machine, and their messages say so', function()
    host.set('runtime:box')
    answer('Delete the index')
    vim.cmd('Sessions clear')
    t.notified('the index of this machine was deleted')
    t.has(t.asked, 'delete the index of this machine?')
    vim.cmd('Sessions disable')
    t.notified('search is off on this machine')
    local err, page = search('runtime:box', 'fresnel')
    eq({ err, page.total }, { nil, 1 })
    vim.cmd('Sessions enable')
    t.notified('search is on on this machine')
    for _, command in ipairs({ 'clear', 'getPolicy', 'setPolicy' }) do
      eq(vim.tbl_keys(asked[command]), { '' }, command)
    end
    eq(asked.forgetSession, nil)
    for _, command in ipairs({ 'searchSessions', 'searchEvents', 'renderTranscript', 'resumePlan', 'traceSession' }) do
      eq(asked[command]['runtime:box'], true, command)
    end
    host.set('local')
  end)

  it('a Lua function tells and changes it', function()
    eq(require('sessionls').host(), 'local')
    eq(require('sessionls').host('runtime:box'), 'runtime:box')
    eq(pcall(require('sessionls').host, 'box'), false)
    eq(require('sessionls').host('local'), 'local')
  end)
end
