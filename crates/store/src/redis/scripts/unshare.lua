-- Removes all values of a user.
-- KEYS: their names
local gone = 0
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  gone = gone + redis.call('DEL', KEYS[1] .. ':' .. name)
end
redis.call('DEL', KEYS[1])
return gone
