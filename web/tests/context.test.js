// "Context used": what the model was shown on a turn, and why.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, say, shot } from './support/browser.js';
import { startServer, toolsReady } from './support/server.js';

let server;
let browser;
let id;
before(async () => {
  server = await startServer();
  await toolsReady(server);
  browser = await launch();
  ({ id } = await server.api('POST', '/conversations', { agent: 'demo', title: 'Looked into' }));
  for (const message of ['List the devices in Amsterdam', 'Show the interfaces of the second one', 'When is the maintenance window in Amsterdam?']) {
    await server.api('POST', '/chat', { message, conversation_id: id });
  }
  await server.api('POST', `/conversations/${id}/turns`, { message: 'Recorded elsewhere', reply: 'by another application' });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const open = async (turn) => {
  const opened = await openPage(browser, server.url, { path: `/#/c/${id}` });
  if (turn) await opened.page.locator(`article.row[aria-label="Turn ${turn}"] button.context-line`).click();
  return { ...opened, panel: opened.page.getByRole('tabpanel') };
};

test('the summary line, the sections, badges, scores and tokens are those of the receipt', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/1/context`);
  const { page, panel, close } = await open(1);
  await panel.getByRole('heading', { name: /Context used, turn 1/ }).waitFor();
  await panel.getByText(receipt.summary, { exact: true }).waitFor();
  const sent = receipt.pieces.filter((piece) => piece.sent);
  for (const [kind, label] of [['rule', 'Rules'], ['reference', 'References'], ['tool', 'Tools']]) {
    const those = sent.filter((piece) => piece.source.kind === kind);
    if (those.length > 0) await panel.locator('.pieces > summary', { hasText: `${label} (${those.length})` }).waitFor();
  }
  const chosen = sent.find((piece) => piece.source.mode === 'agent');
  assert.ok(chosen, 'the demo has an item that is chosen for this message');
  await panel.locator('.badge[data-mode=agent]', { hasText: `Agent ${chosen.score.toFixed(2)}` }).first().waitFor();
  await panel.locator('.badge[data-mode=always]').first().waitFor();
  await assertAccessible(page, 'context used');
  await shot(page, 'context');
  await close();
});

test('what was left out is listed with its reason', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/1/context`);
  const dropped = receipt.pieces.filter((piece) => !piece.sent);
  assert.ok(dropped.length > 0, 'something is always left out in the demo');
  const { panel, close } = await open(1);
  await panel.locator('summary', { hasText: `Left out (${dropped.length})` }).click();
  const irrelevant = dropped.filter((piece) => piece.dropped === 'not_relevant').length;
  await panel.getByRole('heading', { name: `${irrelevant} because not relevant enough to this message` }).waitFor();
  await close();
});

test('a piece opens as it was sent and as it is now', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/1/context`);
  const rule = receipt.pieces.find((piece) => piece.sent && piece.source.kind === 'rule');
  const then = await (await fetch(`${server.url}/api/v1/conversations/${id}/turns/1/contents/${rule.hash}`)).text();
  const { panel, close } = await open(1);
  await panel.getByRole('button', { name: new RegExp(rule.source.name) }).click();
  await panel.locator('.piece-text pre').waitFor();
  assert.equal((await panel.locator('.piece-text pre').innerText()).trim(), then.trim());
  await panel.getByRole('button', { name: 'As it is now' }).click();
  await panel.getByText('Unchanged since.').waitFor();
  await close();
});

test('an item that was changed since is shown with the difference', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'throughline-agents-'));
  const rule = (says) => writeFile(join(folder, 'agents/own/rules/tone.md'), `---\ninclude: always\n---\n${says}\n`);
  await mkdir(join(folder, 'agents/own/rules'), { recursive: true });
  await writeFile(join(folder, 'agents/own/agent.toml'), 'description = "Ours"\n');
  await rule('Answer in one sentence.');
  const own = await startServer({ args: [], folder });
  try {
    const { id: session } = await own.api('POST', '/conversations', { agent: 'own' });
    await own.api('POST', '/chat', { message: 'Hello', conversation_id: session });
    await rule('Answer in two sentences.');
    const { page, close } = await openPage(browser, own.url, { path: `/#/c/${session}` });
    await page.locator('article.row[aria-label="Turn 1"] button.context-line').click();
    await page.getByRole('tabpanel').getByRole('button', { name: /tone/ }).click();
    await page.locator('.piece-text pre', { hasText: 'Answer in one sentence.' }).waitFor();
    // The folder is looked at every two seconds; until then it is still what it was.
    while (!(await own.api('GET', '/agents/own/items')).items[0].text.includes('two sentences')) await new Promise((done) => setTimeout(done, 100));
    await page.getByRole('button', { name: 'As it is now' }).click();
    await page.locator('.difference [data-change=removed]', { hasText: 'one sentence' }).waitFor();
    await page.locator('.difference [data-change=added]', { hasText: 'two sentences' }).waitFor();
    assert.equal(await page.locator('.difference [data-change=removed]').count(), 1, 'the line that names the item is no difference');
    await shot(page, 'piece-now');
    await close();
  } finally {
    await own.stop();
  }
});

test('two turns are compared: what came, went and stayed', async () => {
  const { page, panel, close } = await open(2);
  await panel.getByRole('button', { name: 'Compare' }).click();
  await panel.getByText(/came, .* stayed the same/).waitFor();
  await panel.locator('.pieces[data-sign=added] .piece-line', { hasText: 'Turn 1' }).first().waitFor();
  await assertAccessible(page, 'two turns compared');
  await shot(page, 'compare');
  await panel.getByRole('button', { name: 'Done' }).click();
  await panel.getByRole('button', { name: 'Copy exact request' }).waitFor();
  await close();
});

test('the exact request is copied to the byte', async () => {
  const { page, panel, close } = await open(2);
  await panel.getByRole('button', { name: 'Copy exact request' }).click();
  await page.getByText('Copied the exact request of turn 2.').waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const expected = await (await fetch(`${server.url}/api/v1/conversations/${id}/turns/2/request`)).text();
  assert.equal(copied, expected);
  await close();
});

test('a turn without a receipt says that there is no context data', async () => {
  const { page, panel, close } = await open();
  await page.locator('article.row[aria-label="Turn 4"]').getByText('No context data').waitFor();
  await panel.getByText('No context data. This turn was recorded without a receipt.').waitFor();
  await close();
});

test('the window is drawn for a turn and over the conversation, with the stable prefix marked', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/2/context`);
  assert.ok(receipt.stable_prefix_tokens > 0);
  const { page, panel, close } = await open(2);
  const words = await panel.getByRole('img').first().getAttribute('aria-label');
  assert.ok(words.includes(`The first ${receipt.stable_prefix_tokens.toLocaleString('en')} are the same`), words);
  await panel.locator('.bar-stable').waitFor();
  await page.getByRole('tab', { name: 'Window' }).click();
  await panel.getByRole('img', { name: /Tokens a turn/ }).waitFor();
  assert.equal(await panel.locator('.column').count(), 4);
  await panel.getByText('As a table').click();
  await panel.getByRole('row', { name: /^4 No context data/ }).waitFor();
  await assertAccessible(page, 'the window');
  await shot(page, 'window');
  await close();
});

test('a window over 80 % carries a warning', async () => {
  const { id: full } = await server.api('POST', '/conversations', { settings: { context_tokens: 2200 } });
  for (let turn = 0; turn < 4; turn += 1) await server.api('POST', `/conversations/${full}/turns`, { message: `Note ${turn}`, reply: 'lorem ipsum dolor sit amet '.repeat(60) });
  const { page, close } = await openPage(browser, server.url, { path: `/#/c/${full}` });
  await say(page, 'What did I note?', { turn: 5 });
  const receipt = await server.api('GET', `/conversations/${full}/turns/5/context`);
  assert.equal(receipt.budget.warning, true, `${receipt.budget.share}`);
  await page.getByRole('tabpanel').getByText(/of the window is used/).waitFor();
  await shot(page, 'window-warning');
  await close();
});
