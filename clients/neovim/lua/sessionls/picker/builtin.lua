--- The picker that needs no other plugin: a list under its prompt in one float, the transcript at the hit in another.
local actions = require('sessionls.actions')
local config = require('sessionls.config')
local format = require('sessionls.format')
local highlight = require('sessionls.highlight')
local hosts = require('sessionls.host')
local layout = require('sessionls.picker.layout')
local live = require('sessionls.live')
local preview = require('sessionls.preview')
local status = require('sessionls.status')
local text = require('sessionls.text')

local M = {}

local ns = highlight.namespace

--- The picker that is open. There is one at a time.
---@type sessionls.Builtin?
local opened

--- How long the selection rests before its preview is asked for, in milliseconds.
local preview_delay = 40
--- How often a list follows an index that changes, in milliseconds.
local refresh_interval = 1000
--- The same while there is nothing in it.
local empty_interval = 100

---@class sessionls.Builtin
---@field source sessionls.Source
---@field live sessionls.Live
---@field selected integer
---@field err? string
---@field origin integer the window that it was opened from
---@field bufs {prompt: integer, list: integer, preview: integer}
---@field wins {prompt?: integer, list?: integer, preview?: integer}
---@field place sessionls.Layout
---@field preview sessionls.Preview
---@field timer uv.uv_timer_t
---@field stop_status fun()
---@field closed boolean
---@field note? string said below the list until the next key
---@field help? boolean the keys are shown in place of rows
---@field current? sessionls.Item what is selected
---@field refreshing? boolean the same is asked again
---@field group integer of autocommands
---@field selected_mark? integer[]
local Builtin = {}
Builtin.__index = Builtin

---@param name string
---@return integer
local function scratch(name)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].undolevels = name == 'prompt' and 100 or -1
  -- For completion plugins, which would answer every key with a menu of their own.
  vim.b[bufnr].completion = false
  return bufnr
end

---@param winid integer
---@param options table<string, any>
local function set_window_options(winid, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = winid, scope = 'local' })
  end
end

local plain_window = {
  wrap = false,
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  foldenable = false,
  list = false,
  spell = false,
  cursorline = false,
  statuscolumn = '',
  winhighlight = 'NormalFloat:Normal,FloatBorder:FloatBorder',
}

--- Opens the windows, or moves them to where they belong now.
function Builtin:draw()
  local opts = config.get().picker_options
  self.place = layout.compute(vim.o.columns, vim.o.lines - vim.o.cmdheight, opts)
  local title = ' ' .. text.fit(self.source.title, self.place.prompt.width - 4) .. ' '
  local function put(name, rectangle, extra)
    local win_config = vim.tbl_extend('force', rectangle, { relative = 'editor', style = 'minimal' }, extra)
    local winid = self.wins[name]
    if winid and vim.api.nvim_win_is_valid(winid) then
      vim.api.nvim_win_set_config(winid, win_config)
    else
      win_config.noautocmd = true
      winid = vim.api.nvim_open_win(self.bufs[name], name == 'prompt', win_config)
      self.wins[name] = winid
    end
    set_window_options(winid, plain_window)
    return winid
  end
  put('prompt', self.place.prompt, { border = layout.top_border, title = title, title_pos = 'left', zindex = 60 })
  local list = put('list', self.place.list, { border = layout.bottom_border, focusable = false, zindex = 60 })
  set_window_options(list, { scrolloff = 1 })
  if self.place.preview then
    local winid = put('preview', self.place.preview, {
      border = opts.border,
      footer = actions.hint(),
      footer_pos = 'right',
      focusable = false,
      zindex = 60,
    })
    set_window_options(winid, { wrap = true, linebreak = true, conceallevel = 2, concealcursor = 'nvic' })
  elseif self.wins.preview then
    vim.api.nvim_win_close(self.wins.preview, true)
    self.wins.preview = nil
    self.bufs.preview = scratch('preview')
  end
  self:render()
end

--- The status of whom is asked.
---@return sessionls.Status?
function Builtin:status()
  local host = self.source.host
  return host and hosts.status(host) or not host and status.get() or nil
end

--- What stands below the list.
---@return string
function Builtin:footer()
  local page = self.live.page
  if self.note then
    return ' ' .. text.fit(self.note, self.place.list.width - 4) .. ' '
  elseif self.err or not page then
    return ''
  end
  local now = self:status()
  local parts = {}
  if #self.live.items > 0 then
    local total = page.exact and tostring(page.total) or page.total .. '+'
    parts[1] = ('%d of %s'):format(self.selected, total)
  end
  if self.source.host and self.live:asking() then
    parts[#parts + 1] = hosts.connecting(self.source.host) and 'connecting …' or 'asking …'
  end
  if now and now.phase == 'indexing' then
    parts[#parts + 1] = 'indexing'
    if now.progress and now.progress.filesTotal > 0 then
      parts[#parts] = ('indexing %d/%d'):format(now.progress.filesDone, now.progress.filesTotal)
    end
  end
  return #parts > 0 and ' ' .. table.concat(parts, ' · ') .. ' ' or ''
end

--- Whether the windows are there: anybody may close them.
---@return boolean
function Builtin:visible()
  return not self.closed and vim.api.nvim_win_is_valid(self.wins.list) and vim.api.nvim_win_is_valid(self.wins.prompt)
end

function Builtin:show_footer()
  if not self:visible() then
    return
  end
  vim.api.nvim_win_set_config(self.wins.list, { footer = self:footer(), footer_pos = 'right' })
end

--- Lines in place of rows, or nil.
---@return string[]?
function Builtin:message()
  if self.help then
    return actions.help()
  elseif self.err then
    return text.wrap(text.line(self.err), self.place.list.width - 4)
  elseif #self.live.items == 0 and hosts.connecting(self.source.host) then
    local words = hosts.connecting_words(self.source.host) .. ' its first answer may take half a minute; <C-c> gives up'
    return text.wrap(words, self.place.list.width - 4)
  elseif #self.live.items > 0 or not self.live.page then
    return nil
  end
  local now = self:status()
  if now and now.phase == 'indexing' then
    return { 'Nothing yet; the index is being built.' }
  end
  return { self.source.nothing or 'No session found.' }
end

--- Shows the rows.
function Builtin:render()
  local bufnr, width = self.bufs.list, self.place.list.width
  local lines, spans = {}, {}
  local now = os.time()
  local message = self:message()
  for _, line in ipairs(message or {}) do
    lines[1] = ''
    lines[#lines + 1] = '  ' .. text.line(line)
    spans[#spans + 1] = { #lines - 1, 0, #lines[#lines], self.err and 'SessionlsWarning' or 'SessionlsMeta' }
  end
  for _, item in ipairs(message and {} or self.live.items) do
    for _, line in ipairs({ format.row(item, width, now) }) do
      for _, span in ipairs(line.spans) do
        spans[#spans + 1] = { #lines, span[1], span[2], span[3] }
      end
      lines[#lines + 1] = line.text
    end
  end
  vim.api.nvim_buf_clear_namespace(bufnr, ns, 0, -1)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  for _, span in ipairs(spans) do
    vim.api.nvim_buf_set_extmark(bufnr, ns, span[1], span[2], { end_col = span[3], hl_group = span[4], priority = 110 })
  end
  self:mark_selected()
  self:mark_prompt()
end

--- Shows which row is selected, and asks for its preview.
function Builtin:mark_selected()
  local winid, bufnr = self.wins.list, self.bufs.list
  self:show_footer()
  if self.selected_mark then
    for _, id in ipairs(self.selected_mark) do
      vim.api.nvim_buf_del_extmark(bufnr, ns, id)
    end
  end
  self.selected_mark = nil
  self.current = self:item()
  if self.current and not self.help then
    local row = 2 * self.selected - 2
    self.selected_mark = {}
    for i = 0, 1 do
      self.selected_mark[i + 1] = vim.api.nvim_buf_set_extmark(bufnr, ns, row + i, 0, {
        line_hl_group = 'SessionlsSelected',
        virt_text = { { '▌', 'SessionlsPrompt' } },
        virt_text_pos = 'overlay',
        priority = 90,
      })
    end
    vim.api.nvim_win_set_cursor(winid, { row + 2, 0 })
    vim.api.nvim_win_set_cursor(winid, { row + 1, 0 })
  end
  self.timer:stop()
  self.timer:start(
    preview_delay,
    0,
    vim.schedule_wrap(function()
      self:show_preview()
    end)
  )
end

--- Shows the prompt's sign and underlines what the server did not understand.
function Builtin:mark_prompt()
  local bufnr = self.bufs.prompt
  vim.api.nvim_buf_clear_namespace(bufnr, ns, 0, -1)
  local query = self:query()
  vim.api.nvim_buf_set_extmark(bufnr, ns, 0, 0, {
    virt_text = { { '> ', 'SessionlsPrompt' } },
    virt_text_pos = 'inline',
    right_gravity = false,
  })
  local page = self.live.page
  local said ---@type string?
  for _, diagnostic in ipairs(page and page.diagnostics or {}) do
    local bytes = text.utf16_to_bytes(query, { diagnostic.start, diagnostic['end'] })
    if bytes[2] > bytes[1] then
      local hl = { end_col = bytes[2], hl_group = 'DiagnosticUnderlineWarn' }
      vim.api.nvim_buf_set_extmark(bufnr, ns, 0, bytes[1], hl)
    end
    said = text.line(diagnostic.message)
  end
  if said then
    local room = math.max(self.place.prompt.width - vim.api.nvim_strwidth(query) - 4, 0)
    vim.api.nvim_buf_set_extmark(bufnr, ns, 0, 0, {
      virt_text = { { text.fit(said, room), 'SessionlsWarning' } },
      virt_text_pos = 'right_align',
    })
  end
end

---@return string
function Builtin:query()
  return vim.api.nvim_buf_get_lines(self.bufs.prompt, 0, 1, false)[1] or ''
end

---@return sessionls.Item?
function Builtin:item()
  return not self.err and self.live.items[self.selected] or nil
end

function Builtin:show_preview()
  if self:visible() and self.wins.preview and vim.api.nvim_win_is_valid(self.wins.preview) then
    self.preview:show(self:item(), self.bufs.preview, self.wins.preview)
  end
end

---@param by integer
function Builtin:move(by)
  self.note = nil
  local count = #self.live.items
  if count == 0 then
    return
  end
  self.selected = math.max(1, math.min(self.selected + by, count))
  if self.help then
    self.help = false
    self:render()
  else
    self:mark_selected()
  end
  if self.selected > count - 5 then
    self.live:more()
  end
end

---@param by integer lines; negative is up
function Builtin:scroll_preview(by)
  local winid = self.wins.preview
  if winid then
    vim.api.nvim_win_call(winid, function()
      local key = vim.keycode(by > 0 and '<C-e>' or '<C-y>')
      vim.cmd.normal({ args = { math.abs(by) .. key }, bang = true })
    end)
  end
end

--- An answer came. What was selected stays so, wherever it stands now, if the question is the same; who has not chosen
--- yet sees the first.
---@param err? string
---@param first boolean
function Builtin:answered(err, first)
  if not self:visible() then
    return
  end
  self.err = err
  if first then
    local chosen = self.refreshing and self.selected > 1 and self.current or nil
    self.selected = 1
    for i, item in ipairs(chosen and self.live.items or {}) do
      if item.agent == chosen.agent and item.sessionId == chosen.sessionId then
        self.selected = i
        break
      end
    end
  end
  self.refreshing = false
  self.help = false
  self:render()
end

function Builtin:search()
  self.note = nil
  self.refreshing = false
  self.live:search(self:query())
  if self.source.host then
    if hosts.connecting(self.source.host) then
      self.err = nil
      self:render()
    else
      self:show_footer()
    end
  end
end

--- Asks again when the index has changed, unless the list has several pages: it would shrink to its first. Of another
--- host's index nothing is known.
function Builtin:follow()
  return status.follow(function()
    return #self.live.items > 0 and refresh_interval or empty_interval
  end, function()
    if not self.source.host and #self.live.items <= config.get().picker_options.limit then
      self.refreshing = self.live:refresh()
    end
  end)
end

function Builtin:close()
  if self.closed then
    return
  end
  self.closed = true
  opened = nil
  self.timer:stop()
  self.timer:close()
  self.stop_status()
  self.live:stop()
  self.preview:stop()
  vim.api.nvim_del_augroup_by_id(self.group)
  vim.cmd.stopinsert()
  for _, winid in pairs(self.wins) do
    if vim.api.nvim_win_is_valid(winid) then
      vim.api.nvim_win_close(winid, true)
    end
  end
  if vim.api.nvim_win_is_valid(self.origin) then
    vim.api.nvim_set_current_win(self.origin)
  end
end

--- Runs an action on the selected row, or on the list as a whole.
---@param name string
function Builtin:act(name)
  if name == 'toggle_scope' then
    if self.source.toggled then
      self:switch(self.source.toggled())
    end
    return
  end
  local switch = actions.get(name).switch
  if switch then
    local query = self:query()
    self:close()
    return vim.schedule(function()
      switch(self.source, query, M.open)
    end)
  end
  local item, items = self:item(), self.live.items
  if not item then
    return
  end
  name = name == 'open' and self.source.default or name
  local action = actions.get(name)
  if action.keeps_open then
    return action.run(item, items, function(message)
      self.note = message
      self:show_footer()
    end)
  end
  self:close()
  -- Once insert mode has ended, in which no folds are made.
  vim.schedule(function()
    actions.run(name, item, items)
  end)
end

--- Shows another source under the same prompt.
---@param source sessionls.Source
function Builtin:switch(source)
  self.live:stop()
  self.source = source
  self.live = live.new(source, function(err, first)
    self:answered(err, first)
  end)
  self:draw()
  self:search()
end

function Builtin:map()
  local function map(modes, key, run, desc)
    if key then
      vim.keymap.set(modes, key, run, { buffer = self.bufs.prompt, nowait = true, desc = desc })
    end
  end
  local function mover(by)
    return function()
      self:move(by)
    end
  end
  local page = function(sign)
    return function()
      self:move(sign * math.max(1, math.floor(self.place.list.height / 2)))
    end
  end
  map({ 'n', 'i' }, '<Down>', mover(1), 'next session')
  map({ 'n', 'i' }, '<C-n>', mover(1), 'next session')
  map({ 'n', 'i' }, '<Up>', mover(-1), 'previous session')
  map({ 'n', 'i' }, '<C-p>', mover(-1), 'previous session')
  map({ 'n', 'i' }, '<PageDown>', page(1), 'next page of sessions')
  map({ 'n', 'i' }, '<PageUp>', page(-1), 'previous page of sessions')
  map('n', 'j', mover(1), 'next session')
  map('n', 'k', mover(-1), 'previous session')
  map('n', 'gg', mover(-math.huge), 'first session')
  map('n', 'G', mover(math.huge), 'last session')
  local function scroller(sign)
    return function()
      self:scroll_preview(sign * math.max(1, math.floor((self.place.preview or self.place.list).height / 2)))
    end
  end
  map({ 'n', 'i' }, '<C-f>', scroller(1), 'scroll the preview down')
  map({ 'n', 'i' }, '<C-b>', scroller(-1), 'scroll the preview up')
  for name, key in pairs(config.get().keys) do
    map({ 'n', 'i' }, key, function()
      self:act(name)
    end, actions.get(name).desc)
  end
  local function close()
    self:close()
  end
  map({ 'n', 'i' }, '<C-c>', close, 'close')
  map('n', '<Esc>', close, 'close')
  map('n', 'q', close, 'close')
  map({ 'n', 'i' }, '<F1>', function()
    self.help = not self.help
    self:render()
  end, 'keys')
end

function Builtin:watch()
  local function on(events, opts, run)
    opts.group = self.group
    opts.callback = run
    vim.api.nvim_create_autocmd(events, opts)
  end
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, { buffer = self.bufs.prompt }, function()
    local lines = vim.api.nvim_buf_get_lines(self.bufs.prompt, 0, -1, false)
    if #lines > 1 then -- pasted
      local joined = table.concat(lines, ' ')
      vim.api.nvim_buf_set_lines(self.bufs.prompt, 0, -1, false, { joined })
      vim.api.nvim_win_set_cursor(self.wins.prompt, { 1, #joined })
    end
    self:search()
  end)
  on('VimResized', {}, function()
    self:draw()
  end)
  on('WinClosed', {}, function(args)
    local winid = tonumber(args.match)
    if winid == self.wins.prompt or winid == self.wins.list then
      vim.schedule(function()
        self:close()
      end)
    end
  end)
  on('WinEnter', {}, function()
    if vim.api.nvim_get_current_win() ~= self.wins.prompt then
      vim.schedule(function()
        self:close()
      end)
    end
  end)
end

--- Opens the picker.
---@param source sessionls.Source
function M.open(source)
  if opened then
    opened:close()
  end
  highlight.define()
  ---@type sessionls.Builtin
  local self = setmetatable({
    source = source,
    selected = 1,
    origin = vim.api.nvim_get_current_win(),
    bufs = { prompt = scratch('prompt'), list = scratch('list'), preview = scratch('preview') },
    wins = {},
    preview = preview.new(),
    timer = assert(vim.uv.new_timer()),
    closed = false,
    group = vim.api.nvim_create_augroup('sessionls.picker', { clear = true }),
  }, Builtin)
  opened = self
  self.live = live.new(source, function(err, first)
    self:answered(err, first)
  end)
  vim.api.nvim_buf_set_lines(self.bufs.prompt, 0, -1, false, { text.line(source.query) })
  local stops = { self:follow(), status.subscribe(function()
    self:show_footer()
  end) }
  self.stop_status = function()
    stops[1]()
    stops[2]()
  end
  self:draw()
  self:map()
  self:watch()
  vim.api.nvim_win_set_cursor(self.wins.prompt, { 1, 0 })
  vim.cmd.startinsert({ bang = true })
  self:search()
end

return M
