if vim.g.loaded_sessionls or vim.fn.has('nvim-0.10') == 0 then
  return
end
vim.g.loaded_sessionls = true

vim.api.nvim_create_user_command('Sessions', function(args)
  require('sessionls.command').run(args)
end, {
  nargs = '*',
  range = true,
  desc = 'search the sessions of coding agents',
  complete = function(...)
    return require('sessionls.command').complete(...)
  end,
})

vim.keymap.set('n', '<Plug>(sessionls)', '<Cmd>Sessions<CR>', { desc = 'search agent sessions' })
vim.keymap.set('n', '<Plug>(sessionls-here)', '<Cmd>Sessions here<CR>', { desc = 'agent sessions of this folder' })
vim.keymap.set('n', '<Plug>(sessionls-file)', '<Cmd>Sessions file<CR>', { desc = 'agent sessions about this file' })
vim.keymap.set('x', '<Plug>(sessionls)', ':Sessions selection<CR>', {
  desc = 'search agent sessions for the selection',
  silent = true,
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('sessionls', { clear = true }),
  pattern = 'sessionls://*',
  desc = 'transcript of an agent session',
  nested = true,
  callback = function(args)
    require('sessionls.transcript').read(args.buf, args.match)
  end,
})
