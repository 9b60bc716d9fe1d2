return function(t)
  local text = require('sessionls.text')
  local format = require('sessionls.format')
  local layout = require('sessionls.picker.layout')
  local matches = require('sessionls.matches')
  local uri = require('sessionls.uri')
  local eq, it = t.eq, t.it

  it('UTF-16 offsets become bytes', function()
    -- é is 2 bytes, 😀 4 bytes and two units, 潮 3 bytes.
    eq(text.utf16_to_bytes('aé😀潮z', { 0, 1, 2, 4, 5, 6, 99 }), { 0, 1, 3, 7, 10, 11, 11 })
    eq(text.utf16_to_bytes('', { 0, 3 }), { 0, 0 })
  end)

  it('marks are the offsets, not the brackets', function()
    eq(text.pieces('😀 [[tide]] and [[x', { { 5, 9 } }), {
      { text = '😀 ', marked = false },
      { text = 'tide', marked = true },
      { text = ' and [[x', marked = false },
    })
    eq(text.pieces('潮[[汐]]', { { 3, 4 } }), { { text = '潮', marked = false }, { text = '汐', marked = true } })
    eq(text.pieces('[[a]] [[b]]', {}), { { text = '[[a]] [[b]]', marked = false } })
    eq(text.pieces('cut', { { 1, 900 } }), { { text = 'c', marked = false }, { text = 'ut', marked = true } })
  end)

  it('no control character and no turn of direction is shown', function()
    eq(text.line('a\27[31mb\0c\r\nd\127'), 'a [31mb c d ')
    eq(text.line('a\xC2\x9Bb\xE2\x80\xAEc\xE2\x81\xA6d\xE2\x80\xA8e'), 'a b c d e')
    eq(text.line('żółć 潮 😀 é'), 'żółć 潮 😀 é')
  end)

  it('terms are distinct, lower case, the longest first', function()
    eq(text.terms('[[Tide]] [[tide]] [[tables]]', { { 2, 6 }, { 11, 15 }, { 20, 26 } }), { 'tables', 'tide' })
  end)

  it('text is cut to cells', function()
    eq(text.fit('tide', 4), 'tide')
    eq(text.fit('tides', 4), 'tid…')
    eq(text.fit('潮汐表', 5), '潮汐…')
    eq(text.fit('潮汐表', 4), '潮…')
    eq(text.fit('x', 0), '')
  end)

  it('instants and ages', function()
    eq(text.epoch('1970-01-01T00:00:00.000Z'), 0)
    eq(text.epoch('2026-03-11T09:15:02.041Z'), 1773220502)
    eq(text.epoch('2024-02-29T23:59:59Z'), 1709251199)
    eq(text.epoch('soon'), nil)
    local now = text.epoch('2026-03-11T09:15:02Z')
    local ages = {
      ['2026-03-11T09:15:00Z'] = 'now',
      ['2026-03-12T09:15:00Z'] = 'now',
      ['2026-03-11T09:10:00Z'] = '5m',
      ['2026-03-11T07:10:00Z'] = '2h',
      ['2026-03-01T07:10:00Z'] = '10d',
      ['2026-01-01T07:10:00Z'] = '9w',
      ['2023-01-01T07:10:00Z'] = '3y',
    }
    for instant, age in pairs(ages) do
      eq(text.age(instant, now), age, instant)
    end
    eq(text.age(nil), '')
  end)

  it('a row has the title, where it is from, and the hit in view', function()
    local item = {
      agent = 'claude',
      sessionId = 'x',
      title = 'tide\nDST \27fix',
      cwd = '/home/dev/work/tidewatch/',
      updatedAt = '2026-03-11T09:10:00Z',
      matchCount = 3,
      evidence = {
        snippet = ('before '):rep(20) .. '[[tide]] after',
        marks = { { 142, 146 } },
        role = 'user',
        type = 'user/message',
      },
    }
    local first, second = format.row(item, 60, text.epoch('2026-03-11T09:15:02Z'))
    eq(first.text, '  tide DST  fix                        claude tidewatch  5m')
    eq(vim.fn.strdisplaywidth(first.text) < 60, true)
    local marked
    for _, span in ipairs(second.spans) do
      if span[3] == 'SessionlsMatch' then
        marked = span
      end
    end
    eq(second.text:sub(marked[1] + 1, marked[2]), 'tide')
    eq(marked[2] <= 60, true, 'the mark is out of view: ' .. second.text)
    t.has(second.text, 'user ×3 …before')
  end)

  it('a title that was found is marked in its line', function()
    local item = {
      agent = 'codex',
      sessionId = 'x',
      title = 'ETag for tides',
      messageCount = 1,
      evidence = { snippet = '[[ETag]] for tides', marks = { { 2, 6 } }, role = 'unknown', type = 'session/title' },
    }
    local first, second = format.row(item, 50)
    eq(first.spans[1], { 2, 6, 'SessionlsMatch' })
    eq(vim.trim(second.text), '1 message')
  end)

  it('the layout fits every screen', function()
    local opts = { width = 0.9, height = 0.85, preview = true }
    for columns = 30, 240, 7 do
      for lines = 10, 90, 7 do
        local place = layout.compute(columns, lines, opts)
        for name, window in pairs(place) do
          local where = ('%s on %dx%d'):format(name, columns, lines)
          eq(window.row >= 0 and window.col >= 0, true, where)
          eq(window.width > 0 and window.height > 0, true, where)
          eq(window.row + window.height + 1 <= lines, true, where .. ' is too high')
          eq(window.col + window.width + 2 <= columns, true, where .. ' is too wide')
        end
      end
    end
    eq(layout.compute(200, 50, opts).preview.row, layout.compute(200, 50, opts).prompt.row, 'beside')
    eq(layout.compute(80, 30, opts).preview.col, layout.compute(80, 30, opts).prompt.col, 'below')
    eq(layout.compute(60, 18, opts).preview, nil)
  end)

  it('terms are found in lines', function()
    eq(matches.find({ 'Tide tables', 'TIDES' }, { 'tables', 'tide' }, 7), { { 7, 0, 4 }, { 7, 5, 11 }, { 8, 0, 4 } })
    eq(matches.find({ 'retry retry' }, { 'retry r', 'retry' }, 0), { { 0, 0, 7 } })
    -- İ is shorter in lower case, which would move the columns.
    eq(matches.find({ 'İ tide' }, { 'tide' }, 0), { { 0, 3, 7 } })
    eq(matches.find({ 'a.b' }, { '.' }, 0), { { 0, 1, 2 } })
  end)

  it('a snippet whose place is not shown is a note of some lines', function()
    local bufnr = vim.api.nvim_create_buf(false, true)
    local snippet = ('some words before '):rep(9) .. '[[tide]] and after'
    matches.note(bufnr, 0, { snippet = snippet, marks = { { 164, 168 } } }, 60)
    local groups = {}
    local mark = vim.api.nvim_buf_get_extmarks(bufnr, -1, 0, -1, { details = true })[1]
    local lines = vim.tbl_map(format.plain, mark[4].virt_lines)
    eq(#lines, 4)
    for _, line in ipairs(lines) do
      eq(vim.fn.strdisplaywidth(line) <= 60, true, line)
    end
    t.has(table.concat(lines), 'before tide and')
    for _, line in ipairs(mark[4].virt_lines) do
      for _, chunk in ipairs(line) do
        groups[chunk[2] or ''] = chunk[1]
      end
    end
    eq(groups.SessionlsMatch, 'tide')
  end)

  it('the span of an event, or of the one before it', function()
    local span = require('sessionls.lines').span
    local spans = { { seq = 5 }, { seq = 8 }, { seq = 9 } }
    for seq, want in pairs({ [4] = false, [5] = 5, [7] = 5, [8] = 8, [9] = 9, [100] = 9 }) do
      eq((span(spans, seq) or { seq = false }).seq, want, seq)
    end
    eq(span({}, 1), nil)
  end)

  it('names of documents', function()
    local session = { agent = 'claude', sessionId = 'ab#agent-1/ö' }
    local name = uri.of(session)
    eq(name, 'sessionls://session/local/claude/ab%23agent-1%2F%C3%B6.md')
    eq({ uri.parse(name) }, { session })
    local parsed, seq = uri.parse(name .. '#42')
    eq(parsed, session)
    eq(seq, 42)
    eq(uri.parse(uri.of({ agent = 'pi', sessionId = 'x', executionHostId = 'ssh:box' })).executionHostId, 'ssh:box')
    eq(uri.parse('sessionls://elsewhere'), nil)
  end)
end
