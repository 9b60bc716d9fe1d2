return function(t)
  local builtin = require('sessionls.picker.builtin')
  local config = require('sessionls.config')
  local corpus = dofile(t.root .. '/test/corpus.lua')
  local source = require('sessionls.source')
  local eq, it = t.eq, t.it

  vim.o.columns, vim.o.lines = 140, 40
  local root = corpus.root()
  local session = corpus.begin(root, '11111111-2222-4333-8444-555555555555', '/home/dev/work/lighthouse')
  corpus.say(session, 'user', 'polish the fresnel lens')
  t.agree()

  local function floats()
    return vim.tbl_filter(function(winid)
      return vim.api.nvim_win_get_config(winid).relative ~= ''
    end, vim.api.nvim_list_wins())
  end

  --- The lines of the list, which is the float whose border begins with a branch.
  local function rows()
    for _, winid in ipairs(floats()) do
      local border = vim.api.nvim_win_get_config(winid).border
      if type(border) == 'table' and border[1] == '├' then
        return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(winid), 0, -1, false), winid
      end
    end
    return {}
  end

  local function shows(part)
    t.wait(function()
      return table.concat(rows(), '\n'):find(part, 1, true)
    end, part)
  end

  local function press(keys)
    vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
  end

  --- The title of the selected row.
  local function selected()
    local lines, winid = rows()
    return vim.trim(lines[vim.api.nvim_win_get_cursor(winid)[1]] or '')
  end

  it('there is one picker at a time, and nothing is left of it', function()
    local windows, buffers = #vim.api.nvim_list_wins(), #vim.api.nvim_list_bufs()
    builtin.open(source.sessions({ query = 'lens' }))
    shows('polish the fresnel lens')
    builtin.open(source.sessions({ query = 'harbor' }))
    eq(#floats(), 3)
    shows('harbor')
    press('q')
    eq(#vim.api.nvim_list_wins(), windows)
    eq(#vim.api.nvim_list_bufs(), buffers)
  end)

  it('a window that somebody closes closes it', function()
    builtin.open(source.sessions({ query = 'lens' }))
    shows('polish the fresnel lens')
    local _, list = rows()
    vim.api.nvim_win_close(list, true)
    t.wait(function()
      return #floats() == 0
    end, 'the end of the picker')
  end)

  it('the next page comes at the end of the list', function()
    config.set({ picker_options = { limit = 6 } })
    builtin.open(source.sessions({}))
    t.wait(function()
      return #rows() == 12
    end, 'the first page')
    press('jjj')
    t.wait(function()
      return #rows() == 24
    end, 'the second page')
    press('q')
    config.set({})
  end)

  it('a list follows the index, and what is selected stays selected', function()
    builtin.open(source.sessions({ query = 'fresnel' }))
    shows('polish the fresnel lens')
    local other = corpus.begin(root, '22222222-2222-4333-8444-555555555555', '/home/dev/work/lighthouse')
    corpus.say(other, 'user', 'fresnel fresnel fresnel')
    shows('fresnel fresnel fresnel')
    press('gg')
    press('j')
    local chosen = selected()
    local third = corpus.begin(root, '33333333-2222-4333-8444-555555555555', '/home/dev/work/lighthouse')
    corpus.say(third, 'user', 'fresnel fresnel')
    t.wait(function()
      return #rows() == 6
    end, 'the third row')
    eq(selected(), chosen)
    press('q')
  end)

  it('<C-q> makes a quickfix list of the hits', function()
    builtin.open(source.sessions({ query = 'fresnel' }))
    t.wait(function()
      return #rows() == 6
    end, 'the rows')
    press('<C-q>')
    t.wait(function()
      return vim.bo.buftype == 'quickfix'
    end, 'the quickfix window')
    eq(#floats(), 0)
    local list = vim.fn.getqflist()
    eq(#list, 3)
    t.has(list[1].text, 'fresnel')
    vim.cmd.cclose()
  end)

  it('a server that ends is told in the list, and the next key starts another', function()
    builtin.open(source.sessions({ query = 'fresnel' }))
    shows('fresnel fresnel')
    local prompt = vim.api.nvim_get_current_buf()
    local pid = vim.api.nvim_get_proc_children(vim.fn.getpid())[1]
    vim.uv.kill(pid, 'sigstop')
    local function type_query(query)
      vim.api.nvim_buf_set_lines(prompt, 0, -1, false, { query })
      vim.api.nvim_exec_autocmds('TextChangedI', { buffer = prompt })
    end
    type_query('lens')
    vim.uv.kill(pid, 'sigkill')
    shows('the server ended')
    type_query('fresnel lens')
    shows('polish the fresnel lens')
    press('q')
  end)
end
