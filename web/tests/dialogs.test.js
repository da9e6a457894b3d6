// Dialogs by keyboard: what is typed goes into the dialog, Enter does what it offers, and no key reaches the page behind it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, startServer } from './support/server.js';
import { openPage } from './support/browser.js';
import { place } from './support/place.js';

const here = place();

/** Chooses an entry of the session's menu by keyboard. */
async function choose(page, name) {
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name }).focus();
  await page.keyboard.press('Enter');
}

const focused = (page) => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.getAttribute('aria-label'));
const sessions = async () => (await here.server.api('GET', '/conversations?limit=100')).conversations;

test('a title with spaces is typed and taken by Enter', async () => {
  await here.session('to-name', [{ message: 'Hello', reply: 'hi' }], { title: 'Old' });
  const { page, close } = await here.open({ path: '/#/c/to-name' });
  await page.getByRole('heading', { name: 'Old' }).waitFor();
  const before = (await sessions()).length;
  await choose(page, 'Rename');
  await page.keyboard.type('My router plan');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'My router plan' }).waitFor();
  assert.equal((await sessions()).length, before, 'nothing was forked');
  assert.equal((await here.server.api('GET', '/conversations/to-name')).turns, 1, 'nothing was sent');
  await close();
});

test('erasing begins at keeping, and who types on behind a dialog does nothing there', async () => {
  await here.session('to-keep', [{ message: 'Hello', reply: 'hi' }], { title: 'Kept' });
  const { page, close } = await here.open({ path: '/#/c/to-keep' });
  await page.getByRole('heading', { name: 'Kept' }).waitFor();
  const before = (await sessions()).length;
  await choose(page, 'Erase for good…');
  await page.getByRole('dialog').waitFor();
  assert.equal(await focused(page), 'Keep it');
  // The space presses the button; the letters are shortcuts of the page: ask again, edit, a new session, operations.
  await page.keyboard.type(' renouncy');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.waitForTimeout(300);
  assert.match(page.url(), /#\/c\/to-keep$/);
  assert.equal(await page.getByLabel('Say it differently').count(), 0);
  assert.equal((await sessions()).length, before, 'nothing was forked');
  // After a pause they are shortcuts again.
  await page.waitForTimeout(700);
  await page.keyboard.press('o');
  await page.getByRole('heading', { name: 'Operations' }).waitFor();
  await close();
});

test('forgetting begins at keeping', async () => {
  await here.server.api('POST', '/memories', { text: 'My rack is R42' });
  const { page, close } = await here.open({ path: '/#/memory' });
  await page.locator('.memory', { hasText: 'R42' }).getByRole('button', { name: 'Forget' }).click();
  await page.getByRole('dialog').waitFor();
  assert.equal(await focused(page), 'Keep it');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await here.server.api('GET', '/memories?q=rack')).memories.length, 1);
  await close();
});

test('a key is typed where the server asks for one', async () => {
  let own = await startServer({ args: [] });
  await own.stop({ keepFolder: true });
  const made = await run(['key', 'create', '--name', 'page', '--scope', 'admin', '--json', '--store', `sqlite:${own.home}/store.db`], { cwd: own.home });
  own = await startServer({ args: [], folder: own.home });
  try {
    const { page, close } = await openPage(here.browser, own.url);
    await page.getByRole('dialog', { name: 'API key' }).waitFor();
    await page.keyboard.type(JSON.parse(made).key);
    await page.keyboard.press('Enter');
    await page.getByText('No sessions yet.').waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    await close();
  } finally {
    await own.stop();
  }
});

test('a double-click makes one fork, one link, one memory', async () => {
  await here.session('pressed-twice', [{ message: 'Hello', reply: 'hi' }, { message: 'Again', reply: 'yes' }], { title: 'Twice' });
  const forks = async () => (await sessions()).filter((session) => session.forked_from).length;
  const { page, close } = await here.open({ path: '/#/c/pressed-twice' });
  const before = await forks();
  await page.locator('article.row[aria-label="Turn 2"]').getByRole('button', { name: 'Ask again' }).dblclick();
  await page.locator('.head-about').getByText('forked at turn 1').waitFor();
  await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
  await page.waitForTimeout(1000);
  assert.equal(await forks(), before + 1);
  await page.goto(`${here.server.url}/#/c/pressed-twice`);
  await page.getByRole('heading', { name: 'Twice' }).waitFor();
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Share…' }).click();
  await page.getByRole('button', { name: 'Make a link' }).dblclick();
  await page.getByText('Up to turn 2').first().waitFor();
  await page.waitForTimeout(500);
  assert.equal((await here.server.api('GET', '/conversations/pressed-twice/shares')).shares.length, 1);
  await page.goto(`${here.server.url}/#/memory`);
  const asked = [];
  page.on('request', (request) => { if (request.method() === 'POST') asked.push(request.url()); });
  await page.getByLabel('Remember that').fill('The door code is 4711');
  await page.getByRole('button', { name: 'Remember', exact: true }).dblclick();
  await page.locator('.memory', { hasText: '4711' }).waitFor();
  assert.equal(asked.length, 1);
  await close();
});
