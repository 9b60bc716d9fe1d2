return function(t)
  local text = table.concat(vim.fn.readfile(t.root .. '/doc/sessionls.txt'), '\n')

  t.it('help tags are made, once each', function()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder, 'p')
    vim.fn.writefile(vim.split(text, '\n'), folder .. '/sessionls.txt')
    vim.cmd.helptags(folder)
    t.has(table.concat(vim.fn.readfile(folder .. '/tags'), '\n'), ':Sessions\tsessionls.txt')
  end)

  t.it('every subcommand, option and highlight group is in the help', function()
    for _, name in ipairs(require('sessionls.command').complete('', 'Sessions ')) do
      t.has(text, name:match(':') and name:match('^%w+:') or (':Sessions ' .. name))
    end
    local function options(of, depth)
      for name, value in pairs(of) do
        t.has(text, (' '):rep(depth) .. name .. ' = ')
        if type(value) == 'table' and not vim.islist(value) then
          options(value, depth + 2)
        end
      end
    end
    options(require('sessionls.config').get(), 4)
    require('sessionls.highlight').define()
    for _, name in ipairs(vim.fn.getcompletion('Sessionls', 'highlight')) do
      t.has(text, '*hl-' .. name .. '*')
    end
  end)
end
