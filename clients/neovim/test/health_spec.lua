return function(t)
  local it = t.it

  --- Runs :checkhealth and returns what it says.
  local function health()
    vim.cmd('checkhealth sessionls')
    local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    vim.cmd.bwipeout({ bang = true })
    return text
  end

  it('a missing program', function()
    require('sessionls').setup({ cmd = 'sessionls-that-is-not-there' })
    local text = health()
    t.has(text, 'cannot be run')
    t.has(text, 'go install -tags sqlite_fts5')
  end)

  it('a program of that name that is another', function()
    local path = vim.fn.tempname()
    vim.fn.writefile({ '#!/bin/sh', 'echo something else' }, path)
    vim.fn.setfperm(path, 'rwxr-xr-x')
    require('sessionls').setup({ cmd = path })
    t.has(health(), 'is not sessionls')
  end)

  it('options that are not understood', function()
    require('sessionls').setup({ scope = 'everywhere' })
    t.notified('scope is all or here')
    t.has(health(), 'scope is all or here')
  end)

  it('a picker that is not installed', function()
    require('sessionls').setup({ picker = 'snacks' })
    t.has(health(), 'picker is snacks, but it is not installed; builtin is used')
  end)

  it('no consent', function()
    require('sessionls').setup({})
    local text = health()
    t.has(text, 'options are understood')
    t.has(text, 'answers: sessionls')
    t.has(text, 'you have not agreed')
  end)

  it('all well', function()
    t.agree()
    local text = health()
    t.has(text, 'search is on, for all history')
    t.has(text, 'Claude Code')
    t.eq(text:find('ERROR', 1, true), nil, text)
  end)

  it('off', function()
    t.ask('setPolicy', { enabled = false })
    t.has(health(), 'search is off')
  end)
end
