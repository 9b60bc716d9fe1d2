std = 'luajit'
read_globals = { 'vim' }
-- Options and buffer variables are set through vim.
globals = { 'vim.o', 'vim.g', 'vim.b', 'vim.bo', 'vim.wo', 'vim.env', 'vim.opt', 'vim.ui.select', 'vim.ui.input', 'vim.notify' }
max_line_length = 120
