--- :Telescope sessionls
return require('telescope').register_extension({
  exports = {
    sessionls = function(opts)
      opts = opts or {}
      require('sessionls').enabled(function()
        local search = { query = opts.query, scope = opts.scope or require('sessionls.config').get().scope }
        require('sessionls.picker.telescope').open(require('sessionls.source').sessions(search), opts)
      end)
    end,
  },
})
