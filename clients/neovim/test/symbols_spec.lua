return function(t)
  local transcript = require('sessionls.transcript')
  local eq, it = t.eq, t.it

  t.agree()

  --- Runs vim.lsp.buf.workspace_symbol() and returns the list that it makes.
  local function symbols(query)
    local got
    vim.lsp.buf.workspace_symbol(query, {
      on_list = function(list)
        got = list.items
      end,
    })
    return t.wait(function()
      return got
    end, 'the symbols')
  end

  it('file buffers have sessions as workspace symbols, others have not', function()
    local path = vim.fn.tempname() .. '.go'
    vim.fn.writefile({ 'package lamp' }, path)
    vim.cmd.edit(path)
    local client = require('sessionls.client').get()
    t.wait(function()
      return vim.lsp.buf_is_attached(0, client.id)
    end, 'the attachment')
    local items = symbols('harbor tide table')
    t.has(items[1].text, 'tide DST fix')
    eq(items[1].filename, 'sessionls://session/local/claude/3b0f7c52-9a41-4d0e-8c1b-5f2a6d7e9011.md')
    vim.cmd.split()
    vim.api.nvim_win_set_buf(0, vim.api.nvim_create_buf(false, true))
    eq(vim.lsp.buf_is_attached(0, client.id), false)
    vim.cmd.bwipeout()
  end)

  it('a symbol leads to its line', function()
    vim.fn.setqflist(symbols('harbor tide table'))
    vim.cmd.cfirst()
    eq(transcript.document().loaded, true)
    t.has(vim.api.nvim_get_current_line(), 'the harbor tide table is off')
    vim.cmd.bwipeout()
  end)

  it('without words, the newest sessions of the open folder, which has none', function()
    vim.lsp.buf.workspace_symbol('')
    t.notified('No ')
  end)

  it('lsp/sessionls.lua is for vim.lsp.enable(), and its client is ours', function()
    if vim.fn.has('nvim-0.11') == 0 then
      eq(dofile(t.root .. '/lsp/sessionls.lua').name, 'sessionls')
      return
    end
    require('sessionls.client').stop()
    t.wait(function()
      return #vim.lsp.get_clients({ name = 'sessionls' }) == 0
    end, 'the end of the server')
    vim.lsp.enable('sessionls')
    vim.cmd.edit(vim.fn.tempname() .. '.lua')
    vim.bo.filetype = 'lua'
    local client = t.wait(function()
      return vim.lsp.get_clients({ name = 'sessionls', bufnr = 0 })[1]
    end, 'the client')
    eq(t.ask('searchSessions', { query = 'harbor' }).kind, 'results')
    eq(#vim.lsp.get_clients({ name = 'sessionls' }), 1)
    eq(require('sessionls.client').get().id, client.id)
    t.wait(function()
      return require('sessionls').statusline():match('^sessions %d')
    end, 'the status of this client')
    t.has(symbols('harbor tide table')[1].text, 'tide DST fix')
  end)
end
