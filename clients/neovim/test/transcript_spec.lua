return function(t)
  local corpus = dofile(t.root .. '/test/corpus.lua')
  local transcript = require('sessionls.transcript')
  local uri = require('sessionls.uri')
  local eq, it = t.eq, t.it

  local project = vim.fn.tempname() .. '/lighthouse'
  vim.fn.mkdir(project .. '/src', 'p')
  vim.fn.writefile({ 'one', 'two', 'three' }, project .. '/src/lamp.go')
  local root = corpus.root()
  local session = corpus.begin(root, '11111111-2222-4333-8444-555555555555', project)
  corpus.say(session, 'user', 'why does the lamp flicker at dusk? 灯 flickers')
  corpus.say(session, 'assistant', 'The timer in `src/lamp.go:3` races with dusk.\27[31m Nothing else flickers.')
  corpus.say(session, 'assistant', {
    { type = 'tool_use', id = 'toolu_1', name = 'Bash', input = { command = 'go test ./...' } },
  })
  corpus.say(session, 'user', { { type = 'tool_result', tool_use_id = 'toolu_1', content = 'ok lighthouse 0.1s' } })
  corpus.say(session, 'assistant', 'All green, the lamp holds.')
  local long = corpus.begin(root, '22222222-2222-4333-8444-555555555555', project)
  for i = 1, 2500 do
    corpus.say(long, i % 2 == 1 and 'user' or 'assistant', ('message %d about foghorns'):format(i))
  end

  local name = uri.of({ agent = 'claude', sessionId = session.id })
  t.agree()

  --- The first hit for a query in a session of Claude Code.
  local function hit(query, id)
    local found =
      t.ask('searchSessions', { query = query, freshness = 'wait-until-current', filters = { sessionIds = { id } } })
    local item = found.hits[1]
    item.query = query
    return item
  end

  local function lines()
    return vim.api.nvim_buf_get_lines(0, 0, -1, false)
  end

  local function line()
    return vim.api.nvim_get_current_line()
  end

  --- The line with a text, from 1.
  local function line_of(part)
    for i, text in ipairs(lines()) do
      if text:find(part, 1, true) then
        return i
      end
    end
    error('no line with ' .. part)
  end

  it('opens at the hit, read-only, in colours', function()
    local item = hit('dusk flicker', session.id)
    transcript.open(item, 'edit')
    eq(vim.api.nvim_buf_get_name(0), name)
    t.has(line(), 'flicker')
    eq({ vim.bo.modifiable, vim.bo.readonly, vim.bo.modified, vim.bo.buftype }, { false, true, false, 'nowrite' })
    eq(vim.bo.filetype, 'sessionls')
    eq(vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil, true, 'no treesitter')
    eq(vim.b.sessionls.sessionId, session.id)
    eq(vim.b.sessionls.cwd, project)
    eq(table.concat(lines(), '\n'):find('\27', 1, true), nil, 'a control character')
  end)

  it(']s and [s go round the hits', function()
    t.wait(function()
      return #transcript.document().hits > 0
    end, 'the hits')
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    local seen = {}
    local function press(keys)
      vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
      local cursor = vim.api.nvim_win_get_cursor(0)
      seen[#seen + 1] = line():sub(cursor[2] + 1):match('^%w+')
      return cursor
    end
    local first = press(']s')
    local second = press(']s')
    eq(seen, { 'flicker', 'dusk' })
    eq(press('[s'), first)
    eq(press(#transcript.document().hits + 1 .. ']s'), second, 'a count goes round')
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    local last = press('[s')
    eq(press(']s'), first, 'not round the end')
    eq(last[1] > first[1], true)
  end)

  it('events are folds, and ]] goes to the next one', function()
    eq(vim.wo.foldlevel, 99)
    local call = line_of('Tool call: Bash')
    eq(vim.fn.foldlevel(call), 2)
    eq(vim.fn.foldlevel(line_of('## User')), 1)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    vim.api.nvim_feedkeys(']]', 'xt', false)
    t.has(line(), '## User')
    vim.api.nvim_feedkeys(']]]]', 'xt', false)
    t.has(line(), 'Tool call: Bash')
    vim.api.nvim_feedkeys('[[', 'xt', false)
    t.has(line(), '## Assistant')
  end)

  it('gf edits a file of the session, at its line', function()
    vim.api.nvim_win_set_cursor(0, { line_of('src/lamp.go'), 0 })
    vim.fn.search('lamp.go')
    vim.cmd('normal gf')
    eq(vim.api.nvim_buf_get_name(0), vim.fn.resolve(project) .. '/src/lamp.go')
    eq(vim.api.nvim_win_get_cursor(0)[1], 3)
    vim.cmd.buffer(vim.fn.bufnr(vim.fn.escape(name, '[]*?')))
    vim.api.nvim_win_set_cursor(0, { line_of('All green'), 0 })
    t.notices()
    vim.cmd('normal gf')
    t.notified('no such file')
    eq(vim.api.nvim_buf_get_name(0), name)
  end)

  it('grows with its session; the cursor stays, or follows the end', function()
    eq(vim.fn.bufnr(), vim.fn.bufnr(name))
    vim.api.nvim_win_set_cursor(0, { 3, 0 })
    corpus.say(session, 'assistant', 'And the dusk sensor is calibrated.')
    t.wait(function()
      return table.concat(lines(), '\n'):find('dusk sensor is calibrated', 1, true)
    end, 'the new line')
    eq(vim.api.nvim_win_get_cursor(0)[1], 3)
    local count = #vim.tbl_filter(function(text)
      return text:find('All green', 1, true) ~= nil
    end, lines())
    eq(count, 1, 'the old text once')
    eq(vim.bo.modified, false)

    vim.cmd('normal! G')
    corpus.say(session, 'user', 'thanks, ship it')
    t.wait(function()
      return table.concat(lines(), '\n'):find('thanks, ship it', 1, true)
    end, 'the next line')
    eq(vim.api.nvim_win_get_cursor(0)[1], vim.api.nvim_buf_line_count(0))
    eq(#lines(), #require('sessionls.lines').split(t.ask('renderTranscript', { sessionId = session.id, limit = 2000 })))
  end)

  it('a long transcript comes in pages, and opens at a hit on the second', function()
    local item = hit('"message 2400 about"', long.id)
    eq(item.evidence.seq > 2000, true)
    transcript.open(item, 'tabedit')
    t.wait(function()
      return transcript.document().loaded
    end, 'the pages')
    t.has(line(), 'message 2400 about')
    line_of('message 1 about')
    line_of('message 2500 about')
    vim.cmd.tabclose()
  end)

  it(':edit reads it again, a link opens the one buffer', function()
    vim.cmd.edit()
    t.has(lines()[1], '#')
    line_of('All green')
    vim.cmd.enew()
    vim.cmd.edit({ args = { name .. '#1' }, magic = { file = false, bar = false } })
    t.wait(function()
      return vim.api.nvim_buf_get_name(0) == name
    end, 'the buffer')
    eq(vim.fn.bufexists(name .. '#1'), 0)
  end)

  it('a session that is not there is told in the buffer', function()
    vim.cmd.edit({ args = { uri.of({ agent = 'claude', sessionId = 'no-such-session' }) }, magic = { file = false } })
    t.has(lines()[1], 'no session is named')
    vim.cmd.bwipeout()
  end)

  it('an answer that comes after the buffer is gone does nothing', function()
    vim.cmd.edit({ args = { name }, magic = { file = false } })
    corpus.say(session, 'user', 'one more')
    vim.cmd.bwipeout()
    eq(transcript.document(), nil)
    t.ask('searchSessions', { query = 'one more', freshness = 'wait-until-current' })
  end)

  it('options of the window stay with the transcript', function()
    vim.cmd.enew()
    eq(vim.wo.foldmethod, 'manual')
    eq(vim.wo.conceallevel, 0)
  end)

  it('hits are located in their documents', function()
    local items = { hit('sensor calibrated', session.id), hit('"message 2400 about"', long.id) }
    local found = t.await(function(callback)
      require('sessionls.lines').locate(items, callback)
    end)
    for i, item in ipairs(items) do
      vim.cmd.edit({ args = { uri.of(item) }, magic = { file = false } })
      t.wait(function()
        return transcript.document().loaded
      end, 'the document')
      local span = require('sessionls.lines').span(transcript.document().spans, item.evidence.seq)
      eq(found[i], span.first + 1)
    end
  end)

  it('the quickfix list has the hits at their lines', function()
    require('sessionls.quickfix').set({ hit('sensor calibrated', session.id), hit('"message 2400 about"', long.id) })
    t.wait(function()
      return vim.bo.buftype == 'quickfix'
    end, 'the quickfix window')
    local list = vim.fn.getqflist({ items = 1, title = 1 })
    eq(#list.items, 2)
    t.has(list.items[1].text, 'sensor')
    vim.cmd('cc 2')
    t.wait(function()
      return transcript.document() and transcript.document().loaded
    end, 'the document')
    vim.cmd('cc 2')
    local at = vim.api.nvim_win_get_cursor(0)[1]
    t.has(table.concat(vim.api.nvim_buf_get_lines(0, at - 1, at + 3, false), '\n'), 'message 2400 about')
    vim.cmd.cclose()
  end)
end
