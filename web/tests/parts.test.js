// Parts of the page that need no browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import { withSource } from './support/source.js';

test('events are the same however the stream is cut', () => withSource(async (load) => {
  const { EventCutter } = await load('/src/api/sse.ts');
  const stream = '\uFEFFevent: delta\ndata: {"text":"a"}\n\n: alive\n\nevent: delta\r\ndata: {"te\r\ndata: xt"}\r\n\r\ndata:plain\n\nevent: lost\n\n';
  const expected = [
    { event: 'delta', data: '{"text":"a"}' },
    { event: 'delta', data: '{"te\nxt"}' },
    { event: 'message', data: 'plain' },
  ];
  for (let size = 1; size <= stream.length; size += 1) {
    const cutter = new EventCutter();
    const found = [];
    for (let from = 0; from < stream.length; from += size) found.push(...cutter.push(stream.slice(from, from + size)));
    assert.deepEqual(found, expected, `cut every ${size}`);
  }
}));

test('a row is found where it begins, measured or not', () => withSource(async (load) => {
  const { Heights } = await load('/src/state/heights.ts');
  const heights = new Heights(10_000, 100);
  assert.equal(heights.end, 1_000_000);
  assert.equal(heights.set(0, 350), 250);
  assert.equal(heights.set(0, 350), 0);
  assert.equal(heights.start(1), 350);
  assert.equal(heights.at(349), 0);
  assert.equal(heights.at(350), 1);
  heights.resize(10_001);
  assert.equal(heights.of(0), 350);
  assert.equal(heights.end, 1_000_350);
  assert.equal(heights.at(Infinity), 10_000);
  assert.equal(new Heights(0, 100).at(5), 0);
}));

test('a difference keeps what is the same and names what went and came', () => withSource(async (load) => {
  const { difference } = await load('/src/text/difference.ts');
  const told = (one, two) => difference(one, two).map(({ change, text }) => ({ same: ' ', added: '+', removed: '-' })[change] + text).join('|');
  assert.equal(told('a\nb\nc', 'a\nx\nc'), ' a|-b|+x| c');
  assert.equal(told('a\nb\nc\nd', 'b\nd\ne'), '-a| b|-c| d|+e');
  assert.equal(told('same', 'same'), ' same');
}));

test('the window is drawn in the order of sending, neighbours of a kind as one', () => withSource(async (load) => {
  const { stretches } = await load('/src/text/window.ts');
  const piece = (kind, tokens, sent = true) => ({ source: { kind }, tokens, sent });
  const pieces = [piece('instructions', 5), piece('persona', 3), piece('rule', 4), piece('tool', 9, false), piece('history', 6), piece('message', 2)];
  assert.deepEqual(stretches({ pieces }), [
    { kind: 'instructions', tokens: 8, start: 0 },
    { kind: 'rules', tokens: 4, start: 8 },
    { kind: 'history', tokens: 6, start: 12 },
    { kind: 'message', tokens: 2, start: 18 },
  ]);
}));

test('two receipts are compared by what a piece is, not by its place', () => withSource(async (load) => {
  const { compareReceipts } = await load('/src/text/comparison.ts');
  const rule = (name, hash, mode = 'always') => ({ source: { kind: 'rule', name, mode }, hash, sent: true });
  const one = { pieces: [rule('a', '1'), rule('b', '2'), rule('c', '3')] };
  const two = { pieces: [rule('c', '3', 'manual'), rule('a', '9'), rule('d', '4'), { ...rule('e', '5'), sent: false }] };
  const names = (pieces) => pieces.map((piece) => piece.source.name);
  const { came, went, changed, same } = compareReceipts(one, two);
  assert.deepEqual([names(came), names(went), changed.map(({ after }) => after.source.name), names(same)], [['d'], ['b'], ['a'], ['c']]);
}));

test('metrics are read with labels, escapes and infinity', () => withSource(async (load) => {
  const { samples } = await load('/src/text/prometheus.ts');
  assert.deepEqual(samples('# HELP a b\na_seconds_bucket{le="+Inf",route="/\\"x\\""} 3\nb 1.5 123\nc +Inf\n'), [
    { name: 'a_seconds_bucket', labels: { le: '+Inf', route: '/"x"' }, value: 3 },
    { name: 'b', labels: {}, value: 1.5 },
    { name: 'c', labels: {}, value: Infinity },
  ]);
}));

test('every field of a persona is checked with its range', () => withSource(async (load) => {
  const { complaints } = await load('/src/text/persona.ts');
  const good = { name: 'Calm', system_prompt: 'Be calm.', personality: '', temperature: 0.7, reply_tokens_max: 1000, history_tokens_max: 15000, expiry_days: 7, keeps_calm: true };
  assert.deepEqual(complaints(good), {});
  const bad = { ...good, name: ' ', system_prompt: 'ü'.repeat(16_385), temperature: 1.01, reply_tokens_max: 0, history_tokens_max: NaN, expiry_days: 3651 };
  assert.deepEqual(Object.keys(complaints(bad)).sort(), ['expiry_days', 'history_tokens_max', 'name', 'reply_tokens_max', 'system_prompt', 'temperature']);
}));

test('a graph is laid out within its frame, apart, and always the same way', () => withSource(async (load) => {
  const { layOut } = await load('/src/text/graph.ts');
  const edges = [[0, 1], [0, 2], [0, 3], [3, 4]];
  const places = layOut(5, edges, 360, 240);
  assert.deepEqual(places, layOut(5, edges, 360, 240));
  for (const [index, { x, y }] of places.entries()) {
    assert.ok(x >= 0 && x <= 360 && y >= 0 && y <= 240);
    for (const other of places.slice(index + 1)) assert.ok(Math.hypot(x - other.x, y - other.y) > 25);
  }
}));

test('quantiles come out of the buckets between two looks', () => withSource(async (load) => {
  const { buckets, quantile, since } = await load('/src/text/histogram.ts');
  const sample = (le, value, route = '/a') => ({ name: 't_bucket', labels: { le, route }, value });
  const before = buckets([sample('0.1', 5), sample('1', 5), sample('+Inf', 5)], 't');
  const now = buckets([sample('0.1', 10), sample('1', 15), sample('+Inf', 15), sample('0.1', 5, '/b'), sample('1', 5, '/b'), sample('+Inf', 5, '/b')], 't');
  const counted = since(now, before);
  assert.deepEqual(counted, [[0.1, 10], [1, 15], [Infinity, 15]]);
  assert.equal(quantile(counted, 0.5).toFixed(4), '0.0750');
  assert.equal(quantile(counted, 0.9).toFixed(4), '0.7300');
  assert.equal(quantile([[0.1, 0], [Infinity, 0]], 0.5), null);
  assert.equal(quantile([[0.1, 0], [Infinity, 4]], 0.5), 0.1);
}));
