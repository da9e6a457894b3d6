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
  const piece = (kind, tokens, included = true) => ({ source: { kind }, tokens, included });
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
  const rule = (name, hash, mode = 'always') => ({ source: { kind: 'rule', name, mode }, hash, included: true });
  const one = { pieces: [rule('a', '1'), rule('b', '2'), rule('c', '3')] };
  const two = { pieces: [rule('c', '3', 'manual'), rule('a', '9'), rule('d', '4'), { ...rule('e', '5'), included: false }] };
  const said = (hash) => ({ source: { kind: 'message' }, hash, included: true });
  one.pieces.push(said('m1'));
  two.pieces.push(said('m2'));
  const names = (pieces) => pieces.map((piece) => piece.source.name ?? piece.source.kind);
  const { came, went, changed, same } = compareReceipts(one, two);
  assert.deepEqual([names(came), names(went), changed.map(({ after }) => after.source.name), names(same)], [['d', 'message'], ['b'], ['a'], ['c']], 'a message is new each time');
}));

test('a thing that is in a request twice is not new because one of its texts is', () => withSource(async (load) => {
  const { compareReceipts } = await load('/src/text/comparison.ts');
  const entity = (name, hash) => ({ source: { kind: 'entity', type: 'device', name }, hash, included: true });
  const one = { pieces: [entity('core-01', '1'), entity('core-02', '2'), entity('core-02', '3')] };
  const two = { pieces: [entity('core-02', '2'), entity('core-02', '4'), entity('core-01', '1'), entity('core-02', '3')] };
  const told = (one, two) => { const { came, went, changed, same } = compareReceipts(one, two); return [came, went, changed.map(({ after }) => after), same].map((pieces) => pieces.map(({ hash }) => hash).join(' ')); };
  assert.deepEqual(told(one, two), ['4', '', '', '2 1 3']);
  assert.deepEqual(told(two, one), ['', '4', '', '1 2 3']);
}));

test('metrics are read with labels, escapes and infinity', () => withSource(async (load) => {
  const { samples } = await load('/src/text/prometheus.ts');
  assert.deepEqual(samples('# HELP a b\na_seconds_bucket{le="+Inf",route="/\\"x\\""} 3\nb 1.5 123\nc +Inf\n'), [
    { name: 'a_seconds_bucket', labels: { le: '+Inf', route: '/"x"' }, value: 3 },
    { name: 'b', labels: {}, value: 1.5 },
    { name: 'c', labels: {}, value: Infinity },
  ]);
}));

test('a turn whose model failed is one failed turn', () => withSource(async (load) => {
  globalThis.sessionStorage ??= { getItem: () => null };
  const { figuresOf } = await load('/src/state/figures.ts');
  const { samples } = await load('/src/text/prometheus.ts');
  const of = (text) => figuresOf({ at: 0, health: { context: { turns: 0, stable_prefix_share: 0 } }, stats: {}, samples: samples(text) }).find(({ name }) => name === 'Turns');
  const found = of('throughline_turns_total{status="complete"} 61\nthroughline_turns_total{status="failed"} 11\nthroughline_model_failures_total{cause="rejected"} 12\n');
  assert.deepEqual([found.value, found.means, found.bad], ['72', 'since the start; 11 failed, models 12 times', true]);
  assert.equal(of('throughline_turns_total{status="complete"} 3\n').means, 'since the start; none failed');
}));

test('every field of a persona is checked with its range', () => withSource(async (load) => {
  const { complaints } = await load('/src/text/persona.ts');
  const good = { name: 'Calm', system_prompt: 'Be calm.', personality: '', temperature: 0.7, reply_tokens_max: 1000, history_tokens_max: 15000, expiry_days: 7, keeps_calm: true };
  assert.deepEqual(complaints(good), {});
  const bad = { ...good, name: ' ', system_prompt: 'ü'.repeat(16_385), temperature: 1.01, reply_tokens_max: 0, history_tokens_max: NaN, expiry_days: 3651 };
  assert.deepEqual(Object.keys(complaints(bad)).sort(), ['expiry_days', 'history_tokens_max', 'name', 'reply_tokens_max', 'system_prompt', 'temperature']);
}));

test('a graph is laid out within its frame, no box on another, and always the same way', () => withSource(async (load) => {
  const { layOut } = await load('/src/text/graph.ts');
  const boxes = Array.from({ length: 18 }, (_, index) => ({ left: 20 + 3 * (index % 7), right: 20 + 3 * (index % 7), up: 9, down: 24 }));
  const edges = boxes.map((_, index) => [index, index % 3]).filter(([one, two]) => one !== two);
  const layout = layOut(boxes, edges);
  assert.deepEqual(layout, layOut(boxes, edges));
  const sides = layout.places.map(({ x, y }, index) => ({ left: x - boxes[index].left, right: x + boxes[index].right, top: y - boxes[index].up, bottom: y + boxes[index].down }));
  for (const [index, one] of sides.entries()) {
    assert.ok(one.left >= layout.x && one.right <= layout.x + layout.width && one.top >= layout.y && one.bottom <= layout.y + layout.height);
    for (const two of sides.slice(index + 1)) assert.ok(one.right <= two.left || two.right <= one.left || one.bottom <= two.top || two.bottom <= one.top);
  }
}));

test('a thing without relations in the graph does not make the others small', () => withSource(async (load) => {
  const { layOut } = await load('/src/text/graph.ts');
  const boxes = Array.from({ length: 15 }, () => ({ left: 35, right: 35, up: 9, down: 24 }));
  const edges = boxes.slice(1, 14).map((_, index) => [index + 1, 0]);
  const together = layOut(boxes.slice(0, 14), edges);
  const whole = layOut(boxes, edges);
  assert.ok(whole.width * whole.height < together.width * together.height * 1.6, `${whole.width} × ${whole.height} beside ${together.width} × ${together.height}`);
}));

test('what went wrong with a turn is said in words, and stopping is nothing wrong', () => withSource(async (load) => {
  const { failureOf } = await load('/src/text/failure.ts');
  const turn = (more) => ({ status: 'complete', reply: 'text', error: null, form: { by: 'model' }, ...more });
  const told = (more) => {
    const failure = failureOf(turn(more));
    return failure && [failure.kind, failure.words, failure.answeredWithout];
  };
  assert.equal(told({}), null);
  assert.equal(told({ form: { by: 'offline', why: 'no model is configured' } }), null);
  assert.deepEqual(told({ status: 'partial', error: { code: 'cancelled', message: 'model x failed: it was stopped' } }), ['stopped', 'Stopped. This is what had been said.', false]);
  assert.deepEqual(told({ status: 'failed', reply: '', error: { code: 'cancelled', message: '' } }), ['stopped', 'Stopped before anything was said.', false]);
  const failed = (error, more) => told({ status: 'failed', reply: '', error: { code: 'model_failed', message: '', ...error }, ...more });
  assert.deepEqual(failed({ cause: 'timed_out' }), ['failed', 'The model did not answer in time.', false]);
  assert.deepEqual(failed({ cause: 'rate_limited', message: 'words that say nothing of it' }), ['failed', "The model's provider asks to slow down, or a quota is used up.", false]);
  assert.deepEqual(failed({ cause: 'unreachable' }, { status: 'partial', reply: 'Half a' }), ['failed', 'The model could not be reached.', false]);
  assert.deepEqual(failed({ cause: 'failed' }, { reply: 'Looked up.', form: { by: 'offline', why: 'the model could not be asked' } }), ['failed', "The model's provider failed.", true]);
  // Turns of older servers have no cause, and a newer server may have causes that this page does not know.
  assert.deepEqual(failed({ message: 'model x failed: 429 slow down' }), ['failed', 'The model failed.', false]);
  assert.deepEqual(failed({ code: 'upstream_500', cause: 'moon_phase' }), ['failed', 'The turn failed.', false]);
  assert.deepEqual(failed({ code: 'no_tool' }), ['failed', 'No tool fits this question.', false]);
  assert.deepEqual(failed({ code: 'tool_failed' }), ['failed', 'A tool failed.', false]);
}));

test('colours lose no character of the code, whatever it is', () => withSource(async (load) => {
  const { highlighted } = await load('/src/text/highlight.ts');
  const text = (html) => html.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  const samples = ['fn main() { "a // b" /* c */ 0x1f }', "SELECT * FROM t WHERE a = 'x' -- y", '# comment\nexport A=1 "$B"', '<p class="x">&amp;</p><!-- c -->', '{"key": [1, true, null]}', '- old\n+ new\n@@ 1 @@', '`${a}` \'unclosed', '</script><script>alert(1)</script>'];
  for (const code of samples) {
    for (const language of ['rust', 'sql', 'bash', 'html', 'json', 'diff', 'python', 'unknown', '']) {
      const html = highlighted(code, language);
      assert.equal(text(html), code, `${language}: ${code}`);
      assert.ok(!/<(?!\/?span)/.test(html), html);
    }
  }
}));

test('the time of a turn adds up, whether the server measured it or not', () => withSource(async (load) => {
  const { timeOf } = await load('/src/text/timeline.ts');
  const call = (round, took_ms) => ({ server: 's', name: `t${round}`, round, took_ms });
  const turn = { at: '2026-01-01T00:00:01.000Z', took_ms: 500, form: { by: 'model', model: 'm' }, tool_executions: [call(1, 100), call(1, 50), call(2, 30)] };
  const spans = (time) => time.spans.map(({ label, start, took }) => `${label} ${start}+${took}`);
  const receipt = { at: '2026-01-01T00:00:00.550Z' };
  assert.deepEqual(spans(timeOf(turn, receipt)), ['Recall and selection 0+50', 's:t1 50+100', 's:t1 50+50', 's:t2 150+30', 'Model m 180+320']);
  assert.equal(timeOf({ ...turn, took_ms: null }, receipt), null);
  const measured = timeOf({ ...turn, stages: [{ name: 'recall', start_ms: 0, took_ms: 5 }, { name: 'model m', start_ms: 5, took_ms: 40 }, { name: 'tool s:t', start_ms: 9, took_ms: 3 }, { name: 'commit', start_ms: 45, took_ms: 2 }] }, receipt);
  assert.deepEqual([measured.measured, measured.total, spans(measured)], [true, 47, ['Recall and selection 0+5', 'Model m 5+40', 's:t 9+3', 'Commit to the store 45+2']]);
}));

test('the time that somebody took to decide is a part of the turn', () => withSource(async (load) => {
  const { timeOf } = await load('/src/text/timeline.ts');
  const turn = { at: '2026-01-01T00:00:10.000Z', took_ms: 500, form: { by: 'offline' }, tool_executions: [{ server: 's', name: 't', round: 1, took_ms: 100 }] };
  const { spans, total } = timeOf(turn, { at: '2026-01-01T00:00:02.500Z' });
  assert.deepEqual(spans.map(({ label, start, took }) => `${label} ${start}+${took}`), ['Waited for a decision 0+7000', 's:t 7000+100', 'Choosing and wording, no model 7100+400']);
  assert.equal(total, 7500);
}));

test('a time that is too short to be measured is not told as none', () => withSource(async (load) => {
  const { milliseconds } = await load('/src/text/numbers.ts');
  assert.deepEqual([0, 0.25, 1, 52, 4100].map(milliseconds), ['< 1 ms', '250 µs', '1.0 ms', '52 ms', '4.1 s']);
}));

test('a request is read in parts, whoever\'s format it has', () => withSource(async (load) => {
  const { partsOf } = await load('/src/text/request.ts');
  const told = (request) => partsOf(JSON.stringify(request)).map(({ title, text }) => `${title}: ${text}`);
  const engine = { tools: [{ name: 'a', description: 'does' }], system: [{ text: 'Be.' }], messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }, { role: 'assistant', content: [{ type: 'tool_use', name: 'a', input: { x: 1 } }] }, { role: 'user', content: [{ type: 'tool_result', content: 'ok' }] }] };
  assert.deepEqual(told(engine), ['1 tool: a: does', 'Instructions: Be.', 'User: Hi', 'Assistant: calls a {"x":1}', 'User: result: ok']);
  const openai = { tools: [{ type: 'function', function: { name: 'a' } }], messages: [{ role: 'system', content: 'Be.' }, { role: 'assistant', content: null, tool_calls: [{ function: { name: 'a', arguments: '{}' } }] }, { role: 'tool', content: 'ok' }] };
  assert.deepEqual(told(openai), ['1 tool: a: ', 'Instructions: Be.', 'Assistant: calls a {}', 'Tool result: ok']);
  const tools = [{ name: 'a', description: 'does', input_schema: { type: 'object', properties: { device: { type: 'string' } } } }];
  assert.equal(partsOf(JSON.stringify({ tools, messages: [] }))[0].size, JSON.stringify(tools).length, 'tools are as large as they are sent');
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

test('an id in a call is told by the name that the conversation or a call of the turn knows it by', () => withSource(async (load) => {
  const { foundBy, namesIn } = await load('/src/text/names.ts');
  const known = [{ type: 'device', id: '8', name: 'ams1-srv-03' }, { type: 'site', id: '8', name: 'Oslo' }, { type: 'rack', id: '3', name: '3' }];
  const told = (values, things = known) => namesIn(values, things).map(({ argument, id, type, name }) => `${argument} ${id}: ${type} ${name}`);
  assert.deepEqual(told({ device: 8, force: true }), ['device 8: device ams1-srv-03']);
  assert.deepEqual(told({ device_id: '8', site: 8 }), ['device_id 8: device ams1-srv-03', 'site 8: site Oslo']);
  assert.deepEqual(told({ deviceId: 8 }), ['deviceId 8: device ams1-srv-03']);
  assert.deepEqual(told({ device: 9, device_type: 8, id: 8, rack: 3, limit: '8', name: null }), []);
  assert.deepEqual(told({ device: 8 }, [...known, { type: 'device', id: '8', name: 'another' }]), [], 'nobody knows which');
  assert.deepEqual(told('text'), []);
  const listed = foundBy([{ name: 'list_devices', result: '{"results":[{"id":8,"name":"ams1-srv-03","role":{"id":1,"name":"Server"}}]}' }, { name: 'get_site', result: '{"id":2,"name":"Oslo"}' }, { name: 'list_vlans', result: 'none' }, { name: 'ping' }]);
  assert.deepEqual(listed, [{ type: 'device', id: '8', name: 'ams1-srv-03' }, { type: 'site', id: '2', name: 'Oslo' }]);
}));

test('a stop of the server is told as one, and a stop by the reader as theirs', () => withSource(async (load) => {
  const { failureOf } = await load('/src/text/failure.ts');
  const turn = (error) => ({ status: 'partial', error, form: { by: 'model', model: 'm' }, reply: 'Half a' });
  const interrupted = failureOf(turn({ code: 'interrupted', message: 'the server stopped before the reply was whole' }));
  assert.deepEqual([interrupted.kind, interrupted.words], ['failed', 'The reply was interrupted: the server stopped.']);
  assert.equal(failureOf(turn({ code: 'cancelled', message: 'm failed: it was stopped', cause: 'cancelled' })).kind, 'stopped');
}));

test('what is about to be is told in seconds, and what has just been is now', () => withSource(async (load) => {
  const { ago } = await load('/src/text/numbers.ts');
  const at = (seconds) => ago(new Date(seconds * 1000).toISOString(), 0);
  assert.deepEqual([at(20), at(0), at(-20), at(-120), at(3600)], ['in 20 seconds', 'just now', 'just now', '2 minutes ago', 'in 1 hour']);
}));
