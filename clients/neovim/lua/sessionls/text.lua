--- Text of transcripts made fit for the screen: offsets, control characters, widths, ages.
local M = {}

--- The byte length of a UTF-8 sequence by its first byte. A byte that starts no sequence counts as one.
---@param byte integer
---@return integer
local function sequence_length(byte)
  if byte < 0xC0 then
    return 1
  elseif byte < 0xE0 then
    return 2
  elseif byte < 0xF0 then
    return 3
  end
  return 4
end

--- Converts ascending UTF-16 offsets into byte offsets, both from 0. An offset past the end gives the end.
---@param s string
---@param offsets integer[] ascending
---@return integer[]
function M.utf16_to_bytes(s, offsets)
  local out, byte, unit = {}, 0, 0
  for i, offset in ipairs(offsets) do
    while unit < offset and byte < #s do
      local length = sequence_length(s:byte(byte + 1))
      byte = byte + length
      unit = unit + (length == 4 and 2 or 1)
    end
    out[i] = math.min(byte, #s)
  end
  return out
end

--- The length of text in UTF-16 units.
---@param s string
---@return integer
function M.utf16_length(s)
  local byte, unit = 0, 0
  while byte < #s do
    local length = sequence_length(s:byte(byte + 1))
    byte = byte + length
    unit = unit + (length == 4 and 2 or 1)
  end
  return unit
end

--- One line of text without anything that a terminal or a reader could take for something else: control characters,
--- line breaks and characters that turn the direction of writing become spaces.
---@param s string
---@return string
function M.line(s)
  s = s:gsub('[%z\1-\31\127]+', ' ')
  if s:find('[\xC2\xE2]') then
    s = s:gsub('\xC2[\x80-\x9F]', ' '):gsub('\xE2\x80[\x8E\x8F\xA8-\xAE]', ' '):gsub('\xE2\x81[\xA6-\xA9]', ' ')
  end
  return s
end

---@class sessionls.Piece
---@field text string one line, safe to show
---@field marked boolean whether it matched

--- Cuts a snippet into pieces by its marks. The brackets around a mark are the server's and are left out; brackets of
--- the text itself stay.
---@param snippet string
---@param marks [integer, integer][] UTF-16 offsets of the matched text, ascending
---@return sessionls.Piece[]
function M.pieces(snippet, marks)
  local offsets = {}
  for _, mark in ipairs(marks or {}) do
    vim.list_extend(offsets, mark)
  end
  local bytes = M.utf16_to_bytes(snippet, offsets)
  local out, at = {}, 0
  local function add(from, to, marked)
    if to > from then
      out[#out + 1] = { text = M.line(snippet:sub(from + 1, to)), marked = marked }
    end
  end
  for i = 1, #bytes - 1, 2 do
    local from, to = bytes[i], bytes[i + 1]
    local open = snippet:sub(from - 1, from) == '[[' and 2 or 0
    local close = snippet:sub(to + 1, to + 2) == ']]' and 2 or 0
    add(at, from - open, false)
    add(from, to, true)
    at = to + close
  end
  add(at, #snippet, false)
  return out
end

--- The distinct marked texts of a snippet in lower case, longest first, to find them again in a transcript.
---@param snippet string
---@param marks [integer, integer][]
---@return string[]
function M.terms(snippet, marks)
  local seen, out = {}, {}
  for _, piece in ipairs(M.pieces(snippet, marks)) do
    local term = vim.fn.tolower(vim.trim(piece.text))
    if piece.marked and term ~= '' and not seen[term] then
      seen[term] = true
      out[#out + 1] = term
    end
  end
  table.sort(out, function(a, b)
    return #a > #b
  end)
  return out
end

--- Cuts text to a number of screen cells.
---@param s string
---@param width integer
---@return string
function M.fit(s, width)
  if width <= 0 then
    return ''
  end
  if #s <= width or vim.api.nvim_strwidth(s) <= width then
    return s
  end
  -- A character is one cell at least, so that no more than width of them are looked at.
  local cut = vim.fn.strcharpart(s, 0, width)
  while cut ~= '' and vim.api.nvim_strwidth(cut) > width - 1 do
    cut = vim.fn.strcharpart(cut, 0, vim.fn.strchars(cut) - 1)
  end
  return cut .. '…'
end

--- Text in lines of a number of screen cells, broken between words; a word that is longer is broken, too.
---@param s string
---@param width integer
---@return string[]
function M.wrap(s, width)
  width = math.max(width, 1)
  local lines, line = {}, ''
  local function add(word)
    if line ~= '' and vim.api.nvim_strwidth(line .. ' ' .. word) <= width then
      line = line .. ' ' .. word
      return
    elseif line ~= '' then
      lines[#lines + 1] = line
    end
    while vim.api.nvim_strwidth(word) > width do
      local count = width
      while count > 1 and vim.api.nvim_strwidth(vim.fn.strcharpart(word, 0, count)) > width do
        count = count - 1
      end
      lines[#lines + 1] = vim.fn.strcharpart(word, 0, count)
      word = vim.fn.strcharpart(word, count)
    end
    line = word
  end
  for word in s:gmatch('%S+') do
    add(word)
  end
  lines[#lines + 1] = line
  return lines
end

--- Seconds since 1970 of an ISO 8601 instant in UTC, as the contract writes them.
---@param instant string?
---@return integer?
function M.epoch(instant)
  local y, mo, d, h, mi, s = (instant or ''):match('^(%d+)-(%d%d)-(%d%d)T(%d%d):(%d%d):(%d%d)')
  if not y then
    return nil
  end
  y, mo, d = tonumber(y), tonumber(mo), tonumber(d)
  -- Days since 1970 in a calendar whose years begin in March, so that the odd day comes last.
  if mo <= 2 then
    y, mo = y - 1, mo + 12
  end
  local days = 365 * y
    + math.floor(y / 4)
    - math.floor(y / 100)
    + math.floor(y / 400)
    + math.floor((153 * (mo - 3) + 2) / 5)
    + d
    - 719469
  return days * 86400 + tonumber(h) * 3600 + tonumber(mi) * 60 + tonumber(s)
end

local units = { { 31557600, 'y' }, { 604800, 'w' }, { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } }

--- How long ago, in two or three characters.
---@param instant string?
---@param now? integer seconds since 1970
---@return string
function M.age(instant, now)
  local at = M.epoch(instant)
  if not at then
    return ''
  end
  local past = (now or os.time()) - at
  for _, unit in ipairs(units) do
    -- Weeks up to a year, days up to two weeks.
    if past >= unit[1] * (unit[2] == 'w' and 2 or 1) then
      return math.floor(past / unit[1]) .. unit[2]
    end
  end
  return 'now'
end

--- The last segment of a path of any system.
---@param path string?
---@return string
function M.basename(path)
  return M.line(((path or ''):gsub('[/\\]+$', ''):match('[^/\\]+$')) or '')
end

--- "1 session", "2 sessions".
---@param n integer
---@param word string
---@return string
function M.count(n, word)
  return ('%d %s%s'):format(n, word, n == 1 and '' or 's')
end

return M
