/** The client: every operation against the real server, and what the server cannot be made to do against a small fake one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { ApiError, BusyError, ConflictError, ConnectionFailed, NotFoundError, Throughline, version } from '../dist/index.js';
import { startServer } from './server.js';

let server, client;
before(async () => {
  server = await startServer();
  client = new Throughline({ baseUrl: server.url });
});
after(() => server.stop());

test('the version is the server’s', async () => {
  const here = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const workspace = /^version = "(.+)"/m.exec(here('../../../Cargo.toml'))[1];
  const document = await (await fetch(`${server.url}/api/openapi.json`)).json();
  const versions = [version, JSON.parse(here('../package.json')).version, document.info.version];
  assert.deepEqual(versions, [workspace, workspace, workspace]);
});

test('a session from its creation to its erasure', async () => {
  const { sessions } = client;
  const head = await sessions.create({ id: 'a', title: 'Racks', tags: ['t'], settings: { timezone: 'Europe/Berlin' } });
  assert.deepEqual([head.id, head.turns, head.settings.timezone], ['a', 0, 'Europe/Berlin']);
  const prepared = await sessions.prepare('a', 'Where is the rack?', { budgetTokens: 4000 });
  assert.equal(prepared.request.messages.at(-1).content.at(-1).text, 'Where is the rack?');
  const recorded = await sessions.record('a', { message: 'Where is the rack?', reply: 'In hall 3.', receipt: prepared });
  assert.deepEqual([recorded.turn, recorded.receipt], [1, 'kept']);
  assert.equal((await sessions.receipt('a', 1)).id, prepared.receipt.id);
  await sessions.record('a', { message: 'And the key?', reply: 'With Ada.', at: new Date(), tool_executions: [{ name: 'find', result: 'Ada' }] });
  assert.equal((await sessions.turn('a', 2)).tool_executions[0].result, 'Ada');
  const said = [];
  for await (const turn of sessions.turns('a')) said.push(turn.message);
  assert.deepEqual(said, ['Where is the rack?', 'And the key?']);
  assert.equal((await sessions.history('a', { order: 'desc', limit: 1 })).turns[0].turn, 2);
  assert.equal((await sessions.fork('a', { turn: 1, id: 'a-fork' })).turns, 1);
  assert.equal((await sessions.change('a', { title: 'Keys' }, { version: (await sessions.get('a')).version })).title, 'Keys');
  assert.equal((await sessions.import(await sessions.export('a'), { id: 'a-copy' })).turns, 2);
  assert.match(await sessions.export('a', 'markdown'), /With Ada\./);
  assert.ok((await sessions.list({ tag: 't' })).conversations.some(({ id }) => id === 'a'));
  assert.equal((await sessions.archive('a')).active, false);
  assert.equal((await sessions.change('a', { active: true })).active, true);
  assert.equal((await sessions.erase('a')).turns, 2);
  await assert.rejects(sessions.get('a'), NotFoundError);
});

test('a problem has the server’s fields', async () => {
  const missing = await client.sessions.get('none').catch((error) => error);
  assert.ok(missing instanceof NotFoundError && missing instanceof ApiError);
  assert.deepEqual([missing.status, missing.code, missing.title, missing.type], [404, 'no_session', 'Not Found', 'urn:throughline:problem:no_session']);
  assert.ok(missing.detail.includes('none') && missing.hint && missing.requestId);
  await client.sessions.create({ id: 'b' });
  const conflict = await client.sessions.change('b', { title: 'x' }, { version: 7 }).catch((error) => error);
  assert.ok(conflict instanceof ConflictError);
  assert.deepEqual([conflict.code, conflict.current_version], ['version_conflict', 1]);
});

test('the same key answers the same turn', async () => {
  await client.sessions.create({ id: 'c' });
  const options = { idempotencyKey: 'k' };
  const first = await client.sessions.record('c', { message: 'Hello', reply: 'Hi' }, options);
  assert.deepEqual(await client.sessions.record('c', { message: 'Hello', reply: 'Hi' }, options), first);
  const other = await client.sessions.record('c', { message: 'Hello', reply: 'Bye' }, options).catch((error) => error);
  assert.equal(other.status, 422);
});

test('chat answers at once or in events', async () => {
  const reply = await client.chat('Hello', { session: 'd' });
  assert.deepEqual([reply.status, reply.turn], ['complete', 1]);
  let text = '';
  let last;
  for await (const event of client.chatStream('Hello again', { session: 'd' })) {
    if (event.name === 'delta') text += event.data.text;
    last = event;
  }
  assert.equal(last.name, 'done');
  assert.deepEqual([last.data.turn, last.data.reply], [2, text]);
  assert.equal((await client.query('what was said?', { session: 'd' })).session_id, 'd');
  await assert.rejects(client.chatStream('Hello', { session: 'no such/id' }).next(), { code: 'invalid_name' });
});

test('memories and search', async () => {
  const kept = await client.memories.add('My badge is B1', { subject: 'my badge' });
  const newer = await client.memories.add('My badge is B2', { subject: 'my badge', kind: 'profile' });
  assert.deepEqual(newer.superseded.map(({ id }) => id), [kept.id]);
  assert.equal((await client.memories.change(newer.id, { text: 'My badge is B3' })).text, 'My badge is B3');
  assert.equal((await client.memories.history(newer.id)).length, 3);
  assert.equal((await client.memories.get(newer.id)).kind, 'profile');
  assert.ok((await client.memories.search('which badge')).some(({ id }) => id === newer.id));
  assert.equal((await client.memories.list({ kind: 'profile' })).memories[0].id, newer.id);
  assert.equal((await client.memories.import(await client.memories.export())).imported, 0);
  assert.ok((await client.memories.forget(newer.id)).memories >= 1);
  await client.memories.add('x');
  assert.ok((await client.memories.forgetAll()).memories >= 1);
  const file = { command: 'create', path: '/memories/a.md', file_text: 'x' };
  assert.deepEqual([(await client.memories.tool(file)).is_error, (await client.memories.tool(file)).is_error], [false, true]);
  await client.sessions.create({ id: 'e' });
  await client.sessions.record('e', { message: 'The quasar stands in hall 3', reply: 'Noted' });
  assert.equal((await client.search('quasar')).hits[0].session, 'e');
  assert.ok((await client.health()).status);
});

test('a link is made, listed and revoked', async () => {
  await client.sessions.create({ id: 'g' });
  await client.sessions.record('g', { message: 'Hello', reply: 'Hello to you' });
  const made = await client.sessions.share('g', { expires_in_days: 2 });
  assert.match(made.token, /^share_/);
  assert.deepEqual((await client.sessions.shares('g')).shares.map((share) => share.id), [made.id]);
  assert.deepEqual(await client.sessions.unshare('g', made.id), { shares: [] });
});

test('a turn and a user are erased', async () => {
  await client.sessions.create({ id: 'f' });
  for (const message of ["I'm allergic to nuts.", 'I live in Porto.']) await client.sessions.record('f', { message, reply: 'Noted.' });
  const [nuts] = await client.memories.search('nuts');
  const { said_in } = await client.memories.forget(nuts.id, { turns: 'erased' });
  assert.deepEqual(said_in, [{ session: 'f', turn: 1, became: 'erased' }]);
  assert.equal((await client.sessions.eraseTurn('f', 2)).turns, 1);
  const kinds = [];
  for await (const value of client.users.export('local')) kinds.push(value.kind);
  assert.equal(kinds[0], 'user');
  assert.ok(kinds.includes('session'));
  assert.ok((await client.users.erase('local')).sessions >= 1);
  await assert.rejects(client.sessions.get('f'), { status: 404 });
});

/** A server that answers what a test says, in turn, and notes what it was asked. */
async function fake(answers, run) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url, headers: request.headers });
    const answer = answers.shift();
    if (!answer) return request.socket.destroy();
    const [status, body, headers = {}] = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  try {
    await run(`http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const busy = [503, { code: 'busy', detail: 'too many' }, { 'retry-after': '0' }];

test('a busy server is asked again with the same key', () =>
  fake([busy, [429, ...busy.slice(1)], [201, { turn: 1 }]], async (baseUrl, asked) => {
    assert.equal((await new Throughline({ baseUrl }).sessions.record('a', { message: 'Hello' })).turn, 1);
    assert.equal(asked.length, 3);
    assert.equal(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
  }));

test('a server that stays busy is an error', () =>
  fake([busy, busy], async (baseUrl, asked) => {
    await assert.rejects(new Throughline({ baseUrl, retries: 1 }).sessions.create(), BusyError);
    assert.equal(asked.length, 2);
  }));

test('a broken connection is retried only where nothing can happen twice', () =>
  fake([undefined, [201, { turn: 1 }], undefined], async (baseUrl, asked) => {
    const client = new Throughline({ baseUrl });
    assert.equal((await client.sessions.record('a', { message: 'Hello' })).turn, 1);
    await assert.rejects(client.sessions.create(), ConnectionFailed);
    assert.equal(asked.length, 3);
    await assert.rejects(new Throughline({ baseUrl: 'http://127.0.0.1:9', retries: 0 }).health(), ConnectionFailed);
  }));

test('the key goes with each request, and any text can be asked for', () =>
  fake([[502, 'bad gateway']], async (baseUrl, asked) => {
    const error = await new Throughline({ baseUrl, apiKey: 'tl_secret' }).sessions.get('a b/c').catch((error) => error);
    assert.deepEqual([error.status, error.detail], [502, 'bad gateway']);
    assert.deepEqual([asked[0].url, asked[0].headers.authorization], ['/api/v1/conversations/a%20b%2Fc', 'Bearer tl_secret']);
  }));
