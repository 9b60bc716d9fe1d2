--- :Telescope sessionls
return require('telescope').register_extension({
  exports = {
    sessionls = function(opts)
      opts = opts or {}
      local search = { query = opts.query, scope = opts.scope, host = opts.host }
      require('sessionls').source(search, function(source)
        require('sessionls.picker.telescope').open(source, opts)
      end)
    end,
  },
})
