--- Highlight groups, as links that a colour scheme may replace.
local M = {}

M.namespace = vim.api.nvim_create_namespace('sessionls')

local links = {
  SessionlsTitle = 'Normal',
  SessionlsHost = 'Constant',
  SessionlsAgent = 'Identifier',
  SessionlsProject = 'Directory',
  SessionlsMeta = 'Comment',
  SessionlsSnippet = 'Comment',
  SessionlsRole = 'Special',
  SessionlsMatch = 'Search',
  SessionlsSelected = 'Visual',
  SessionlsActive = 'DiagnosticOk',
  SessionlsWarning = 'DiagnosticWarn',
  SessionlsPrompt = 'Special',
}

--- Defines what is not defined yet. A colour scheme clears the groups, so that this is called whenever something is
--- opened.
function M.define()
  for name, link in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
