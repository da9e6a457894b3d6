-- Cluster: puts a thread into its user's set before the thread itself is changed, so that a writer
-- that dies in between leaves a name too many, never one too few.
-- KEYS: set, names announced lately; ARGV: score, id, expiry in ms or '', grace in ms
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[4]))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
local made = redis.call('EXISTS', KEYS[1]) == 0
local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not score or tonumber(score) < tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
end
if ARGV[3] == '' then
  redis.call('PERSIST', KEYS[1])
elseif made then
  redis.call('PEXPIREAT', KEYS[1], ARGV[3])
elseif type(redis.pcall('PEXPIREAT', KEYS[1], ARGV[3], 'GT')) == 'table' then
  redis.call('PERSIST', KEYS[1])
end
return 1
