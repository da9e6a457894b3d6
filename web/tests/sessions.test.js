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

test('a title is found among more sessions than are listed at first', async () => {
  for (let number = 1; number <= 120; number += 1) await here.server.api('POST', '/conversations', { id: `bulk-${number}`, title: `Bulk session ${number}` });
  const { page, close } = await here.open();
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.locator('.session').nth(49).waitFor();
  assert.equal(await list.locator('.session').count(), 50, 'a page of them');
  await page.getByLabel('Search sessions').fill('Bulk session 3');
  await list.locator('.session').nth(10).waitFor();
  assert.equal(await list.locator('.session').count(), 11, '3 and 30 to 39');
  assert.equal(await page.getByText('No title or tag matches.').count(), 0);
  await page.getByLabel('Search sessions').fill('Bulk session nowhere');
  await page.getByText('No title or tag matches.').waitFor();
  await page.getByLabel('Search sessions').fill('');
  await list.locator('.session').nth(49).waitFor();
  assert.equal(await list.locator('.session').count(), 50, 'the list is not longer than before');
  await page.getByRole('button', { name: 'Show more' }).click();
  await list.locator('.session').nth(99).waitFor();
  await close();
});

test('a session that is not remembered is marked in its head and in the list, and it is told', async () => {
  await here.session('aside-it-goes', [{ message: 'Between us', reply: 'yes' }], { title: 'Quiet' });
  const { page, close } = await here.open({ path: '/#/c/aside-it-goes' });
  const toggle = async (name) => {
    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  await toggle('Do not remember this session');
  await page.getByText('Nothing of this session is remembered outside of it any more').waitFor();
  await page.locator('.head').getByText('not remembered').waitFor();
  await page.locator('.session', { hasText: 'Quiet' }).getByText('not remembered').waitFor();
  await assertAccessible(page, 'a session that is not remembered');
  await shot(page, 'not-remembered');
  await toggle('Remember this session');
  await page.getByText('What is said from now on is remembered.').waitFor();
  await page.locator('.head').getByText('not remembered').waitFor({ state: 'detached' });
  await close();
});

test('tabs and bookmarks are told apart by their titles', async () => {
  await here.session('titled', [{ message: 'Hello' }], { title: 'Plan of the rack' });
  const { page, close } = await here.open();
  await page.waitForFunction(() => document.title === 'New session · Throughline');
  await page.goto(`${here.server.url}/#/c/titled`);
  await page.waitForFunction(() => document.title === 'Plan of the rack · Throughline');
  await page.goto(`${here.server.url}/#/operations`);
  await page.waitForFunction(() => document.title === 'Operations · Throughline');
  await close();
});

test('what does not expire is not offered an extension', async () => {
  await here.session('lasting', [{ message: 'Hello' }]);
  const { page, close } = await here.open({ path: '/#/c/lasting' });
  await page.getByRole('tab', { name: 'Persona' }).click();
  await page.getByText('This session does not expire.').waitFor();
  assert.equal(await page.getByRole('group', { name: 'Extend' }).count(), 0);
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
  assert.equal(markdown.suggestedFilename(), 'Traveller.md', 'named as it is called');
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
  assert.equal(await page.getByText('everything').count(), 0, 'nothing of it is left behind the receipt');
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
