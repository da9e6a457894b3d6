-- One step of a thread: compares the version, replaces the head, appends, overwrites, expires.
-- KEYS: thread, log [, set of the user's threads: one server only, a cluster has it elsewhere]
-- ARGV: 1 expected number or '', 2 expected incarnation, 3 attempt id, 4 new incarnation, 5 time,
--       6 head, 7 expiry in ms or '', 8 attempt ids kept, 9 score, 10 id, 11 entries to append,
--       then those entries, then pairs of number and bytes to overwrite
-- Answers {'done'|'again'|'conflict'|'beyond', number, incarnation}
local now = redis.call('HMGET', KEYS[1], 'version', 'incarnation', 'entries', 'attempts')
local attempts = now[4] or ''
for at = #attempts - 15, 1, -16 do
  if string.sub(attempts, at, at + 15) == ARGV[3] then
    local back = (#attempts - 15 - at) / 16
    return {'again', string.format('%.0f', tonumber(now[1]) - back), now[2]}
  end
end
if (now[1] or '') ~= ARGV[1] or (now[1] and now[2] ~= ARGV[2]) then
  return {'conflict', now[1] or '', now[2] or ''}
end
local length = tonumber(now[3] or '0')
local append = tonumber(ARGV[11])
for at = 12 + append, #ARGV, 2 do
  if tonumber(ARGV[at]) >= length then
    return {'beyond', ARGV[at], ''}
  end
end
local number = string.format('%.0f', tonumber(now[1] or '0') + 1)
local incarnation = now[2] or ARGV[4]
if not now[1] then
  redis.call('DEL', KEYS[2])
end
for at = 12 + append, #ARGV, 2 do
  redis.call('LSET', KEYS[2], ARGV[at], ARGV[at + 1])
end
for at = 12, 11 + append do
  redis.call('RPUSH', KEYS[2], ARGV[at])
end
attempts = string.sub(attempts .. ARGV[3], -16 * tonumber(ARGV[8]))
redis.call('HSET', KEYS[1], 'version', number, 'incarnation', incarnation,
  'entries', string.format('%.0f', length + append), 'changed_at', ARGV[5],
  'head', ARGV[6], 'attempts', attempts)
for at = 1, 2 do
  if ARGV[7] == '' then
    redis.call('PERSIST', KEYS[at])
  else
    redis.call('PEXPIREAT', KEYS[at], ARGV[7])
  end
end
if KEYS[3] then
  local made = redis.call('EXISTS', KEYS[3]) == 0
  redis.call('ZADD', KEYS[3], ARGV[9], ARGV[10])
  if ARGV[7] == '' then
    redis.call('PERSIST', KEYS[3])
  elseif made then
    redis.call('PEXPIREAT', KEYS[3], ARGV[7])
  else
    -- The set lives as long as its longest-lived thread. Before Redis 7 it then has no expiry.
    if type(redis.pcall('PEXPIREAT', KEYS[3], ARGV[7], 'GT')) == 'table' then
      redis.call('PERSIST', KEYS[3])
    end
  end
end
return {'done', number, incarnation}
