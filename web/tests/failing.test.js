// A model that fails: what went wrong stands in words where the reply would be, and can be tried again.
import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, launch, openPage, say, shot, SIZES } from './support/browser.js';
import { startModel } from './support/model.js';
import { startServer } from './support/server.js';

let model;
let server;
let browser;
let answer;
before(async () => {
  model = await startModel(() => answer);
  const folder = await mkdtemp(join(tmpdir(), 'throughline-failing-'));
  const entry = (name, seconds) => `[[model]]\nname = "${name}"\nprovider = "openai"\nmodel = "${name}"\nbase_url = "${model.url}"\nfirst_token_seconds = ${seconds}\nretries_max = 0\n`;
  await writeFile(join(folder, 'throughline.toml'), `[server]\nshutdown_seconds_max = 1\n${entry('patient', 60)}${entry('hasty', 1)}`);
  server = await startServer({ args: ['--config', join(folder, 'throughline.toml')], folder });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await model?.stop();
});

const FAILURES = {
  'a refused key': [{ status: 401, message: 'Incorrect API key provided' }, "The model's provider did not accept the key."],
  'a broken provider': [{ status: 500, message: 'something broke' }, "The model's provider failed."],
  'no answer at all': [{ silent: true }, 'The model did not answer in time.'],
  'an answer without a word': [{ words: [] }, 'The model said nothing.'],
  'an answer of blanks': [{ words: [' ', '\n'] }, 'The model said nothing.'],
};

for (const [device, size] of Object.entries(SIZES)) {
  for (const [name, [failing, words]] of Object.entries(FAILURES)) {
    test(`${name} is told in words and can be tried again, on ${device}`, async () => {
      answer = failing;
      const { page, close } = await openPage(browser, server.url, size);
      if (failing.silent) await page.getByLabel('Model').selectOption('hasty');
      await say(page, 'Who keeps the thread?', { turn: 1 });
      const failed = page.locator('article.row[aria-label="Turn 1"]');
      await failed.locator('.failure strong', { hasText: words }).waitFor();
      assert.equal(await failed.locator('.markdown').count(), 0, 'nothing is said in its place');
      await failed.getByRole('button', { name: 'Answer without a model' }).waitFor();
      await assertAccessible(page, `${name} on ${device}`);
      await assertFits(page, `${name} on ${device}`);
      await shot(page, `failed-${failing.status ?? 'silent'}-${size.viewport.width}`);
      answer = { words: ['Throughline ', 'does.'] };
      await failed.getByRole('button', { name: 'Retry' }).click();
      await page.locator('article.row[aria-label="Turn 2"] .markdown', { hasText: 'Throughline does.' }).waitFor();
      assert.equal(await failed.getByRole('button', { name: 'Retry' }).count(), 0, 'only the newest can be tried again');
      await close();
    });
  }
}

test('a request that a provider refused was sent, and nothing says that no model was asked', async () => {
  answer = { status: 401, message: 'Incorrect API key provided' };
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Who keeps the thread?', { turn: 1 });
  await page.locator('article.row[aria-label="Turn 1"] .context-line b', { hasText: /^Sent:$/ }).waitFor();
  const panel = page.getByRole('tabpanel');
  await panel.locator('.shown b', { hasText: /^Sent:$/ }).waitFor();
  await panel.getByRole('button', { name: 'Request', exact: true }).click();
  await panel.getByText('byte for byte as the provider was sent it').waitFor();
  assert.doesNotMatch(await panel.innerText(), /No model was asked/);
  await close();
});

for (const [device, size] of Object.entries(SIZES)) {
  test(`a reply that breaks off keeps what was said and says so, on ${device}`, async () => {
    answer = { words: ['The first half. ', '```rust\nlet thread = "un'], pause: 100, broken: true };
    const { page, close } = await openPage(browser, server.url, size);
    await say(page, 'Who keeps the thread?', { turn: 1 });
    const turn = page.locator('article.row[aria-label="Turn 1"]');
    await turn.locator('.failure strong', { hasText: "The model's answer was broken off" }).waitFor();
    assert.match(await turn.locator('.markdown').innerText(), /The first half\.[^]*let thread = "un/);
    await assertAccessible(page, `a broken reply on ${device}`);
    await assertFits(page, `a broken reply on ${device}`);
    await shot(page, `failed-broken-${size.viewport.width}`);
    await page.reload();
    await turn.locator('.failure strong', { hasText: "The model's answer was broken off" }).waitFor();
    await turn.getByRole('button', { name: 'Answer without a model' }).click();
    await page.locator('article.row[aria-label="Turn 2"] .meta', { hasText: 'no model' }).waitFor();
    answer = { words: ['Whole.'] };
    await say(page, 'And now?', { turn: 3 });
    await page.locator('article.row[aria-label="Turn 3"] .markdown', { hasText: 'Whole.' }).waitFor();
    await close();
  });
}

test('the page of a proxy that answers in place of the model is told without its tags', async () => {
  answer = { status: 502, message: '<html>\n<head><title>502 Bad Gateway</title></head>\n<body><center><h1>502 Bad Gateway</h1></center></body></html>' };
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Who keeps the thread?', { turn: 1 });
  const told = page.locator('article.row[aria-label="Turn 1"] .failure');
  await told.getByText('502 Bad Gateway').waitFor();
  assert.doesNotMatch(await told.innerText(), /[<>]/);
  await close();
});

test('a turn that the server stored as failed says so and offers an answer without a model', async () => {
  answer = { words: ['Fine.'] };
  const { page, close } = await openPage(browser, server.url);
  // A server that keeps the failure as a failure, and no words of its own.
  const failed = (turn) => ({ ...turn, status: 'failed', reply: '', error: { code: 'model_failed', cause: 'unauthorized', message: 'model openai/patient failed: 401 Incorrect API key provided' } });
  await page.route(/\/turns\/1$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: failed(await response.json()) });
  });
  await say(page, 'Who keeps the thread?', { turn: 1 });
  const turn = page.locator('article.row[aria-label="Turn 1"]');
  await turn.locator('.failure strong', { hasText: 'did not accept the key' }).waitFor();
  assert.equal(await turn.locator('.markdown').count(), 0);
  let sent;
  await page.route('**/chat/stream', (route) => {
    sent = route.request().postDataJSON();
    return route.abort();
  });
  await turn.getByRole('button', { name: 'Answer without a model' }).click();
  await page.getByRole('alert').waitFor();
  assert.deepEqual([sent.message, sent.without_model], ['Who keeps the thread?', true]);
  await page.getByRole('button', { name: 'Discard' }).click();
  await close();
});

for (const [device, size] of Object.entries(SIZES)) {
  test(`stopping is no error: what was said stays, and it says "Stopped", on ${device}`, async () => {
    answer = { words: Array.from({ length: 400 }, (_, index) => `word${index} `), pause: 25 };
    const { page, close } = await openPage(browser, server.url, size);
    await say(page, 'Speak slowly');
    await page.locator('.turn[data-status=live] .markdown', { hasText: 'word3' }).waitFor();
    const stop = page.getByRole('button', { name: 'Stop' });
    const look = await stop.evaluate((button) => { const { borderRadius, alignItems, padding } = getComputedStyle(button); return { borderRadius, alignItems, padding }; });
    assert.deepEqual([look.borderRadius, look.alignItems], ['10px', 'center'], 'drawn like the button to send');
    await stop.click();
    const turn = page.locator('article.row[aria-label="Turn 1"]');
    await turn.getByText('Stopped. This is what had been said.').waitFor();
    assert.match(await turn.innerText(), /word3/);
    assert.equal(await turn.locator('.failure').count(), 0);
    await close();
  });
}

for (const [device, size] of Object.entries(SIZES)) {
  test(`a reply that ended because the page was loaded again says so, and can be asked for again, on ${device}`, async () => {
    answer = { words: Array.from({ length: 400 }, (_, index) => `word${index} `), pause: 25 };
    const { page, close } = await openPage(browser, server.url, size);
    await say(page, 'Speak slowly');
    await page.locator('.turn[data-status=live] .markdown', { hasText: 'word3' }).waitFor();
    await page.reload();
    const turn = page.locator('article.row[aria-label="Turn 1"]');
    await turn.getByText('The reply ended when the page was left. This is what had been said.').waitFor();
    assert.match(await turn.innerText(), /word3/);
    await assertFits(page, `a reply that was left on ${device}`);
    await assertAccessible(page, `a reply that was left on ${device}`);
    await shot(page, `left-${size.viewport.width}`);
    await page.reload();
    await turn.getByText('The reply ended when the page was left.').waitFor();
    answer = { words: ['Whole ', 'this time.'] };
    await turn.getByRole('button', { name: 'Retry' }).click();
    await page.locator('article.row[aria-label="Turn 2"] .markdown', { hasText: 'Whole this time.' }).waitFor();
    assert.equal(await turn.getByRole('button', { name: 'Retry' }).count(), 0, 'only the newest can be asked for again');
    await close();
  });
}

test('stopping before the first word is no error either', async () => {
  answer = { silent: true };
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Say nothing');
  await page.locator('.turn[data-status=live]').waitFor();
  await page.waitForFunction(() => document.querySelector('.thinking')?.textContent.includes('Waiting for words'));
  await page.keyboard.press('Escape');
  await page.getByText(/Stopped before anything was said/).first().waitFor();
  assert.equal(await page.locator('.failure').count(), 0);
  await close();
});

test('a reply that a stop of the server broke off is told as interrupted, not as stopped by the reader', async () => {
  answer = { words: Array.from({ length: 400 }, (_, index) => `word${index} `), pause: 25 };
  const { home, port } = server;
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Speak slowly');
  await page.locator('.turn[data-status=live] .markdown', { hasText: 'word3' }).waitFor();
  const { hash } = new URL(page.url());
  await server.stop({ keepFolder: true });
  await close();
  server = await startServer({ args: ['--config', join(home, 'throughline.toml')], folder: home, port });
  const again = await openPage(browser, server.url, { path: `/${hash}` });
  const turn = again.page.locator('article.row[aria-label="Turn 1"]');
  await turn.locator('.failure strong', { hasText: 'The reply was interrupted: the server stopped.' }).waitFor();
  assert.match(await turn.locator('.markdown').innerText(), /word3/);
  assert.equal(await turn.getByText(/^Stopped/).count(), 0);
  await again.close();
});
