// Entities, items, personas, agents, tools and operations.
import assert from 'node:assert/strict';
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
  ({ id } = await server.api('POST', '/conversations', { agent: 'demo', title: 'About devices' }));
  for (const message of ['Show the device ams1-core-01', 'Show the interfaces of that device']) {
    await server.api('POST', '/chat', { message, conversation_id: id });
  }
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const at = (path) => openPage(browser, server.url, { path });

test('entities are listed by relevance with their last mention and drawn with their relations', async () => {
  const { page, close } = await at(`/#/c/${id}`);
  await page.getByRole('tab', { name: 'Entities' }).click();
  const panel = page.getByRole('tabpanel');
  const row = panel.locator('.entity', { hasText: 'ams1-core-01' }).first();
  await row.waitFor();
  await row.getByText(/turn \d/).first().waitFor();
  await panel.getByRole('img', { name: /Related:.*ams1-core-01/ }).waitFor();
  await row.getByRole('button').first().click();
  await assertAccessible(page, 'entities');
  await shot(page, 'entities');
  await close();
});

test('a misunderstanding is put right, and a thing is forgotten', async () => {
  const { id: own } = await server.api('POST', '/conversations', { agent: 'demo' });
  for (const message of ['Show the device fra1-sw-01', 'Show the device fra1-sw-02']) await server.api('POST', '/chat', { message, conversation_id: own });
  const { page, close } = await at(`/#/c/${own}`);
  await page.getByRole('tab', { name: 'Entities' }).click();
  const row = (name) => page.getByRole('tabpanel').locator('.entity', { has: page.locator('.piece-name', { hasText: name }) }).first();
  await row('fra1-sw-02').getByRole('button').first().click();
  await row('fra1-sw-02').getByRole('button', { name: 'I meant another' }).click();
  await row('fra1-sw-02').getByLabel('I meant').selectOption({ label: 'device fra1-sw-01' });
  await page.getByText('The next message starts from fra1-sw-01.').waitFor();
  await say(page, 'Show the interfaces of that device', { turn: 3 });
  await page.locator('article.row[aria-label="Turn 3"]').getByText('device: fra1-sw-01').waitFor();
  await row('fra1-sw-02').getByRole('button', { name: 'Forget' }).click();
  await page.getByText('fra1-sw-02 is forgotten in this session.').waitFor();
  await row('fra1-sw-02').waitFor({ state: 'detached' });
  const { entities } = await server.api('GET', `/conversations/${own}/entities`);
  assert.ok(!entities.some((entity) => entity.name === 'fra1-sw-02'));
  await close();
});

test('an item that is switched on is in the next request as manual, and off again it is not', async () => {
  const { items } = await server.api('GET', '/agents/demo/items');
  const item = items.find((known) => known.include !== 'always' && known.type !== 'tool');
  const { page, close } = await at(`/#/c/${id}`);
  await page.getByRole('tab', { name: 'Items' }).click();
  const toggle = page.getByRole('switch', { name: new RegExp(item.name) });
  await toggle.click();
  await page.locator('.item', { hasText: item.name }).locator('.badge[data-mode=manual]').waitFor();
  await assertAccessible(page, 'items');
  await shot(page, 'items');
  await say(page, 'List the sites', { turn: 3 });
  const receipt = await server.api('GET', `/conversations/${id}/turns/3/context`);
  const piece = receipt.pieces.find((known) => known.source.kind === item.type && known.source.name === item.name);
  assert.deepEqual([piece.sent, piece.source.mode], [true, 'manual']);
  await toggle.click();
  await page.locator('.item', { hasText: item.name }).locator('.badge[data-mode=manual]').waitFor({ state: 'detached' });
  const head = await server.api('GET', `/conversations/${id}`);
  assert.ok(!head.items.some((known) => known.name === item.name));
  await close();
});

test('a persona is written with its mistakes named, and holds in the session', async () => {
  const { page, close } = await at(`/#/c/${id}`);
  await page.getByRole('tab', { name: 'Persona' }).click();
  await page.getByRole('button', { name: 'Write one' }).click();
  await page.getByLabel('Temperature').fill('1.5');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('A name is needed.').waitFor();
  await page.getByText('Between 0.0 and 1.0.').waitFor();
  await assertAccessible(page, 'a persona with mistakes');
  await page.getByLabel('Name', { exact: true }).fill('Librarian');
  await page.getByLabel('Prompt').fill('You are a careful librarian.');
  await page.getByLabel('Temperature').fill('0.3');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The persona holds from the next message on.').waitFor();
  const { persona } = await server.api('GET', `/conversations/${id}`);
  assert.deepEqual([persona.name, persona.system_prompt], ['Librarian', 'You are a careful librarian.']);
  await shot(page, 'persona');
  await close();
});

test('a preset is made, edited and deleted, and starts a session', async () => {
  const { page, close } = await at('/#/personas');
  await page.getByRole('button', { name: 'New preset' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('A name is needed.').waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('Night watch');
  await dialog.getByLabel('Prompt').fill('You watch over the network at night.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Night watch', exact: true }).waitFor();
  await page.getByRole('heading', { name: 'The prompt of Night watch scores 10 of 100' }).waitFor();
  assert.deepEqual(await page.locator('.preset', { hasText: 'experimental' }).locator('h2').allInnerTexts(), ['Decision Making Supporter built in experimental', 'Search Key Advisor built in experimental']);
  await assertAccessible(page, 'personas');
  await shot(page, 'personas');
  await page.goto(`${server.url}/#/`);
  await page.getByLabel('Persona').selectOption({ label: 'Night watch' });
  await say(page, 'List the sites', { turn: 1 });
  await page.locator('.head-about').getByText('Night watch').waitFor();
  await page.goto(`${server.url}/#/personas`);
  await page.locator('.preset', { hasText: 'Night watch' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Night watch', exact: true }).waitFor({ state: 'detached' });
  await close();
});

test('agents show what they offer and how it gets in', async () => {
  const { page, close } = await at('/#/agents');
  await page.getByRole('button', { name: 'demo' }).click();
  await page.getByRole('heading', { name: /Rules/ }).waitFor();
  await page.locator('.item-row', { hasText: 'inventory:list_devices' }).first().waitFor();
  await page.locator('.badge[data-mode=agent]').first().waitFor();
  await assertAccessible(page, 'agents');
  await shot(page, 'agents');
  await close();
});

test('operations show health, durability, jobs and latencies of this server', async () => {
  const { page, close } = await at('/#/operations');
  await page.getByText('Everything answers.').waitFor();
  const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Store' }) });
  assert.match(await card.innerText(), /sqlite/i);
  await page.getByRole('img', { name: /Request time/ }).waitFor();
  const jobs = page.locator('.card', { has: page.getByRole('heading', { name: 'Jobs' }) });
  const stats = await server.api('GET', '/memory/stats');
  assert.ok(stats.jobs_done > 0, 'turns were tended');
  assert.match(await jobs.innerText(), new RegExp(`waiting\\s+\\d+\\s+done\\s+${stats.jobs_done}\\s+failed\\s+${stats.jobs_failed}`, 'i'));
  await assertAccessible(page, 'operations');
  await page.waitForFunction(() => performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('/metrics')).length >= 3, null, { timeout: 20_000 });
  await shot(page, 'operations');
  await close();
});
