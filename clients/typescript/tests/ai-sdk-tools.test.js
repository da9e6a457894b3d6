/** The server's tools in the AI SDK itself, in each version that they are for, with the demo inventory behind the server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { throughlineMiddleware, throughlineTools } from '../dist/ai-sdk.js';
import { Throughline } from '../dist/index.js';
import { startServer } from './server.js';

let server, client;
before(async () => {
  server = await startServer('--demo');
  client = new Throughline({ baseUrl: server.url });
});
after(() => server.stop());

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const says = (text) => ({ content: [{ type: 'text', text }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] });
const calls = (toolName, input) => ({
  content: [{ type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
  usage,
  warnings: [],
});
const site = calls('call_tool', { tool: 'inventory__get_site', arguments: { site: 'ams1' } });
const removal = calls('call_tool', { tool: 'inventory__delete_device', arguments: { device: 'sin1-sw-01' } });

for (const [name, library, testing, mock] of [
  ['ai 6', await import('ai'), await import('ai/test'), 'MockLanguageModelV3'],
  ['ai 7', await import('ai-7'), await import('ai-7/test'), 'MockLanguageModelV4'],
]) {
  const { generateText, stepCountIs, wrapLanguageModel } = library;
  const run = async (title, replies, options = {}) => {
    const given = { session: `${name} ${title}`, client, agent: 'demo', ...options };
    const inner = new testing[mock]({ doGenerate: replies });
    const model = options.bare ? inner : wrapLanguageModel({ model: inner, middleware: throughlineMiddleware(given) });
    await generateText({ model, prompt: 'Go on.', tools: throughlineTools(given), stopWhen: stepCountIs(4) });
    return inner.doGenerateCalls;
  };
  const outcome = (call) => call.prompt.at(-1).content[0].output;

  test(`${name}: a model finds a tool and calls it, and the turn names that tool`, async () => {
    const [first, second, third] = await run('finds', [calls('find_tools', { query: 'one site' }), site, says('In Amsterdam.')]);
    assert.deepEqual(first.tools.map(({ name }) => name), ['find_tools', 'call_tool']);
    assert.deepEqual(first.tools[1].inputSchema.required, ['tool', 'arguments']);
    assert.match(outcome(second).value, /inventory__get_site/);
    assert.match(outcome(third).value, /Kabelweg 12/);
    const { conversations } = await client.sessions.list();
    const { tool_executions } = await client.sessions.turn(conversations[0].id, 1);
    assert.deepEqual(
      tool_executions.map(({ name, arguments: given, ok }) => [name, given, ok]),
      [['find_tools', { query: 'one site' }, true], ['inventory__get_site', { site: 'ams1' }, true]],
    );
  });

  test(`${name}: they make the session where there is none`, async () => {
    const [, second] = await run('bare', [site, says('In Amsterdam.')], { bare: true });
    assert.match(outcome(second).value, /Kabelweg 12/);
  });

  test(`${name}: a call that needs approval is made only if the program approves it`, async () => {
    const asked = [];
    const approve = (answer) => (call) => (asked.push(call.tool), answer);
    const [, waits] = await run('waits', [removal, says('It waits.')]);
    assert.equal(outcome(waits).type, 'error-text');
    assert.match(outcome(waits).value, /was not called/);
    const [, refused] = await run('refused', [removal, says('No.')], { approve: approve(false) });
    assert.match(outcome(refused).value, /it was refused/);
    const [, made] = await run('made', [removal, says('Done.')], { approve: approve(true) });
    assert.equal(outcome(made).type, 'text');
    assert.deepEqual(asked, ['inventory__delete_device', 'inventory__delete_device']);
    await fetch(`${server.url}/api/v1/demo/reset`, { method: 'POST' });
  });
}
