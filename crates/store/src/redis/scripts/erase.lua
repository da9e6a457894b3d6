-- Removes a thread, its log and what was cached for it; counts what goes.
-- KEYS: thread, log, cached contexts [, set of the user's threads]; ARGV: id
-- Answers {heads, entries, records, bytes}
local heads = redis.call('EXISTS', KEYS[1])
local bytes = redis.call('HSTRLEN', KEYS[1], 'head')
local entries = redis.call('LLEN', KEYS[2])
for from = 0, entries - 1, 100 do
  for _, entry in ipairs(redis.call('LRANGE', KEYS[2], from, from + 99)) do
    bytes = bytes + #entry
  end
end
local records = redis.call('DEL', KEYS[1]) + redis.call('DEL', KEYS[2])
for _, name in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  records = records + redis.call('DEL', KEYS[3] .. ':' .. name)
end
redis.call('DEL', KEYS[3])
if KEYS[4] then
  redis.call('ZREM', KEYS[4], ARGV[1])
end
return {heads, entries, records, bytes}
