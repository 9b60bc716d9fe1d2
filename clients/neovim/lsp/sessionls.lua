--- For vim.lsp.enable('sessionls'), Neovim 0.11 or newer: the server starts with the first file instead of with the
--- first search. Options are those of require('sessionls').setup().
return require('sessionls.client').lsp_config()
