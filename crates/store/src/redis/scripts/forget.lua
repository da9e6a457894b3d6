-- Takes names out of a user's set whose threads are gone, except those announced lately: their
-- thread may be on its way.
-- KEYS: set, names announced lately; ARGV: 1 grace in ms, 2 '1' to take out in any case, then ids
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local gone = 0
for at = 3, #ARGV do
  local announced = redis.call('ZSCORE', KEYS[2], ARGV[at])
  if ARGV[2] == '1' or not announced or tonumber(announced) < now - tonumber(ARGV[1]) then
    gone = gone + redis.call('ZREM', KEYS[1], ARGV[at])
  end
end
return gone
