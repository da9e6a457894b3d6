// What an answer was made of: the sentence, the reasons, what changed, the time, the request, the map.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, say, shot } from './support/browser.js';
import { startModel } from './support/model.js';
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

const open = async (turn, view) => {
  const opened = await openPage(browser, server.url, { path: `/#/c/${id}` });
  const panel = opened.page.getByRole('tabpanel');
  if (turn) await opened.page.locator(`article.row[aria-label="Turn ${turn}"] button.context-line`).click();
  if (view) await panel.getByRole('button', { name: view, exact: true }).click();
  return { ...opened, panel };
};

test('the sentence, the sections, reasons, matches and tokens are those of the receipt', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/1/context`);
  const { page, panel, close } = await open(1);
  await panel.getByRole('heading', { name: 'Turn 1 of 4' }).waitFor();
  // Without a model nobody was shown anything.
  assert.equal(receipt.no_model, true);
  assert.doesNotMatch(receipt.summary, /no model/);
  const summary = `Would be shown: ${receipt.summary}`;
  assert.equal(await panel.locator('.shown').innerText(), summary);
  assert.equal(await page.locator('article.row[aria-label="Turn 1"] .context-line').innerText(), summary);
  const sent = receipt.pieces.filter((piece) => piece.included);
  const count = (kind) => sent.filter((piece) => piece.source.kind === kind).length;
  assert.match(receipt.summary, new RegExp(`${count('tool')} tools.*${receipt.budget.used_tokens.toLocaleString('en')} tokens`));
  for (const [kind, label] of [['rule', 'Rules'], ['reference', 'References'], ['tool', 'Tools']]) {
    if (count(kind) > 0) await panel.locator('.pieces > summary', { hasText: `${label} (${count(kind)})` }).waitFor();
  }
  const chosen = sent.find((piece) => piece.source.mode === 'agent');
  assert.ok(chosen, 'the demo has an item that is chosen for this message');
  const row = panel.locator('.piece', { hasText: chosen.source.name });
  assert.equal(await row.locator('.badge[data-mode=agent]').innerText(), `${Math.round(chosen.score * 100)} % match`);
  assert.equal(await row.locator('.tokens').innerText(), `${chosen.tokens} tokens`);
  assert.equal(await row.locator('.why').innerText(), chosen.why, 'the reason stands where it is asked');
  await assertAccessible(page, 'context used');
  await shot(page, 'context');
  await close();
});

test('what was left out is listed with its reason', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/1/context`);
  const dropped = receipt.pieces.filter((piece) => !piece.included && piece.dropped !== 'already_present');
  assert.ok(dropped.length > 0, 'something is always left out in the demo');
  const { panel, close } = await open(1);
  const section = panel.locator('.pieces.left-out');
  await section.locator('summary', { hasText: `Left out (${dropped.length})` }).waitFor();
  assert.equal(await section.locator('.why, h3', { hasText: 'not relevant enough to this message' }).count() > 0, dropped.some((piece) => piece.dropped === 'not_relevant'));
  await close();
});

test('from the second turn on the panel begins with what changed, and why', async () => {
  const [one, two] = await Promise.all([1, 2].map((turn) => server.api('GET', `/conversations/${id}/turns/${turn}/context`)));
  const { page, panel, close } = await open(2);
  assert.equal(await panel.getByRole('button', { name: 'What changed' }).getAttribute('aria-pressed'), 'true');
  const more = two.budget.used_tokens - one.budget.used_tokens;
  await panel.locator('.compare .summary', { hasText: `+${more.toLocaleString('en')} tokens.` }).waitFor();
  const added = panel.locator('.pieces[data-sign=added]');
  await added.locator('.piece', { hasText: 'Turn 1, what you said' }).waitFor();
  await added.getByText('one of the last messages').first().waitFor();
  assert.equal(await panel.locator('.pieces[data-sign=changed]', { hasText: 'Your message' }).count(), 0, 'a message is no version of another');
  await assertAccessible(page, 'what changed');
  await shot(page, 'compare');
  await panel.getByRole('button', { name: 'Everything' }).click();
  await panel.getByRole('button', { name: 'The turn before' }).click();
  await panel.getByRole('heading', { name: 'Turn 1 of 4' }).waitFor();
  assert.equal(await panel.getByRole('button', { name: 'What changed' }).count(), 0, 'the first turn has nothing before it');
  await close();
});

test('what another conversation or the memory brought in says where it was said, and opens there', async () => {
  const plans = await server.api('POST', '/conversations', { agent: 'demo', title: 'Summer plans' });
  await server.api('POST', `/conversations/${plans.id}/turns`, { message: 'Remember that my boat is called Marigold.', reply: 'A fine name.' });
  await server.api('POST', `/conversations/${plans.id}/turns`, { message: 'In August we sail from Kotor to Hvar.', reply: 'A fine plan.' });
  const later = await server.api('POST', '/conversations', { agent: 'demo', title: 'Autumn' });
  await server.api('POST', '/chat', { message: 'What did I say about where we sail from in August, and what is my boat called?', conversation_id: later.id });
  const { pieces } = await server.api('GET', `/conversations/${later.id}/turns/1/context`);
  const kinds = pieces.filter((piece) => piece.included).map((piece) => piece.source.kind);
  assert.ok(kinds.includes('elsewhere') && kinds.includes('fact'), `both came in: ${kinds}`);
  const { page, close } = await openPage(browser, server.url, { path: `/#/c/${later.id}/1` });
  const recalled = page.locator('.pieces[data-kind=recalled]');
  await recalled.locator('.piece-line', { hasText: 'Something remembered about you' }).first().click();
  await recalled.getByRole('link', { name: 'Memory page' }).waitFor();
  await recalled.getByRole('link', { name: 'turn 1 of “Summer plans”' }).waitFor();
  const turn = pieces.find((piece) => piece.source.kind === 'elsewhere' && piece.source.turn === 2);
  assert.ok(turn, 'the turn about August was recalled');
  await recalled.locator('.piece-line', { hasText: 'Another conversation, turn 2, what you said' }).click();
  await assertAccessible(page, 'where pieces come from');
  await shot(page, 'origins');
  await recalled.getByRole('link', { name: 'turn 2 of “Summer plans”' }).click();
  await page.locator('article.row[aria-label="Turn 2"]', { hasText: 'Kotor' }).waitFor();
  await close();
});

test('the heading names the turn that is shown, also while another is on its way', async () => {
  const { page, panel, close } = await open(3);
  await panel.getByLabel('Since turn').waitFor();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/turns/1/context', async (route) => {
    await held;
    await route.continue();
  });
  await panel.getByRole('button', { name: 'The turn before' }).click();
  await panel.getByRole('button', { name: 'The turn before' }).click();
  assert.equal(await panel.getByRole('heading', { name: 'Turn 3 of 4' }).count(), 1, 'the receipt is still that of turn 3');
  release();
  await panel.getByRole('heading', { name: 'Turn 1 of 4' }).waitFor();
  assert.equal(await panel.getByRole('button', { name: 'What changed' }).count(), 0, 'the first turn has nothing before it');
  await close();
});

test('any two turns are compared', async () => {
  const { page, panel, close } = await open(3);
  await panel.getByLabel('Since turn').fill('1');
  await page.keyboard.press('Enter');
  await panel.locator('.pieces[data-sign=added] .piece', { hasText: 'Turn 2, the reply' }).waitFor();
  await close();
});

test('the time of a turn is drawn by stage', async () => {
  const turn = await server.api('GET', `/conversations/${id}/turns/2`);
  const { page, panel, close } = await open(2, 'Time');
  const stages = panel.locator('.timeline li');
  await stages.first().waitFor();
  assert.deepEqual(await stages.locator('.span-label').allInnerTexts(), ['Recall and selection', 'inventory:list_interfaces', 'Choosing and wording, no model', 'Commit to the store']);
  const total = Math.max(...turn.stages.map((stage) => stage.start_ms + stage.took_ms));
  assert.ok(total >= turn.took_ms);
  await panel.locator('.timeline .summary', { hasText: total < 1000 ? `${total < 10 ? `${total}.0` : total} ms` : `${(total / 1000).toFixed(1)} s` }).waitFor();
  await assertAccessible(page, 'the time of a turn');
  await shot(page, 'timeline');
  await close();
});

test('a piece opens as it was sent and as it is now', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/1/context`);
  const rule = receipt.pieces.find((piece) => piece.included && piece.source.kind === 'rule');
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
    await page.getByRole('tabpanel').getByRole('button', { name: /^tone/ }).click();
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

test('without a model the request is shown in the engine\'s form, and copied to the byte', async () => {
  const { page, panel, close } = await open(2, 'Request');
  await panel.getByText('No model was asked.').waitFor();
  const expected = await (await fetch(`${server.url}/api/v1/conversations/${id}/turns/2/request`)).text();
  await panel.getByRole('button', { name: /^Copy/ }).click();
  await page.getByText('Copied the request of turn 2.').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), expected);
  await panel.locator('.readable li[data-role=user]', { hasText: 'Show the interfaces of the second one' }).waitFor();
  await panel.getByRole('button', { name: 'Side by side' }).click();
  const dialog = page.getByRole('dialog', { name: 'The request of turn 2' });
  assert.equal(await dialog.locator('.raw').textContent(), expected);
  await assertAccessible(page, 'the request side by side');
  await shot(page, 'request');
  await close();
});

test('with a model the request is the body that its provider was sent, byte for byte', async () => {
  const model = await startModel(() => ({ words: ['Hello.'] }));
  const own = await startServer({ args: [], env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' } });
  try {
    const { page, close } = await openPage(browser, own.url);
    await say(page, 'Who are you?', { turn: 1 });
    const panel = page.getByRole('tabpanel');
    await panel.locator('.shown', { hasText: 'Shown: ' }).waitFor();
    await panel.getByRole('button', { name: 'Request', exact: true }).click();
    await panel.getByText('byte for byte as the provider was sent it').waitFor();
    await panel.getByRole('button', { name: 'Side by side' }).click();
    assert.equal(await page.getByRole('dialog').locator('.raw').textContent(), model.bodies.at(-1));
    await close();
  } finally {
    await own.stop();
    await model.stop();
  }
});

test('each request of a turn with calls is shown as its provider was sent it', async () => {
  const model = await startModel(({ tools, messages }) => {
    const sites = tools?.find((tool) => tool.function.name.includes('list_sites'));
    return sites && messages.at(-1).role === 'user' ? { call: { name: sites.function.name, arguments: {} } } : { words: ['Four.'] };
  });
  const own = await startServer({ args: ['--demo'], env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' } });
  try {
    await toolsReady(own);
    const { page, close } = await openPage(browser, own.url);
    await say(page, 'How many sites are there?', { turn: 1 });
    const panel = page.getByRole('tabpanel');
    await panel.getByRole('button', { name: 'Request', exact: true }).click();
    for (const [index, body] of model.bodies.entries()) {
      await panel.getByLabel('Request').selectOption({ label: `${index + 1} of ${model.bodies.length}` });
      await panel.getByText(`Request ${index + 1} of ${model.bodies.length} of this turn, byte for byte as the provider was sent it`).waitFor();
      await panel.getByRole('button', { name: /^Copy/ }).click();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), body, `request ${index + 1}`);
    }
    assert.equal(model.bodies.length, 2);
    await panel.locator('.readable li[data-role=tool], .readable li', { hasText: 'Amsterdam' }).first().waitFor();
    await close();
  } finally {
    await own.stop();
    await model.stop();
  }
});

test('a turn without a receipt says so', async () => {
  const { page, panel, close } = await open();
  await page.locator('article.row[aria-label="Turn 4"]').getByText('No record of what a model was shown').waitFor();
  await panel.getByText('an application recorded this turn without a receipt').waitFor();
  await close();
});

test('the window is drawn for a turn with units and the stable start marked', async () => {
  const receipt = await server.api('GET', `/conversations/${id}/turns/2/context`);
  assert.ok(receipt.stable_prefix_tokens > 0);
  const { panel, close } = await open(2);
  const words = await panel.getByRole('img').first().getAttribute('aria-label');
  const stable = receipt.stable_prefix_tokens.toLocaleString('en');
  assert.ok(words.includes(`The first ${stable} are the same`), words);
  await panel.locator('.bar-stable').waitFor();
  const share = Math.round((100 * receipt.stable_prefix_tokens) / receipt.budget.used_tokens);
  await panel.getByText(`The first ${stable} tokens (${share} %)`).waitFor();
  await panel.locator('.bar-head', { hasText: `${receipt.budget.used_tokens.toLocaleString('en')} of ${receipt.budget.limit_tokens.toLocaleString('en')} tokens` }).waitFor();
  await close();
});

test('a request that ends with the one before it is not all as before', async () => {
  const { page, close } = await openPage(browser, server.url, { path: '/' });
  await page.route(/\/turns\/2\/context$/, async (route) => {
    const response = await route.fetch();
    const receipt = await response.json();
    const sum = receipt.pieces.filter((piece) => piece.included).reduce((all, piece) => all + piece.tokens, 0);
    // What is between the pieces is counted, too: the part that is as before may be more than the pieces together.
    await route.fulfill({ response, json: { ...receipt, stable_prefix_tokens: sum + 20, budget: { ...receipt.budget, used_tokens: sum + 200 } } });
  });
  await page.goto(`${server.url}/#/c/${id}/2`);
  const words = await page.getByRole('tabpanel').locator('.stable-words').innerText();
  assert.doesNotMatch(words, /100 %/, words);
  await close();
});

test('a turn without a model says "would be shown", also where its receipt arrives before it', async () => {
  const { page, close } = await openPage(browser, server.url, { path: '/' });
  await page.route(/\/history\?/, async (route) => {
    await new Promise((done) => setTimeout(done, 700));
    await route.continue();
  });
  await page.goto(`${server.url}/#/c/${id}/2`);
  await page.reload();
  const panel = page.getByRole('tabpanel');
  await panel.locator('.shown').waitFor();
  await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
  await panel.locator('.shown b', { hasText: 'Would be shown:' }).waitFor();
  await close();
});

test('figures that a newer server sends are shown, and older ones are not missed', async () => {
  const { page, close } = await openPage(browser, server.url, { path: '/' });
  await page.route(/\/turns\/2\/context$/, async (route) => {
    const response = await route.fetch();
    const receipt = await response.json();
    await route.fulfill({ response, json: { ...receipt, stable_prefix_tokens: 1234, effective_tokens: 567, replay_effective_tokens: 890, broken_by: 'a rule changed', pieces: receipt.pieces.map((piece, index) => (index === 0 ? { ...piece, since: 1 } : piece)) } });
  });
  await page.goto(`${server.url}/#/c/${id}/2`);
  const panel = page.getByRole('tabpanel');
  await panel.getByText('The first 1,234 tokens').waitFor();
  await panel.getByText('It does not begin as the request before: a rule changed.').waitFor();
  await panel.getByText('It costs like 567 tokens, cached ones counted at a tenth; every word of the conversation again would cost like 890, without instructions and tools.').waitFor();
  await close();
});

test('the map shows topics, what changed and where each turn stands', async () => {
  const { id: own } = await server.api('POST', '/conversations', { agent: 'demo', settings: { context_tokens: 4000 } });
  for (const message of ['List the devices in Amsterdam', 'Show the interfaces of the second one', 'Add C++ and Python answers to project 123 survey', 'List the devices in Frankfurt', 'List the sites']) {
    await server.api('POST', '/chat', { message, conversation_id: own });
  }
  const receipt = await server.api('GET', `/conversations/${own}/turns/5/context`);
  const shown = new Set(receipt.pieces.filter((piece) => piece.included && piece.source.kind === 'history').map((piece) => piece.source.turn));
  assert.ok(shown.size < 4, 'something has left this small window');
  const { page, close } = await openPage(browser, server.url, { path: `/#/c/${own}` });
  await page.getByRole('tab', { name: 'Map' }).click();
  const panel = page.getByRole('tabpanel');
  await panel.getByRole('img', { name: /Tokens a turn/ }).waitFor();
  assert.equal(await panel.locator('.column').count(), 5);
  const places = await panel.locator('.stretch li').evaluateAll((stops) => stops.map((stop) => stop.dataset.place));
  for (let turn = 1; turn <= 4; turn += 1) assert.equal(places[turn - 1] === 'verbatim', shown.has(turn), `turn ${turn} is ${places[turn - 1]}`);
  assert.equal(places[4], 'newest');
  await panel.locator('.stop', { hasText: 'Add C++' }).locator('.badge', { hasText: 'changed' }).waitFor();
  await panel.getByRole('button', { name: 'Changes and decisions' }).click();
  const plain = await panel.locator('.stretch li').evaluateAll((stops) => stops.filter((stop) => !stop.querySelector('[data-mark=changed], .stop-note')).length);
  assert.equal(plain, 0, 'only what changed something, or the window');
  await panel.locator('.stop', { hasText: 'Add C++' }).waitFor();
  await panel.getByRole('button', { name: 'All turns' }).click();
  await panel.getByText('As a table').click();
  await panel.getByRole('row', { name: /^5 / }).waitFor();
  await assertAccessible(page, 'the map');
  await shot(page, 'map');
  await panel.locator('.stop', { hasText: 'List the devices in Amsterdam' }).click();
  await page.waitForURL(/\/1$/);
  await close();
});

test('a window over 80 % carries a warning', async () => {
  // The last exchange is always shown: one that fills the window, and still fits.
  let full;
  for (let words = 20; words <= 240 && !full; words += 20) {
    const { id } = await server.api('POST', '/conversations', { settings: { context_tokens: 2200 } });
    await server.api('POST', `/conversations/${id}/turns`, { message: 'Note', reply: 'lorem ipsum dolor sit amet '.repeat(words) });
    const { receipt } = await server.api('POST', `/conversations/${id}/prepare`, { message: 'What did I note?' });
    if (receipt.budget.warning) full = id;
  }
  assert.ok(full, 'no exchange fills the window');
  const { page, close } = await openPage(browser, server.url, { path: `/#/c/${full}` });
  await say(page, 'What did I note?', { turn: 2 });
  const receipt = await server.api('GET', `/conversations/${full}/turns/2/context`);
  assert.equal(receipt.budget.warning, true, `${receipt.budget.share}`);
  await page.getByRole('tabpanel').getByText(/of the window is used/).waitFor();
  await shot(page, 'window-warning');
  await close();
});
