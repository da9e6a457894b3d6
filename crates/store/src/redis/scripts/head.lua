-- The head, unless the caller knows this version already.
-- KEYS: thread; ARGV: known number or '', known incarnation
local now = redis.call('HMGET', KEYS[1], 'version', 'incarnation')
if not now[1] then
  return {}
end
if now[1] == ARGV[1] and now[2] == ARGV[2] then
  return {now[1]}
end
return redis.call('HMGET', KEYS[1], 'version', 'incarnation', 'entries', 'head')
