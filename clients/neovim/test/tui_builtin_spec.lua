return function(t)
  local tmux = dofile(t.root .. '/test/tmux.lua')
  local wide, narrow = { columns = 130, lines = 34 }, { columns = 70, lines = 16 }

  --- The line of the screen that holds a string.
  local function line_with(screen, part)
    for line in vim.gsplit(screen, '\n') do
      if line:find(part, 1, true) then
        return line
      end
    end
    error('no line with ' .. part)
  end

  t.it('asks once, indexes, and finds while typing', function()
    tmux.with(t, wide, {}, function(terminal)
      terminal:wait('[No Name]')
      terminal:keys(':Sessions', 'Enter')
      terminal:wait('Transcripts are only read', '1: Yes')
      terminal:keys('1', 'Enter')
      local screen = terminal:wait('╭ Sessions ─', '<C-g> resume', 'rename Zone to Location', '1 of 4')
      t.has(line_with(screen, 'rename Zone to Location'), '▌')
      t.has(line_with(screen, 'rename Zone to Location'), 'codex tidewatch')

      terminal:keys('harbor table')
      screen = terminal:wait('> harbor table', 'user ×3 the harbor tide table is off', '1 of ')
      t.has(line_with(screen, 'tide DST fix'), 'claude tidewatch')
      terminal:keys('C-u')
      terminal:keys('tide')
      terminal:wait('Rounding of tide heights', '1 of ')
      -- What was found has a background of its own.
      t.has(terminal:screen(true), 'tide')
      terminal:keys('Down', 'Down')
      terminal:wait('3 of ')
      terminal:keys('Up')
      terminal:wait('2 of ')
      terminal:keys('F1')
      terminal:wait('go on with the session in a terminal')
      terminal:keys('F1')
      terminal:gone('go on with the session in a terminal')
      terminal:keys('C-k')
      terminal:wait('yanked ')
      terminal:keys('C-a')
      terminal:wait('Sessions · here', 'No session found')
      terminal:keys('C-a')
      terminal:wait('tide DST fix')
      terminal:keys('C-c')
      terminal:gone('╭ Sessions')
    end)
  end)

  t.it('what the server does not understand is told at the prompt', function()
    tmux.with(t, wide, {}, function(terminal)
      terminal:wait('[No Name]')
      terminal:keys(':Sessions is:nothing tide', 'Enter')
      terminal:wait('> is:nothing tide', 'is:', 'of ')
      terminal:keys('Escape', 'q')
      terminal:gone('╭ Sessions')
    end)
  end)

  t.it('fits a small screen, and follows its size', function()
    tmux.with(t, narrow, {}, function(terminal)
      terminal:wait('[No Name]')
      terminal:keys(':Sessions ETag for tides', 'Enter')
      local screen = terminal:wait('╭ Sessions ─', 'ETag for tides', '1 of')
      t.eq(screen:find('<C-g> resume', 1, true), nil, 'a preview')
      terminal:tmux({ 'resize-window', '-x', '130', '-y', '34' })
      terminal:wait('<C-g> resume', 'ETag for tides')
      terminal:keys('C-c')
      terminal:gone('╭ Sessions')
    end)
  end)

  t.it('searches what is selected', function()
    tmux.with(t, wide, { '-c', 'call setline(1, "the ETag header here")' }, function(terminal)
      terminal:wait('the ETag header here')
      terminal:keys('wve', ':Sessions selection', 'Enter')
      terminal:wait('> ETag', 'ETag for tides')
      terminal:keys('C-c')
    end)
  end)
end
