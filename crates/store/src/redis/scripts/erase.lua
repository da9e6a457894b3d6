-- Removes a thread and its log; counts what goes.
-- KEYS: thread, log [, set of the user's threads]; ARGV: id
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
if KEYS[3] then
  redis.call('ZREM', KEYS[3], ARGV[1])
end
return {heads, entries, records, bytes}
