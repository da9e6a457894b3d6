// Entities, items, personas, agents, tools and operations.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, say, shot, SIZES } from './support/browser.js';
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

test('no label of the graph lies on another, types have their colours, and it can be enlarged', async () => {
  const { id: many } = await server.api('POST', '/conversations', { agent: 'demo' });
  for (const message of ['List the devices in Amsterdam', 'Show the interfaces of the second one']) await server.api('POST', '/chat', { message, conversation_id: many });
  for (const size of Object.values(SIZES)) {
    const { page, close } = await openPage(browser, server.url, { path: `/#/c/${many}`, ...size });
    await page.locator('article.row[aria-label="Turn 2"] button.context-line').click();
    await page.getByRole('tab', { name: 'Entities' }).click();
    const graph = page.locator('.graph');
    await graph.waitFor();
    const seen = await graph.evaluate((svg) => {
      const boxes = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBBox()]);
      const overlapping = [];
      for (const [one, a] of boxes) {
        for (const [two, b] of boxes) {
          if (one < two && a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height) overlapping.push([one, two]);
        }
      }
      return { labels: boxes.length, overlapping, colours: new Set([...svg.querySelectorAll('circle')].map((circle) => getComputedStyle(circle).fill)).size };
    });
    assert.ok(seen.labels > 8, `${seen.labels} labels`);
    assert.deepEqual(seen.overlapping, []);
    assert.ok(seen.colours >= 3, 'a colour a type');
    const types = await page.locator('.graph-frame .legend > span').allInnerTexts();
    assert.ok(types.includes('device') && types.includes('site'), types.join());
    const width = async () => Number((await graph.getAttribute('viewBox')).split(' ')[2]);
    const before = await width();
    await page.getByRole('button', { name: 'Larger' }).click();
    assert.ok((await width()) < before);
    await page.locator('.graph-box').focus();
    await page.keyboard.press('+');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('0');
    assert.equal(await width(), before, 'zero shows all of it again');
    await close();
  }
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
  await page.getByRole('tab', { name: 'Sources' }).click();
  const toggle = page.getByRole('switch', { name: new RegExp(item.name) });
  await toggle.click();
  await page.locator('.item', { hasText: item.name }).locator('.badge[data-mode=manual]').waitFor();
  await assertAccessible(page, 'items');
  await shot(page, 'items');
  await say(page, 'List the sites', { turn: 3 });
  const receipt = await server.api('GET', `/conversations/${id}/turns/3/context`);
  const piece = receipt.pieces.find((known) => known.source.kind === item.type && known.source.name === item.name);
  assert.deepEqual([piece.included, piece.source.mode], [true, 'manual']);
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

test('suggestions come from how a session was used, each with one click', async () => {
  const { id: own } = await server.api('POST', '/conversations', { agent: 'demo' });
  for (let turn = 0; turn < 6; turn += 1) await server.api('POST', '/chat', { message: 'Show the device ams1-core-01', conversation_id: own });
  // Added by hand in two other sessions.
  for (let other = 0; other < 2; other += 1) {
    const { id: elsewhere } = await server.api('POST', '/conversations', { agent: 'demo' });
    await server.api('POST', `/conversations/${elsewhere}/context`, { type: 'reference', name: 'maintenance' });
  }
  const { unused } = await server.api('GET', `/conversations/${own}/context/usage`);
  assert.ok(unused.length > 4, 'the demo offers more than it needs');
  const { page, close } = await at(`/#/c/${own}`);
  await page.getByRole('tab', { name: 'Sources' }).click();
  const suggestions = page.locator('.suggestions');
  const maintenance = suggestions.locator('.item', { hasText: 'maintenance' });
  await maintenance.getByText('You added it by hand in 2 other sessions of this agent.').waitFor();
  await assertAccessible(page, 'suggestions');
  await shot(page, 'suggestions');
  await maintenance.getByRole('button', { name: 'Add it here' }).click();
  await maintenance.waitFor({ state: 'detached' });
  const tools = unused.filter((item) => item.type === 'tool').length;
  const remove = suggestions.getByRole('button', { name: `Remove ${tools} here` });
  await remove.click();
  await remove.waitFor({ state: 'detached' });
  const { items } = await server.api('GET', `/conversations/${own}`);
  assert.ok(items.some((item) => item.name === 'maintenance') && items.some((item) => item.name === 'get_device'));
  assert.ok(!items.some((item) => item.name === 'list_vlans'));
  await page.locator('.notice', { hasText: 'Removed' }).getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.', { exact: true }).waitFor();
  const { items: again } = await server.api('GET', `/conversations/${own}`);
  assert.ok(again.some((item) => item.name === 'list_vlans'), 'what was removed is back');
  await close();
});

test('agents show how often what they offer was used, and where their files are', async () => {
  const { page, close } = await at('/#/agents');
  await page.locator('.item-row', { hasText: 'inventory:get_device' }).getByText(/used [1-9]\d* of \d+ requests/).waitFor();
  await page.getByText('agents/NAME/agent.toml').waitFor();
  await close();
});

test('operations show the figures that matter, live and over time', async () => {
  for (const size of Object.values(SIZES)) {
    const { page, close } = await openPage(browser, server.url, { path: '/#/operations', ...size });
    await page.getByText('Everything works.').waitFor();
    const figure = (name) => page.locator('.figures-row > div', { has: page.getByText(name, { exact: true }) }).locator('strong');
    for (const name of ['Stable share', 'Turns', 'Look-ups', 'Slowest 5 %', 'Errors']) await figure(name).waitFor();
    const turns = Number(await figure('Turns').innerText());
    await server.api('POST', '/chat', { message: 'List the sites', conversation_id: id });
    await page.waitForFunction((before) => Number([...document.querySelectorAll('.figures-row > div')].find((box) => box.textContent.startsWith('Turns')).querySelector('strong').textContent) > before, turns);
    for (const chart of ['What a cache can serve', 'Effective tokens', 'Request time', 'Each second', 'Look-ups', 'Errors']) await page.getByRole('img', { name: new RegExp(`^${chart}`) }).waitFor();
    assert.match(await page.locator('.card', { has: page.getByRole('heading', { name: 'Store' }) }).innerText(), /sqlite/i);
    const stats = await server.api('GET', '/memory/stats');
    assert.ok(stats.jobs_done > 0, 'work was done after turns');
    await page.locator('.card', { has: page.getByRole('heading', { name: 'Background work' }) }).waitFor();
    const { conversations } = await server.api('GET', '/conversations?limit=1000');
    const all = conversations.reduce((sum, session) => sum + session.turns, 0);
    const across = page.locator('.card', { has: page.getByRole('heading', { name: 'Across sessions' }) });
    assert.match(await across.innerText(), new RegExp(`^Across sessions\\s+${conversations.length} sessions with \\d+ turns`));
    assert.ok(all > 0);
    await assertAccessible(page, 'operations');
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wider <= 0, `${wider} px wider than the window`);
    await shot(page, `operations-${size.viewport.width}`);
    await close();
  }
});

test('memory is shown where the server keeps any, with its source; it is corrected, forgotten and added', async () => {
  const { page, close } = await at('/');
  await page.getByRole('heading', { name: 'Start a conversation' }).waitFor();
  // An export of ours brings a memory with its source.
  const now = new Date().toISOString();
  const source = { session: id, turn: 1, sentence: 'my rack is R42' };
  const gathered = { id: 'm1', text: 'My rack is R42', kind: 'fact', trust: 'said', source, created_at: now, changed_at: now };
  await server.api('POST', '/memories/import', { format: 'throughline.memories/1', memories: [gathered] });
  await page.reload();
  await page.getByRole('link', { name: 'Memory' }).click();
  const row = (text) => page.locator('.memory', { hasText: text });
  assert.match(await row('My rack is R42').getByRole('link').getAttribute('href'), new RegExp(`${id}/1$`));
  await assertAccessible(page, 'memory');
  await shot(page, 'memory');
  await row('R42').getByRole('button', { name: 'Correct' }).click();
  await page.getByLabel('Correct it').fill('My rack is R43');
  await page.keyboard.press('Enter');
  await row('My rack is R43').waitFor();
  await page.getByLabel('Remember that').fill('call me Sam');
  await page.keyboard.press('Enter');
  await row('call me Sam').getByText('added by hand').waitFor();
  await row('R43').getByRole('button', { name: 'Forget' }).click();
  await page.getByText('The turn stays in the conversation').waitFor();
  await assertAccessible(page, 'forgetting a memory');
  await page.getByRole('button', { name: 'Forget it' }).click();
  await row('R43').waitFor({ state: 'detached' });
  assert.equal((await server.api('GET', `/conversations/${id}/turns/1`)).withheld, true);
  const { memories } = await server.api('GET', '/memories?superseded=true');
  assert.deepEqual(memories.map((memory) => [memory.text, memory.trust]), [['call me Sam', 'told']]);
  await page.getByLabel('Find').fill('nothing of the sort at all');
  await page.getByText('Nothing like that is remembered.').waitFor();
  await page.getByLabel('Find').fill('sam');
  await row('call me Sam').waitFor();
  await close();
});

test('what a memory said before is shown, its kind is chosen, and too long a text is told', async () => {
  const { page, close } = await at('/#/memory');
  const row = (text) => page.locator('.memory', { hasText: text });
  const remember = page.getByLabel('Remember that');
  await remember.fill('The office in Porto opens at eight');
  await page.getByLabel('Kind').selectOption('instruction');
  await page.getByRole('button', { name: 'Remember', exact: true }).click();
  await page.getByText('Remembered.', { exact: true }).waitFor();
  await row('opens at eight').locator('.badge', { hasText: 'instruction' }).waitFor();
  await row('opens at eight').getByRole('button', { name: 'Correct' }).click();
  await page.getByLabel('Correct it').fill('The office in Porto opens at nine');
  await page.locator('.correct-memory').getByLabel('Kind').selectOption('fact');
  await page.getByRole('button', { name: 'Save' }).click();
  await row('opens at nine').locator('.badge', { hasText: 'fact' }).waitFor();
  await row('opens at nine').getByRole('button', { name: 'History' }).click();
  await row('opens at nine').getByRole('list', { name: 'Earlier' }).getByText('The office in Porto opens at eight').waitFor();
  await assertAccessible(page, 'the history of a memory');
  await shot(page, 'memory-history');
  await remember.fill('The office in Porto opens at nine');
  await page.keyboard.press('Enter');
  await page.getByText('That was remembered already.').waitFor();
  // What is replaced by a newer one stays to be seen.
  await server.api('POST', '/memories', { text: 'The lab is in room 12', subject: 'the lab' });
  await server.api('POST', '/memories', { text: 'The lab is in room 14', subject: 'the lab' });
  await page.reload();
  await row('room 14').waitFor();
  assert.equal(await row('room 12').count(), 0);
  await page.getByLabel('Include what was replaced').check();
  await row('room 12').getByText('replaced by a newer one').waitFor();
  await row('room 14').getByRole('button', { name: 'History' }).click();
  await row('room 14').getByRole('list', { name: 'Earlier' }).getByText('The lab is in room 12').waitFor();
  await remember.fill('x'.repeat(3000));
  await page.getByText('this is 1,000 too long').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Remember', exact: true }).isDisabled());
  assert.equal((await remember.inputValue()).length, 3000, 'nothing is cut');
  await close();
});

test('all memories can be reached, page by page', async () => {
  const now = new Date().toISOString();
  const memories = Array.from({ length: 60 }, (_, index) => ({ id: `many-${index}`, text: `Shelf number ${index} holds box ${index}`, kind: 'fact', trust: 'told', created_at: now, changed_at: now }));
  await server.api('POST', '/memories/import', { format: 'throughline.memories/1', memories });
  const { page, close } = await at('/#/memory');
  await page.locator('.memory').nth(49).waitFor();
  assert.equal(await page.locator('.memory').count(), 50);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.locator('.memory').nth(59).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
  await close();
});

test('an address that leads nowhere says so', async () => {
  for (const address of ['nowhere', 'agents2', '%']) {
    const { page, close } = await at(`/#/${address}`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.getByText(`#/${address}`).waitFor();
    if (address === 'nowhere') await assertAccessible(page, 'no such page');
    await page.getByRole('link', { name: 'a new one' }).click();
    await page.locator('.starter').waitFor();
    await close();
  }
});

test('an id in a call that waits is told by its name', async () => {
  const { id: doomed } = await server.api('POST', '/conversations', { agent: 'demo' });
  for (const message of ['Show the device ams1-srv-03', 'Delete device 8']) await server.api('POST', '/chat', { message, conversation_id: doomed });
  const { page, close } = await at(`/#/c/${doomed}`);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.locator('.known-names li', { hasText: 'device: 8 is the device ams1-srv-03' }).waitFor();
  await assertAccessible(page, 'a call with an id');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await close();
});

test('all data of a user is exported, and erased with a receipt that counts it', async () => {
  const other = { 'x-user-id': 'ada' };
  await server.api('POST', '/conversations', { id: 'of-ada' }, other);
  await server.api('POST', '/conversations/of-ada/turns', { message: 'Hello', reply: 'Hello, Ada.' }, other);
  await server.api('POST', '/memories', { text: 'I live in Lisbon' }, other);
  const { page, close } = await at('/#/memory');
  const section = page.locator('.card', { has: page.getByRole('heading', { name: 'All data of a user' }) });
  await section.getByText('You are local of local, with the right to administer.').waitFor();
  assert.equal(await section.getByLabel('User').inputValue(), 'local');
  await section.getByLabel('User').fill('ada');
  const [file] = await Promise.all([page.waitForEvent('download'), section.getByRole('button', { name: 'Export' }).click()]);
  assert.equal(file.suggestedFilename(), 'ada.jsonl');
  assert.match(await (await import('node:fs/promises')).readFile(await file.path(), 'utf8'), /I live in Lisbon[^]*Hello, Ada\./);
  await section.getByRole('button', { name: 'Erase…' }).click();
  const dialog = page.getByRole('dialog');
  const erase = dialog.getByRole('button', { name: 'Erase everything' });
  assert.ok(await erase.isDisabled(), 'the id is typed first');
  await dialog.getByLabel('Type ada to confirm').fill('ada');
  await assertAccessible(page, 'erasing a user');
  await erase.click();
  await dialog.getByText('Everything of ada is erased.').waitFor();
  const told = (await dialog.innerText()).replaceAll('\n', ' ');
  assert.match(told, /Sessions 1 /);
  assert.match(told, /Memories 1 /);
  await assertAccessible(page, 'what was erased of a user');
  await shot(page, 'erased-user');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await assert.rejects(server.api('GET', '/conversations/of-ada', undefined, other), /404/);
  assert.ok((await server.api('GET', '/conversations')).conversations.length > 0, 'others keep theirs');
  await section.getByRole('button', { name: 'Export' }).click();
  await page.getByText('There is no user ada').waitFor();
  await close();
});

test('a plain replay is told only where it would cost more', async () => {
  let replay;
  const { page, close } = await at('/');
  await page.route('**/metrics', (route) => route.fulfill({
    contentType: 'text/plain', body: `throughline_turns_total 1002\nthroughline_context_window_share_count 2\nthroughline_effective_tokens_total 2000\nthroughline_replay_effective_tokens_total ${replay}\n`,
  }));
  const told = async (counted) => {
    replay = counted;
    await page.goto(`${server.url}/#/operations`);
    await page.reload();
    return page.locator('.figures-row > div', { hasText: 'Effective tokens a request' }).innerText();
  };
  const alone = await told(100);
  assert.match(alone, /1,000/, 'turns that were recorded without a request do not count');
  assert.doesNotMatch(alone, /again/);
  assert.match(await told(8000), /every word of the conversations again: 4,000, without instructions and tools/);
  await close();
});
