// Sessions: find, name, tag, fork, take out, archive, bring back, erase.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, shot } from './support/browser.js';
import { place } from './support/place.js';

const here = place();

test('a session is renamed, tagged and filtered by its tag', async () => {
  await here.session('naming', [{ message: 'Hello', reply: 'Hello to you' }], { title: 'First name' });
  await here.session('other', [{ message: 'Hi', reply: 'Hi' }], { title: 'Somewhere else' });
  const { page, close } = await here.open({ path: '/#/c/naming' });
  await page.getByRole('heading', { name: 'First name' }).waitFor();
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByLabel('Title').fill('Second name');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'Second name' }).waitFor();
  await page.getByRole('button', { name: 'Add tag' }).click();
  await page.getByLabel('New tag').fill('network');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove the tag network' }).waitFor();
  const head = await here.server.api('GET', '/conversations/naming');
  assert.deepEqual([head.title, head.tags], ['Second name', ['network']]);
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await page.getByRole('group', { name: 'Filter by tag' }).getByRole('button', { name: 'network' }).click();
  await list.getByText('Somewhere else').waitFor({ state: 'detached' });
  await list.getByText('Second name').waitFor();
  await assertAccessible(page, 'a session with tags');
  await close();
});

test('searching finds titles at once and words in conversations', async () => {
  await here.session('said', [{ message: 'Where is the zebra crossing documented?', reply: 'In the handbook, chapter nine.' }], { title: 'Handbook' });
  const { page, close } = await here.open();
  await page.keyboard.press('Escape');
  await page.locator('body').click({ position: { x: 700, y: 5 } });
  await page.getByLabel('Search sessions').fill('zebra');
  const hit = page.locator('.hit').first();
  await hit.waitFor();
  assert.match(await hit.innerText(), /zebra/i);
  await shot(page, 'search');
  await hit.click();
  await page.locator('article.row[aria-label="Turn 1"]').getByText('chapter nine').waitFor();
  await close();
});

test('a fork takes the turns up to one along', async () => {
  await here.session('long', [{ message: 'one', reply: '1' }, { message: 'two', reply: '2' }, { message: 'three', reply: '3' }]);
  const { page, close } = await here.open({ path: '/#/c/long' });
  await page.getByRole('button', { name: 'More about turn 2' }).click();
  await page.getByRole('menuitem', { name: 'Fork from here' }).click();
  await page.getByText('forked at turn 2').waitFor();
  await page.locator('article.row[aria-label="Turn 2"]').getByText('two').waitFor();
  assert.equal(await page.locator('article.row[aria-label="Turn 3"]').count(), 0);
  await close();
});

test('an export is a file, and comes back through import', async () => {
  await here.session('taken-out', [{ message: 'Take me', reply: 'along' }], { title: 'Traveller' });
  const { page, close } = await here.open({ path: '/#/c/taken-out' });
  const exported = async (name) => {
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()]);
    return download;
  };
  const markdown = await exported('Export as Markdown');
  assert.equal(markdown.suggestedFilename(), 'taken-out.md');
  assert.match(await readFile(await markdown.path(), 'utf8'), /Take me/);
  const json = await exported('Export as JSON');
  const bytes = await readFile(await json.path());
  await here.server.api('DELETE', '/conversations/taken-out/permanent');
  const again = JSON.parse(bytes.toString());
  const renamed = JSON.stringify(again).replaceAll('taken-out', 'brought-in');
  await page.getByLabel('Import').setInputFiles({ name: 'taken-out.json', mimeType: 'application/json', buffer: Buffer.from(renamed) });
  await page.getByText('Imported.').waitFor();
  await page.locator('article.row[aria-label="Turn 1"]').getByText('along').waitFor();
  await close();
});

test('a session is archived and restored', async () => {
  await here.session('aside', [{ message: 'Rest', reply: 'now' }], { title: 'Resting' });
  const { page, close } = await here.open({ path: '/#/c/aside' });
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await page.getByText('This session is archived.').waitFor();
  assert.equal((await here.server.api('GET', '/conversations/aside')).active, false);
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('This session is archived.').waitFor({ state: 'detached' });
  assert.equal((await here.server.api('GET', '/conversations/aside')).active, true);
  await close();
});

test('erasing asks first and shows the counted receipt', async () => {
  await here.session('gone', [{ message: 'Forget', reply: 'what?' }, { message: 'everything', reply: 'done' }], { title: 'To be erased' });
  const { page, close } = await here.open({ path: '/#/c/gone' });
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Erase for good…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  assert.equal((await here.server.api('GET', '/conversations/gone')).turns, 2);
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Erase for good…' }).click();
  await dialog.getByRole('button', { name: 'Erase 2 turns' }).click();
  await dialog.getByRole('heading', { name: 'Erased' }).waitFor();
  assert.match(await dialog.innerText(), /Turns\s*2/);
  await assertAccessible(page, 'the receipt of an erasure');
  await shot(page, 'erased');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Start a conversation' }).waitFor();
  await assert.rejects(here.server.api('GET', '/conversations/gone'), /404/);
  await close();
});

test('an unknown session says so', async () => {
  const { page, close } = await here.open({ path: '/#/c/never-was' });
  await page.getByRole('heading', { name: /no session/i }).waitFor();
  await close();
});
