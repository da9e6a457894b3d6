/** The middleware in the AI SDK itself, in each version that it is for, with the SDK's own model for tests. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';

import { throughlineMiddleware } from '../dist/ai-sdk.js';
import { Throughline } from '../dist/index.js';
import { startServer } from './server.js';

let server, client;
before(async () => {
  server = await startServer();
  client = new Throughline({ baseUrl: server.url });
});
after(() => server.stop());

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const stop = { unified: 'stop', raw: 'stop' };
const says = (text) => ({ content: [{ type: 'text', text }], finishReason: stop, usage, warnings: [] });
const calls = (toolName, input) => ({
  content: [{ type: 'tool-call', toolCallId: 'c1', toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
  usage,
  warnings: [],
});
const texts = (call) => call.prompt.flatMap(({ content }) => (typeof content === 'string' ? content : content.map((part) => part.text ?? '')));
const turns = async (session) => (await client.sessions.history(session)).turns.map(({ message, reply }) => [message, reply]);

for (const [name, library, testing, mock] of [
  ['ai 6', await import('ai'), await import('ai/test'), 'MockLanguageModelV3'],
  ['ai 7', await import('ai-7'), await import('ai-7/test'), 'MockLanguageModelV4'],
]) {
  const { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } = library;
  const session = (title) => `${name}-${title}`.replaceAll(' ', '-');
  const model = (id, replies, options = {}) => {
    const inner = new testing[mock](replies);
    const middleware = throughlineMiddleware({ session: id, client, ...options });
    return [wrapLanguageModel({ model: inner, middleware }), inner];
  };

  test(`${name}: a model remembers what was said`, async () => {
    const id = session('remembers');
    const [wrapped, inner] = model(id, { doGenerate: [says('Rack 4.'), says('Yes, rack 4.')] });
    await generateText({ model: wrapped, system: 'Be brief.', prompt: 'Where is the switch?' });
    const { text } = await generateText({ model: wrapped, system: 'Be brief.', prompt: 'Still there?' });
    assert.equal(text, 'Yes, rack 4.');
    const [first, second] = inner.doGenerateCalls;
    assert.equal(first.prompt[0].content, 'Be brief.');
    assert.equal(texts(first).at(-1), 'Where is the switch?');
    const seen = texts(second);
    assert.ok(seen.includes('Where is the switch?') && seen.includes('Rack 4.') && seen.at(-1) === 'Still there?');
    assert.deepEqual(await turns(id), [['Where is the switch?', 'Rack 4.'], ['Still there?', 'Yes, rack 4.']]);
    assert.equal((await client.sessions.receipt(id, 2)).continues, 1);
  });

  test(`${name}: tools run within one exchange`, async () => {
    const id = session('tools');
    const [wrapped, inner] = model(id, { doGenerate: [calls('rack', { number: 4 }), says('Two switches.')] });
    const rack = tool({
      description: 'What is in a rack',
      inputSchema: jsonSchema({ type: 'object', properties: { number: { type: 'number' } } }),
      execute: async ({ number }) => ({ text: `rack ${number} has two switches` }),
    });
    const { text } = await generateText({ model: wrapped, prompt: 'What is in rack 4?', tools: { rack }, stopWhen: stepCountIs(3) });
    assert.equal(text, 'Two switches.');
    assert.deepEqual(inner.doGenerateCalls[1].prompt.slice(-2).map(({ role }) => role), ['assistant', 'tool']);
    assert.deepEqual(await turns(id), [['What is in rack 4?', 'Two switches.']]);
    const [execution] = (await client.sessions.turn(id, 1)).tool_executions;
    assert.deepEqual([execution.name, execution.arguments, execution.ok], ['rack', { number: 4 }, true]);
    assert.match(execution.result, /two switches/);
  });

  test(`${name}: streams pass through and are recorded`, async () => {
    const id = session('stream');
    const chunks = [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'Rack ' },
      { type: 'text-delta', id: '1', delta: '4.' },
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: stop, usage },
    ];
    const [wrapped] = model(id, { doStream: async () => ({ stream: testing.simulateReadableStream({ chunks }) }) });
    let text = '';
    for await (const delta of streamText({ model: wrapped, prompt: 'Where is it?' }).textStream) text += delta;
    assert.equal(text, 'Rack 4.');
    assert.deepEqual(await turns(id), [['Where is it?', 'Rack 4.']]);

    const { stream } = await wrapped.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'And now?' }] }] });
    const reader = stream.getReader();
    while ((await reader.read()).value?.type !== 'text-delta');
    await reader.cancel();
    const last = (await client.sessions.history(id, { order: 'desc' })).turns[0];
    assert.deepEqual([last.message, last.reply, last.error.code, last.error.cause], ['And now?', 'Rack ', 'cancelled', 'cancelled']);
  });

  test(`${name}: what was said before the first call is not lost`, async () => {
    const id = session('before');
    const [wrapped, inner] = model(id, { doGenerate: [says('Ada.')] });
    const messages = [
      { role: 'user', content: 'The key is with Ada.' },
      { role: 'assistant', content: 'Noted.' },
      { role: 'user', content: [{ type: 'text', text: 'Who has the key?' }, { type: 'file', data: new Uint8Array([1]), mediaType: 'image/png' }] },
    ];
    await generateText({ model: wrapped, messages });
    assert.deepEqual(await turns(id), [['The key is with Ada.', 'Noted.'], ['Who has the key?', 'Ada.']]);
    const sent = inner.doGenerateCalls[0].prompt;
    assert.equal(texts(inner.doGenerateCalls[0]).filter((text) => text === 'The key is with Ada.').length, 1);
    assert.equal(sent.at(-1).content.at(-1).type, 'file');
  });

  test(`${name}: the session can come with the call`, async () => {
    const [wrapped] = model((options) => options.session, { doGenerate: [says('Hi')] });
    await generateText({ model: wrapped, prompt: 'Hello', providerOptions: { throughline: { session: session('call') } } });
    assert.deepEqual(await turns(session('call')), [['Hello', 'Hi']]);
    const [other] = model(`user@example.org/1 ${name}`, { doGenerate: [says('Hi')] });
    await generateText({ model: other, prompt: 'Hello' });
    const ids = (await client.sessions.list()).conversations.map(({ id }) => id);
    const digest = createHash('sha256').update(`user@example.org/1 ${name}`).digest('hex').slice(0, 32);
    assert.ok(ids.includes(`user-example-org-1-${name.replace(' ', '-')}-${digest}`), String(ids));
  });

  test(`${name}: an exchange that cannot be recorded is an error, unless the program takes it`, async () => {
    const id = session('unrecorded');
    const doGenerate = async () => {
      await client.sessions.erase(id);
      return says('Hi');
    };
    await assert.rejects(generateText({ model: model(id, { doGenerate })[0], prompt: 'Hello', maxRetries: 0 }), { code: 'no_session' });
    const failures = [];
    const [wrapped] = model(id, { doGenerate }, { onRecordError: (error) => failures.push(error.code) });
    assert.equal((await generateText({ model: wrapped, prompt: 'Hello' })).text, 'Hi');
    assert.deepEqual(failures, ['no_session']);
  });
}
