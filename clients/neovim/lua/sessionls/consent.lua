--- The user's consent: nothing is read before it.
local client = require('sessionls.client')
local config = require('sessionls.config')
local status = require('sessionls.status')

local M = {}

--- Whether "Not now" was said in this Neovim.
local postponed = false

local question = 'sessionls: index the sessions of your coding agents on this machine? '
  .. 'Transcripts are only read, the index stays here.'

---@type {label: string, policy?: table}[]
local answers = {
  { label = 'Yes', policy = { enabled = true } },
  { label = 'Yes, but only the last 90 days', policy = { enabled = true, historyDays = 90 } },
  { label = 'Not now' },
  { label = 'No, and do not ask again', policy = { enabled = false } },
}

--- Changes the policy, for all editors.
---@param policy {enabled?: boolean, historyDays?: integer}
---@param callback fun(err?: sessionls.Error, policy?: table)
function M.set(policy, callback)
  client.execute('setPolicy', policy, function(err, now)
    local known = status.get()
    if now and known and known.enabled and not now.enabled then
      -- The status that says so is still under way.
      status.set(vim.tbl_extend('force', known, { enabled = false, decided = now.enabled ~= nil, phase = 'idle' }))
    end
    callback(err, now)
  end)
end

---@param callback fun(agreed: boolean, why?: string)
local function ask(callback)
  vim.ui.select(answers, {
    prompt = question,
    kind = 'sessionls.consent',
    format_item = function(answer)
      return answer.label
    end,
  }, function(answer)
    if not answer or not answer.policy then
      postponed = true
      return callback(false, 'search stays off for now; :Sessions enable turns it on')
    end
    M.set(answer.policy, function(err)
      if err then
        return callback(false, err.message)
      end
      callback(answer.policy.enabled, 'search is off; :Sessions enable turns it on')
    end)
  end)
end

--- Calls back with true once the user has agreed, with false and the reason if not. Asks at most once in a Neovim, and
--- not at all if the options say yes or no.
---@param callback fun(agreed: boolean, why?: string)
function M.ensure(callback)
  local known = status.get()
  if known and known.enabled then
    return callback(true)
  end
  client.execute('getPolicy', nil, function(err, policy)
    if err or not policy then
      return callback(false, err and err.message or 'no answer')
    elseif policy.enabled then
      return callback(true)
    elseif policy.enabled == false then
      return callback(false, 'search is off; :Sessions enable turns it on')
    end
    local wish = config.get().enabled
    if wish then
      return M.set({ enabled = true }, function(failure)
        callback(failure == nil, failure and failure.message)
      end)
    elseif wish == false or postponed then
      return callback(false, 'search was not agreed to; :Sessions enable turns it on')
    end
    ask(callback)
  end)
end

return M
