// A reply as it comes: words one by one, tools while they run, hostile Markdown.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, say, shot } from './support/browser.js';
import { startModel } from './support/model.js';
import { startServer, toolsReady } from './support/server.js';

const HOSTILE = [
  '# Heading\n\n', '<script>window.broken = 1</script>', '<img src="http://203.0.113.9/pixel.png" onerror="window.broken = 2">\n\n',
  '![tracker](http://203.0.113.9/t.png)\n\n', '[bad](javascript:window.broken=3) [here](#/tools) [good](https://example.org/)\n\n',
  '<iframe src="http://203.0.113.9/"></iframe><style>body{display:none}</style><a href="#/operations" onclick="window.broken=4">local</a>\n\n', '| a | b |\n|---|---|\n| 1 | 2 |\n',
];

let model;
let server;
let browser;
before(async () => {
  model = await startModel((request) => {
    const last = request.messages.at(-1);
    const asked = JSON.stringify(request.messages.filter((message) => message.role === 'user').at(-1)?.content ?? '');
    if (/slow/.test(asked)) return { words: Array.from({ length: 400 }, (_, index) => `word${index} `), pause: 25 };
    if (/hostile/.test(asked)) return { words: HOSTILE };
    if (/sites/.test(asked) && last.role !== 'tool') {
      const tool = request.tools.find((known) => /list_sites/.test(known.function.name));
      return { call: { name: tool.function.name, arguments: {} } };
    }
    return { words: ['These ', 'are ', '**four** ', 'sites.'] };
  });
  server = await startServer({ env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' } });
  await toolsReady(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await model?.stop();
});

test('words appear while the model is still speaking, and the panel says what it is shown', async () => {
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Be slow, please');
  const reply = page.locator('.turn[data-status=live] .markdown');
  await reply.getByText('word3').waitFor();
  assert.ok(!(await reply.innerText()).includes('word399'), 'not all at once');
  const panel = page.getByRole('tabpanel');
  await panel.getByRole('heading', { name: 'Turn 1 is being answered' }).waitFor();
  assert.match(await panel.locator('.shown').innerText(), /^Shown: .*tokens$/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped. This is what had been said.').waitFor();
  const { turns } = await server.api('GET', `/conversations/${(await server.api('GET', '/conversations')).conversations[0].id}/history`);
  assert.deepEqual(turns.map((kept) => kept.status), ['partial']);
  await close();
});

test('a tool call is shown with its arguments and its result', async () => {
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Which sites are there?', { turn: 1 });
  const turn = page.locator('article.row[aria-label="Turn 1"]');
  await turn.locator('.call summary').click();
  await turn.locator('.call-part', { hasText: 'Result' }).waitFor();
  assert.match(await turn.locator('.call-body').innerText(), /Amsterdam/);
  assert.match(await turn.locator('.markdown').innerText(), /These are four sites/);
  assert.equal(await turn.locator('.markdown strong').innerText(), 'four');
  await shot(page, 'tool-call');
  await close();
});

test('hostile Markdown runs nothing, loads nothing and leads nowhere by itself', async () => {
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Something hostile', { turn: 1 });
  const reply = page.locator('article.row[aria-label="Turn 1"] .markdown');
  assert.equal(await reply.locator('script, iframe, style, img').count(), 0);
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await reply.locator('[onclick], [onerror]').count(), 0);
  assert.deepEqual(await reply.locator('a').evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute('href'), link.rel, link.target])), [
    ['bad', null, '', ''],
    ['here', null, '', ''],
    ['good', 'https://example.org/', 'noopener noreferrer nofollow', '_blank'],
  ]);
  assert.equal(await reply.locator('table td').count(), 2);
  assert.match(await reply.innerText(), /\[image: tracker/);
  assert.match(await reply.innerText(), /<script>window\.broken = 1<\/script>/, 'HTML is shown as text');
  await close();
});
