-- The pickers that no package brings here, as far as our side of them goes: stand-ins with the functions that the
-- adapters call, as the plugins document them.
return function(t)
  local adapter = require('sessionls.picker.adapter')
  local config = require('sessionls.config')
  local format = require('sessionls.format')
  local picker = require('sessionls.picker')
  local source = require('sessionls.source')
  local eq, it = t.eq, t.it

  t.agree()

  --- What was opened by the last action, instead of a transcript.
  local opened
  require('sessionls.actions').get('open').run = function(item)
    opened = item.sessionId
  end

  local function stand_in(name, module)
    package.loaded[name] = module
    return function()
      package.loaded[name] = nil
    end
  end

  it('what is installed is used, in order; what is wished for, if it is there', function()
    config.set({})
    eq({ picker.choose() }, { 'builtin', 'sessionls.picker.builtin' })
    local remove = { stand_in('mini.pick', {}), stand_in('fzf-lua', {}) }
    eq(picker.choose(), 'fzf-lua')
    config.set({ picker = 'mini' })
    eq(picker.choose(), 'mini')
    config.set({ picker = 'telescope' })
    eq(picker.choose(), 'builtin')
    config.set({ picker = 'select' })
    eq(picker.choose(), 'select')
    config.set({})
    vim.tbl_map(function(run)
      run()
    end, remove)
    vim.o.columns = 20
    eq(picker.choose(), 'select')
    vim.o.columns = 120
  end)

  it('a row of one line', function()
    local item = t.ask('searchSessions', { query = 'harbor tide table' }).hits[1]
    local plain = format.plain(adapter.row(item))
    t.has(plain, 'tide DST fix')
    t.has(plain, 'claude')
    t.has(plain, 'the harbor tide table')
  end)

  it('fzf-lua', function()
    local fzf = require('sessionls.picker.fzf_lua')
    eq({ fzf.fzf_key('<C-g>'), fzf.fzf_key('<M-x>'), fzf.fzf_key('<F1>') }, { 'ctrl-g', 'alt-x', 'f1' })
    eq(fzf.fzf_key('<leader>x'), nil)
    local contents, opts
    local base = {
      extend = function()
        return { super = { new = function() end } }
      end,
    }
    local remove = {
      stand_in('fzf-lua', {
        fzf_live = function(...)
          contents, opts = ...
        end,
      }),
      stand_in('fzf-lua.previewer.builtin', { base = base }),
    }
    fzf.open(source.sessions({ query = 'harbor' }))
    eq(opts.query, 'harbor')
    eq(opts.exec_empty_query, true)
    local lines, over = {}, false
    contents({ 'harbor tide table' })(function(line)
      if line then
        lines[#lines + 1] = line
      else
        over = true
      end
    end)
    t.wait(function()
      return over
    end, 'the end of the lines')
    t.has(lines[1], '1\t')
    t.has(lines[1], 'tide DST fix')
    eq(type(opts.actions['ctrl-g']), 'function')
    opts.actions.enter({ lines[1] })
    t.wait(function()
      return opened
    end, 'the action')
    eq(opened, '3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011')
    remove[1]()
    remove[2]()
  end)

  it('snacks', function()
    opened = nil
    local opts
    local remove = stand_in('snacks.picker', {
      pick = function(given)
        opts = given
      end,
    })
    require('sessionls.picker.snacks').open(source.sessions({}))
    eq({ opts.live, opts.search }, { true, '' })
    -- A coroutine that is suspended and resumed, as snacks runs a finder in.
    local function find(words)
      local items, over = {}, false
      local async = { aborted = {} }
      local co = coroutine.create(function()
        opts.finder({}, { async = async, filter = { search = words } })(function(item)
          items[#items + 1] = item
        end)
        over = true
      end)
      function async.on(_, _, run)
        async.aborted = run
      end
      function async.suspend()
        coroutine.yield()
      end
      function async.resume()
        assert(coroutine.resume(co))
      end
      assert(coroutine.resume(co))
      return items, function()
        return over
      end
    end
    local first = find('harbor')
    local items, over = find('harbor tide table')
    t.wait(over, 'the second search')
    eq(#first, 0)
    eq(items[1].text, 'tide DST fix')
    t.has(format.plain(opts.format(items[1])), 'claude')
    eq(opts.win.input.keys['<C-g>'][1], 'sessionls_resume')
    local closed = false
    opts.confirm({
      close = function()
        closed = true
      end,
    }, items[1])
    t.wait(function()
      return opened
    end, 'the action')
    eq(closed, true)
    remove()
  end)

  it('mini.pick', function()
    opened = nil
    local opts, tick, shown = nil, 1, nil
    local remove = stand_in('mini.pick', {
      start = function(given)
        opts = given
        -- It returns when the picker is closed; meanwhile events are served.
        opts.source.match({}, {}, { 't' })
        tick = 2
        opts.source.match({}, {}, vim.split('harbor tide table', ''))
        t.wait(function()
          return shown
        end, 'items')
      end,
      get_querytick = function()
        return tick
      end,
      set_picker_items = function(items, how)
        eq(how.do_match, false)
        if how.querytick == tick then
          shown = items
        end
      end,
      get_picker_matches = function()
        return { current = shown[1] }
      end,
    })
    require('sessionls.picker.mini').open(source.sessions({}))
    eq(shown[1].text, 'tide DST fix')
    local bufnr = vim.api.nvim_create_buf(false, true)
    opts.source.show(bufnr, shown)
    t.has(vim.api.nvim_buf_get_lines(bufnr, 0, 1, false)[1], 'tide DST fix')
    eq(#vim.api.nvim_buf_get_extmarks(bufnr, -1, 0, -1, {}) > 0, true)
    eq(opts.mappings.sessionls_yank_id.func(), false)
    t.wait(function()
      return vim.fn.getreg('"') == '3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011'
    end, 'the id')
    opts.source.choose(shown[1])
    t.wait(function()
      return opened
    end, 'the action')
    remove()
  end)
end
