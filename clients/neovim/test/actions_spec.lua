return function(t)
  local actions = require('sessionls.actions')
  local corpus = dofile(t.root .. '/test/corpus.lua')
  local resume = require('sessionls.resume')
  local eq, it = t.eq, t.it

  local project = vim.fn.resolve(vim.fn.tempname()) .. '/lighthouse'
  vim.fn.mkdir(project, 'p')
  local root = corpus.root()
  local parent = corpus.begin(root, '11111111-2222-4333-8444-555555555555', project)
  corpus.say(parent, 'user', 'polish the fresnel lens')
  corpus.say(parent, 'assistant', 'The lens is polished.')
  local gone = corpus.begin(root, '22222222-2222-4333-8444-555555555555', project .. '/gone')
  corpus.say(gone, 'user', 'replace the cracked windowpane')

  corpus.age(parent)
  corpus.age(gone)

  -- The agent, as far as the test needs one: it tells how it was called.
  local bin = vim.fn.tempname()
  vim.fn.mkdir(bin, 'p')
  vim.fn.writefile({ '#!/bin/sh', 'echo "claude $* in $(pwd)"', 'sleep 100' }, bin .. '/claude')
  vim.fn.setfperm(bin .. '/claude', 'rwxr-xr-x')
  vim.env.PATH = bin .. ':' .. vim.env.PATH

  t.agree()

  local function hit(query)
    local found = t.ask('searchSessions', { query = query, freshness = 'wait-until-current' })
    found.hits[1].query = query
    return found.hits[1]
  end

  it('every key of the picker has an action, and every action a description', function()
    for name in pairs(require('sessionls.config').get().keys) do
      eq(type(actions.get(name).desc), 'string', name)
      eq(name == 'open' or actions.get(name) ~= actions.get('open'), true, name)
    end
    eq(#actions.help(), #actions.names())
  end)

  it('yanks the id, and the command that resumes', function()
    local item = hit('fresnel lens')
    local said
    actions.get('yank_id').run(item, {}, function(message)
      said = message
    end)
    eq(vim.fn.getreg('"'), parent.id)
    t.has(said, parent.id)
    actions.get('yank_command').run(item, {}, function() end)
    t.wait(function()
      return vim.fn.getreg('"') == 'claude --resume ' .. parent.id
    end, 'the command')
  end)

  it('resumes in a terminal, in the folder of the session', function()
    actions.get('resume').run(hit('fresnel lens'), {}, function() end)
    t.wait(function()
      return vim.bo.buftype == 'terminal'
    end, 'the terminal')
    local text = ('claude --resume %s in %s'):format(parent.id, project)
    t.wait(function()
      return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), ''):find(text, 1, true)
    end, text)
    eq(vim.b.sessionls_session, parent.id)
    vim.cmd.bwipeout({ bang = true })
  end)

  it('asks when the folder is gone', function()
    t.answer('Cancel')
    local buffers = #vim.api.nvim_list_bufs()
    resume.run(hit('cracked windowpane'))
    t.wait(function()
      return t.asked and t.asked:find('gone', 1, true)
    end, 'the question')
    eq(#vim.api.nvim_list_bufs(), buffers)
  end)

  it('an agent without a command line is told', function()
    local found = t.ask('searchSessions', { query = 'agent:copilot' })
    eq(#found.hits > 0, true)
    local item = vim.tbl_extend('force', found.hits[1], { agent = 'vscode', sessionId = 'none' })
    resume.run(item)
    t.notified('no session is named')
  end)

  it('opens in a split, a vertical split, a tab', function()
    local item = hit('fresnel lens')
    for _, name in ipairs({ 'split', 'vsplit' }) do
      actions.run(name, item, { item })
      eq(#vim.api.nvim_tabpage_list_wins(0), 2, name)
      t.has(vim.api.nvim_buf_get_name(0), parent.id)
      vim.cmd.close()
    end
    actions.run('tab', item, { item })
    eq(#vim.api.nvim_list_tabpages(), 2)
    vim.cmd.tabclose()
  end)

  it('the relatives are a list, the oldest first, each below its parent', function()
    local answer = t.ask('traceSession', { sessionId = parent.id })
    local items, target = require('sessionls.lineage').flatten(answer)
    eq({ #items, target, items[1].depth }, { 1, 1, 0 })
    local node = function(id, depth, descendants)
      return { session = { sessionId = id, title = id, agent = 'pi' }, depth = depth, descendants = descendants or {} }
    end
    items, target = require('sessionls.lineage').flatten({
      target = { sessionId = 'me', title = 'me', agent = 'pi' },
      ancestors = { { sessionId = 'parent' }, { sessionId = 'grandparent' } },
      descendants = { node('child', 1, { node('grandchild', 2) }), node('other', 1) },
      deeper = { node('deep', 201) },
    })
    local shown = vim.tbl_map(function(item)
      return item.sessionId .. ' ' .. item.depth
    end, items)
    eq(shown, { 'grandparent 0', 'parent 1', 'me 2', 'child 3', 'grandchild 4', 'other 3', 'deep 203' })
    eq(target, 3)
  end)

  it('a session without relatives says so', function()
    actions.run('lineage', hit('fresnel lens'), {})
    t.notified('no relatives')
  end)

  it('the events of a session are searched', function()
    local item = hit('fresnel lens')
    local source = require('sessionls.source').events(item, 'lens')
    local err, page = t.await(function(callback)
      source.fetch('lens', nil, callback)
    end)
    if not require('sessionls.client').supports('searchEvents') then
      return t.has(err, 'does not know searchEvents')
    end
    eq(err, nil)
    eq({ page.total, page.exact, #page.items }, { 2, true, 2 })
    for _, found in ipairs(page.items) do
      t.has(found.evidence.snippet, '[[lens]]')
      t.has(found.title, '#' .. found.evidence.seq)
      eq(found.sessionId, parent.id)
    end
    actions.run('open', page.items[2], page.items)
    t.wait(function()
      return #require('sessionls.transcript').document().hits == 2
    end, 'the hits')
    vim.cmd.bwipeout()
  end)

  it('a transcript has :Sessions resume and :Sessions lineage', function()
    actions.run('open', hit('fresnel lens'), {})
    vim.cmd('Sessions lineage')
    t.notified('no relatives')
    vim.cmd('Sessions resume')
    t.wait(function()
      return vim.bo.buftype == 'terminal'
    end, 'the terminal')
    eq(vim.b.sessionls_session, parent.id)
    vim.cmd.bwipeout({ bang = true })
    vim.cmd.enew()
    vim.cmd('Sessions lineage')
    t.notified('no transcript')
  end)

  it('vim.ui.input() and vim.ui.select() are the last resort', function()
    require('sessionls').setup({ enabled = true, picker = 'select' })
    vim.ui.input = function(opts, callback)
      eq(opts.prompt, 'Sessions: ')
      callback('fresnel')
    end
    t.answer('polish the fresnel lens')
    vim.cmd('Sessions')
    t.wait(function()
      return vim.api.nvim_buf_get_name(0):find(parent.id, 1, true)
    end, 'the transcript')
    vim.cmd.bwipeout()
    t.answer(nil)
    vim.cmd('Sessions nothing-has-this-word-xyzzy')
    t.notified('no session found')
  end)
end
