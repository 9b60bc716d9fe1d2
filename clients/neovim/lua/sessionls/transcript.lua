--- sessionls:// buffers: a transcript as read-only Markdown that grows with its session.
local buffer = require('sessionls.buffer')
local client = require('sessionls.client')
local highlight = require('sessionls.highlight')
local hosts = require('sessionls.host')
local lines_of = require('sessionls.lines')
local matches = require('sessionls.matches')
local status = require('sessionls.status')
local text = require('sessionls.text')
local uri = require('sessionls.uri')
local view = require('sessionls.view')

local M = {}

--- How long :edit waits for a transcript, in milliseconds. Who follows a workspace symbol or a quickfix entry sets the
--- cursor right after it.
local patience = 3000
--- The same for one of another host.
local remote_patience = 1000
--- How often a visible transcript is asked for what is new, in milliseconds.
local refresh_interval = 1000
--- The same for one of another host, which does not tell that there is something new, while its session goes on.
local poll_interval = 3000
--- How many events are stops of ]s and [s, the best ones.
local most_hits = 200
--- No buffer becomes longer than this.
local most_lines = 300000

--- What to show of a transcript when it opens.
---@class sessionls.Goal
---@field seq? integer
---@field evidence? sessionls.Evidence
---@field query? string

---@class sessionls.Document
---@field session sessionls.Session
---@field header? table
---@field spans sessionls.Span[]
---@field hits sessionls.Match[]
---@field goal sessionls.Goal
---@field length integer lines of the pages so far
---@field loaded boolean all pages are there
---@field late? boolean the pages came after :edit had ended
---@field fold_of? integer how many spans the folds are of
---@field starts? table<integer, true> lines at which an event begins, from 1
---@field cancel? fun()
---@field stop_status? fun()
---@field poll? uv.uv_timer_t

--- Where the host of a transcript is shown.
local host_namespace = vim.api.nvim_create_namespace('sessionls.transcript.host')

--- Loaded documents by buffer.
---@type table<integer, sessionls.Document>
local documents = {}

--- Goals of buffers that are about to be read, by name.
---@type table<string, sessionls.Goal>
local goals = {}

---@param bufnr? integer
---@return sessionls.Document?
function M.document(bufnr)
  return documents[bufnr or vim.api.nvim_get_current_buf()]
end

--- Puts the cursor of every window of the buffer to a place.
---@param bufnr integer
---@param line integer 0-based
---@param col integer
local function move_cursors(bufnr, line, col)
  for _, winid in ipairs(vim.fn.win_findbuf(bufnr)) do
    view.show(winid, line + 1, col)
  end
end

--- The words that were found, to find them again.
---@param goal sessionls.Goal
---@return string[]
local function terms_of(goal)
  local evidence = goal.evidence
  return evidence and text.terms(evidence.snippet, evidence.marks) or {}
end

--- Goes to the hit once its event is there.
---@param bufnr integer
---@param document sessionls.Document
local function reach_goal(bufnr, document)
  local seq = document.goal.seq
  local last = document.spans[#document.spans]
  if not seq or not last or (last.seq < seq and not document.loaded) then
    return
  end
  document.goal.seq = nil
  local span = lines_of.span(document.spans, seq)
  if span then
    local lines = vim.api.nvim_buf_get_lines(bufnr, span.first, span.last, false)
    local match = matches.find(lines, terms_of(document.goal), span.first)[1]
    move_cursors(bufnr, match and match[1] or span.first, match and match[2] or 0)
  end
end

--- Colours the hits: in the events that the server found, else wherever their words are.
---@param bufnr integer
---@param document sessionls.Document
---@param found? {seq: integer, snippet: string, marks: [integer, integer][]}[]
local function mark_hits(bufnr, document, found)
  vim.api.nvim_buf_clear_namespace(bufnr, highlight.namespace, 0, -1)
  local evidence = document.goal.evidence
  if not found then
    document.hits = matches.mark(bufnr, terms_of(document.goal), 0, vim.api.nvim_buf_line_count(bufnr))
    if document.hits[1] or not (evidence and evidence.seq) then
      return
    end
    found = { evidence }
  end
  local hits = {} ---@type sessionls.Match[]
  for _, hit in ipairs(found) do
    local span = lines_of.span(document.spans, hit.seq)
    if span and span.seq == hit.seq then
      local here = matches.mark(bufnr, text.terms(hit.snippet, hit.marks), span.first, span.last)
      if not here[1] then
        local winid = vim.fn.win_findbuf(bufnr)[1]
        matches.note(bufnr, span.first, hit, winid and vim.api.nvim_win_get_width(winid) or 80)
      end
      -- One stop in each event: the words of a query may be all over it.
      hits[#hits + 1] = here[1] or { span.first, 0, 0 }
    end
  end
  table.sort(hits, function(a, b)
    return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2])
  end)
  document.hits = hits
end

---@param bufnr integer
---@param document sessionls.Document
local function find_hits(bufnr, document)
  local query = document.goal.query
  if not query or not query:match('%S') or not client.supports('searchEvents') then
    return mark_hits(bufnr, document)
  end
  local session = document.session
  hosts.ask(session.executionHostId, 'searchEvents', {
    sessionId = session.sessionId,
    agent = session.agent,
    query = query,
    limit = most_hits,
  }, function(err, answer)
    if documents[bufnr] == document then
      mark_hits(bufnr, document, not err and answer and answer.hits or nil)
    end
  end)
end

--- Takes a page behind the first so many lines, in place of what stands there.
---@param bufnr integer
---@param document sessionls.Document
---@param page sessionls.Rendered
---@return boolean whether there is room for more
local function append(bufnr, document, page)
  local lines = lines_of.split(page)
  local offset = document.length
  vim.list_extend(document.spans, lines_of.spans(page, offset))
  document.header = page.session or document.header
  buffer.replace(bufnr, offset, lines)
  document.length = offset + #lines
  reach_goal(bufnr, document)
  return document.length < most_lines
end

--- Whose transcript it is, at the right of its first line, if it is not of this machine.
---@param bufnr integer
---@param document sessionls.Document
local function show_host(bufnr, document)
  vim.api.nvim_buf_clear_namespace(bufnr, host_namespace, 0, -1)
  if hosts.of(document.session.executionHostId) then
    vim.api.nvim_buf_set_extmark(bufnr, host_namespace, 0, 0, {
      virt_text = { { ' ' .. hosts.name(document.session.executionHostId), 'SessionlsHost' } },
      virt_text_pos = 'right_align',
    })
  end
end

--- A quickfix entry leads to its line at once, at which there may be no line yet: goes there when it is.
---@param bufnr integer
local function reach_quickfix(bufnr)
  local list = vim.fn.getqflist({ idx = 0, items = 1 })
  local entry = list.items and list.items[list.idx or 0]
  if not entry or entry.bufnr ~= bufnr or entry.lnum < 2 then
    return
  end
  for _, winid in ipairs(vim.fn.win_findbuf(bufnr)) do
    if vim.api.nvim_win_get_cursor(winid)[1] == 1 then
      view.show(winid, entry.lnum)
    end
  end
end

---@param bufnr integer
---@param document sessionls.Document
local function finish(bufnr, document)
  document.cancel = nil
  document.loaded = true
  if document.header then
    vim.b[bufnr].sessionls = {
      agent = document.session.agent,
      sessionId = document.session.sessionId,
      host = document.session.executionHostId or hosts.here,
      title = text.line(document.header.title or ''),
      cwd = document.header.cwd,
    }
  end
  show_host(bufnr, document)
  reach_goal(bufnr, document)
  if document.late and not document.goal.evidence then
    reach_quickfix(bufnr)
  end
  find_hits(bufnr, document)
end

---@param bufnr integer
---@param message string
local function tell(bufnr, message)
  buffer.replace(bufnr, 0, { '> ' .. text.line(message) })
end

--- Gives up what is under way in a transcript.
---@param bufnr integer
local function give_up(bufnr)
  local document = documents[bufnr]
  if not document or not document.cancel then
    return
  end
  document.cancel()
  document.cancel = nil
  if #document.spans == 0 then
    tell(bufnr, 'given up; :edit reads it')
  end
end

---@param bufnr integer
---@param document sessionls.Document
local function load(bufnr, document)
  document.spans, document.length, document.loaded = {}, 0, false
  document.cancel = lines_of.pages(document.session, 0, function(page)
    return documents[bufnr] == document and append(bufnr, document, page)
  end, function(err)
    if documents[bufnr] ~= document then
      return
    elseif err and #document.spans == 0 then
      tell(bufnr, err.message)
    end
    finish(bufnr, document)
  end)
end

--- The last event whose text has a heading of its own. From there on a transcript is rendered as within the whole;
--- from the middle of somebody's turn on, its heading would be repeated.
---@param bufnr integer
---@param document sessionls.Document
---@return integer? index into the spans
local function last_heading(bufnr, document)
  for i = #document.spans, 1, -1 do
    local first = document.spans[i].first
    if vim.startswith(vim.api.nvim_buf_get_lines(bufnr, first, first + 1, false)[1] or '', '## ') then
      return i
    end
  end
end

--- Calls a function; the windows of the buffer whose cursor was on its last line have it there afterwards, too.
---@param bufnr integer
---@param change fun()
local function follow_end(bufnr, change)
  local count = vim.api.nvim_buf_line_count(bufnr)
  local at_end = vim.tbl_filter(function(winid)
    return vim.api.nvim_win_get_cursor(winid)[1] == count
  end, vim.fn.win_findbuf(bufnr))
  change()
  for _, winid in ipairs(at_end) do
    vim.api.nvim_win_set_cursor(winid, { vim.api.nvim_buf_line_count(bufnr), 0 })
  end
end

--- Asks for what has been added. The last turn is read again: it may have been incomplete.
---@param bufnr integer
---@param document sessionls.Document
local function grow(bufnr, document)
  if not document.loaded or document.cancel or #vim.fn.win_findbuf(bufnr) == 0 then
    return
  end
  local heading = last_heading(bufnr, document)
  if not heading then
    return load(bufnr, document)
  end
  local from = document.spans[heading]
  local epoch = document.header and document.header.epoch
  local fresh, rewritten = false, false
  document.cancel = lines_of.pages(document.session, from.seq, function(page)
    if documents[bufnr] ~= document then
      return false
    end
    document.header = page.session or document.header
    if page.session and page.session.epoch ~= epoch then
      rewritten = true
      return false
    elseif not fresh then
      local old = vim.api.nvim_buf_get_lines(bufnr, from.first, -1, false)
      if not page.nextSeq and vim.deep_equal(lines_of.split(page), old) then
        return false
      end
      fresh = true
      for i = #document.spans, heading, -1 do
        document.spans[i] = nil
      end
      document.length = from.first
    end
    follow_end(bufnr, function()
      append(bufnr, document, page)
    end)
  end, function(err)
    if documents[bufnr] ~= document then
      return
    end
    document.cancel = nil
    if err and document.header then
      document.header.active = false
    end
    if rewritten then
      load(bufnr, document)
    elseif fresh then
      find_hits(bufnr, document)
    end
  end)
end

--- Follows a session of another host: asks for what is new while somebody looks and the session goes on. One that
--- rests is asked again when it is looked at anew.
---@param bufnr integer
---@param document sessionls.Document
local function poll(bufnr, document)
  document.poll = assert(vim.uv.new_timer())
  document.poll:start(
    poll_interval,
    poll_interval,
    vim.schedule_wrap(function()
      if documents[bufnr] == document and document.header and document.header.active then
        grow(bufnr, document)
      end
    end)
  )
end

---@param bufnr integer
---@param document sessionls.Document
local function follow(bufnr, document)
  if hosts.of(document.session.executionHostId) then
    return poll(bufnr, document)
  end
  document.stop_status = status.follow(function()
    return refresh_interval
  end, function()
    if documents[bufnr] == document and vim.api.nvim_buf_is_loaded(bufnr) then
      grow(bufnr, document)
    end
  end)
end

---@param bufnr integer
local function forget(bufnr)
  local document = documents[bufnr]
  if document then
    documents[bufnr] = nil
    if document.cancel then
      document.cancel()
    end
    if document.stop_status then
      document.stop_status()
    end
    if document.poll then
      document.poll:stop()
      document.poll:close()
    end
  end
end

--- The fold level of a line: a turn is a fold, and so is every other event in it, such as a tool's output.
---@return string|integer
function M.fold()
  local document = M.document()
  if not document then
    return 0
  end
  if document.fold_of ~= #document.spans then
    document.fold_of, document.starts = #document.spans, {}
    for _, span in ipairs(document.spans) do
      document.starts[span.first + 1] = true
    end
  end
  if not document.starts[vim.v.lnum] then
    return '='
  end
  return vim.startswith(vim.fn.getline(vim.v.lnum), '## ') and '>1' or '>2'
end

--- Goes to the next hit, or the previous one; round at the ends.
---@param by integer 1 or -1, times a count
function M.jump(by)
  local document = M.document()
  local hits = document and document.hits or {}
  if #hits == 0 then
    return vim.api.nvim_echo({ { 'no hits' } }, false, {})
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  local line, col = cursor[1] - 1, cursor[2]
  -- How many hits stand before the cursor, and whether one is under it.
  local before, under = 0, false
  for _, hit in ipairs(hits) do
    if hit[1] < line or (hit[1] == line and hit[2] < col) then
      before = before + 1
    elseif hit[1] == line and hit[2] == col then
      under = true
    end
  end
  local target = by > 0 and before + by + (under and 1 or 0) or before + 1 + by
  target = (target - 1) % #hits + 1
  vim.cmd.normal({ args = { "m'" }, bang = true })
  vim.api.nvim_win_set_cursor(0, { hits[target][1] + 1, hits[target][2] })
  view.open_fold()
  vim.api.nvim_echo({ { ('hit %d of %d'):format(target, #hits) } }, false, {})
end

--- Goes to the next event, or the previous one.
---@param by integer
function M.jump_event(by)
  local document = M.document()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local starts = {}
  for _, span in ipairs(document and document.spans or {}) do
    if (by > 0 and span.first > line) or (by < 0 and span.first < line) then
      starts[#starts + 1] = span.first
    end
  end
  local target = by > 0 and math.min(by, #starts) or math.max(#starts + 1 + by, 1)
  if starts[target] then
    vim.api.nvim_win_set_cursor(0, { starts[target] + 1, 0 })
    view.open_fold()
  end
end

--- The file under the cursor, as the session wrote it: below its folder unless it is absolute. Nil if there is none.
---@return string? path, integer? line
function M.file_under_cursor()
  local document = M.document()
  local word = vim.fn.expand('<cfile>')
  local cwd = document and document.header and document.header.cwd
  -- Punctuation and a position may be taken for a part of the name.
  local line = tonumber(vim.fn.expand('<cWORD>'):match(vim.pesc(word) .. ':(%d+)'))
  for _, name in ipairs({ word, (word:gsub('[.,:;]+$', '')), (word:gsub(':%d+.*$', '')) }) do
    local home = name:gsub('^~/', (vim.env.HOME or '~') .. '/')
    for _, path in ipairs({ home, cwd and cwd .. '/' .. name or home }) do
      if path:match('^[/\\]') or path:match('^%a:[/\\]') then
        local stat = vim.uv.fs_stat(path)
        if stat and stat.type == 'file' then
          return path, line
        end
      end
    end
  end
end

local function goto_file()
  local document = M.document()
  local host = document and hosts.of(document.session.executionHostId)
  if host then
    -- A path of this machine that is spelled alike would be another file.
    return vim.notify(('sessionls: this file is on %s, not here'):format(hosts.name(host)), vim.log.levels.WARN)
  end
  local path, line = M.file_under_cursor()
  if not path then
    return vim.notify('sessionls: no such file here: ' .. text.line(vim.fn.expand('<cfile>')), vim.log.levels.WARN)
  end
  vim.cmd.edit({ args = { path }, magic = { file = false, bar = false } })
  if line then
    vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(0)), 0 })
  end
end

---@param bufnr integer
local function map(bufnr)
  local function keys(lhs, run, desc)
    vim.keymap.set('n', lhs, run, { buffer = bufnr, desc = desc })
  end
  keys(']s', function()
    M.jump(vim.v.count1)
  end, 'next hit')
  keys('[s', function()
    M.jump(-vim.v.count1)
  end, 'previous hit')
  keys(']]', function()
    M.jump_event(vim.v.count1)
  end, 'next event')
  keys('[[', function()
    M.jump_event(-vim.v.count1)
  end, 'previous event')
  keys('gf', goto_file, 'edit the file under the cursor')
  keys('<C-c>', function()
    give_up(bufnr)
  end, 'give up reading')
end

--- Options of a window that shows a transcript; they stay behind when it shows something else.
local window_options = {
  wrap = true,
  linebreak = true,
  conceallevel = 2,
  spell = false,
  foldmethod = 'expr',
  foldexpr = "v:lua.require'sessionls.transcript'.fold()",
  foldtext = '',
  foldlevel = 99,
}

---@param bufnr integer
local function dress_windows(bufnr)
  for _, winid in ipairs(vim.fn.win_findbuf(bufnr)) do
    for name, value in pairs(window_options) do
      vim.api.nvim_set_option_value(name, value, { win = winid, scope = 'local' })
    end
  end
end

---@param bufnr integer
local function dress(bufnr)
  highlight.define()
  -- A buffer that is no file, and yet can be read again with :edit.
  vim.bo[bufnr].buftype = 'nowrite'
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].bufhidden = 'hide'
  -- Not "markdown": what is said to agents is not to be sent to whatever attaches to Markdown.
  vim.bo[bufnr].filetype = 'sessionls'
  pcall(vim.treesitter.start, bufnr, 'markdown')
  map(bufnr)
  dress_windows(bufnr)
  local group = vim.api.nvim_create_augroup('sessionls.transcript.' .. bufnr, { clear = true })
  vim.api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = bufnr,
    callback = function()
      dress_windows(bufnr)
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufWinEnter', 'BufEnter', 'FocusGained' }, {
    group = group,
    buffer = bufnr,
    callback = function(args)
      local document = documents[bufnr]
      -- Of this machine's it is told when they grow.
      if document and (args.event == 'BufWinEnter' or document.poll) then
        grow(bufnr, document)
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufUnload', 'BufWipeout' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      forget(bufnr)
    end,
  })
end

--- Waits until what is to be shown of a transcript is there, but not long.
---@param document sessionls.Document
---@param time integer milliseconds
local function wait(document, time)
  local there = vim.wait(time, function()
    return document.loaded or (document.goal.query ~= nil and #document.spans > 0 and document.goal.seq == nil)
  end, 5)
  document.late = not there
end

--- Reads a transcript into its buffer; what BufReadCmd calls.
---@param bufnr integer
---@param name string
function M.read(bufnr, name)
  local session, seq = uri.parse(name)
  if not session then
    return vim.notify('sessionls: no transcript has this name: ' .. text.line(name), vim.log.levels.ERROR)
  end
  if seq then
    -- A link into a transcript. There is one buffer for each session.
    goals[uri.of(session)] = { seq = seq }
    return vim.schedule(function()
      vim.cmd.edit({ args = { uri.of(session) }, magic = { file = false, bar = false } })
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end)
  end
  local earlier = documents[bufnr]
  forget(bufnr)
  ---@type sessionls.Document
  local document = {
    session = session,
    spans = {},
    hits = {},
    goal = goals[name] or (earlier and { evidence = earlier.goal.evidence, query = earlier.goal.query }) or {},
    loaded = false,
  }
  goals[name] = nil
  documents[bufnr] = document
  dress(bufnr)
  local host = hosts.of(session.executionHostId)
  local reached = hosts.reached(host)
  if host and not reached then
    tell(bufnr, hosts.connecting_words(host) .. ' <C-c> gives up')
    follow(bufnr, document)
    load(bufnr, document)
    document.late = true
    return
  end
  tell(bufnr, 'reading …')
  if host then
    follow(bufnr, document)
    load(bufnr, document)
    return wait(document, remote_patience)
  end
  require('sessionls.consent').ensure(function(agreed, why)
    if documents[bufnr] ~= document then
      return
    elseif not agreed then
      return tell(bufnr, why or 'search is off')
    end
    follow(bufnr, document)
    load(bufnr, document)
  end)
  wait(document, patience)
end

--- Opens the transcript of an item at its hit.
---@param item sessionls.Item
---@param how string an Ex command that takes a name: edit, split, vsplit, tabedit
function M.open(item, how)
  local name = uri.of(item)
  local evidence = item.evidence
  local goal = {
    seq = evidence and evidence.seq,
    evidence = evidence,
    query = item.query,
  }
  local bufnr = vim.fn.bufnr('^' .. vim.fn.escape(name, '^$.*~[]\\') .. '$')
  local document = documents[bufnr]
  if not document then
    goals[name] = goal
  end
  vim.cmd({ cmd = how, args = { name }, magic = { file = false, bar = false } })
  if document then
    document.goal = goal
    reach_goal(bufnr, document)
    find_hits(bufnr, document)
  end
end

return M
