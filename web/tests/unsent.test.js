// Nothing that somebody wrote is lost because a server failed: stopped and started, reloaded, on every size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIZES, assertAccessible, assertFits, holds, say, shot } from './support/browser.js';
import { place } from './support/place.js';

const here = place();

const said = (page) => page.locator('.turn[data-status=live] .said, .unstarted .said');

for (const [device, size] of Object.entries(SIZES)) {
  test(`a message to a stopped server is kept and sent again, also after a reload, on ${device}`, async () => {
    const { page, close } = await here.open(size);
    await say(page, `Hello from ${device}`, { turn: 1 });
    await here.stop();
    await say(page, 'Where is the zebra?');
    const failure = page.getByRole('alert');
    await failure.getByText('Not sent: the server does not answer.').waitFor();
    await page.getByRole('status').filter({ hasText: 'The server does not answer. Trying again' }).waitFor();
    assert.equal(await said(page).innerText(), 'Where is the zebra?');
    await assertAccessible(page, `an unsent message on ${device}`);
    await assertFits(page, `an unsent message on ${device}`);
    await shot(page, `unsent-${size.viewport.width}`);
    await failure.getByRole('button', { name: 'Retry' }).click();
    await failure.getByText('Not sent: the server does not answer.').waitFor();
    await here.start();
    await page.getByText('Trying again…').waitFor({ state: 'detached' });
    await failure.getByText('Not sent: the server did not answer. Your message is kept.').waitFor();
    await failure.getByText('The server answers again.').waitFor();
    await page.reload();
    await page.getByRole('alert').getByText('Not sent: the server has not confirmed this message.').waitFor();
    assert.equal(await said(page).innerText(), 'Where is the zebra?');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
    const { conversations } = await here.server.api('GET', '/conversations?limit=1');
    const { turns } = await here.server.api('GET', `/conversations/${conversations[0].id}/history`);
    assert.deepEqual(turns.map((turn) => turn.message), [`Hello from ${device}`, 'Where is the zebra?']);
    await page.reload();
    await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, 'a stored message is not offered again');
    await close();
  });

  test(`a first message is kept on the start page, on ${device}`, async () => {
    const { page, close } = await here.open(size);
    await page.getByRole('heading', { name: 'Start a conversation' }).waitFor();
    const sessions = (await here.server.api('GET', '/conversations')).conversations.length;
    await here.stop();
    await say(page, `First words from ${device}`);
    await page.getByRole('alert').getByText('Not sent: the server does not answer.').waitFor();
    await assertAccessible(page, `an unsent first message on ${device}`);
    await shot(page, `unsent-start-${size.viewport.width}`);
    await here.start();
    await page.reload();
    assert.equal(await said(page).innerText(), `First words from ${device}`);
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.locator('article.row[aria-label="Turn 1"] footer').waitFor();
    const { conversations } = await here.server.api('GET', '/conversations');
    assert.equal(conversations.length, sessions + 1, 'one session, whatever was tried');
    await close();
  });
}

test('an unsent message can be taken back into the field, or given up', async () => {
  const { page, close } = await here.open();
  await say(page, 'Hello', { turn: 1 });
  await page.route('**/chat/stream', (route) => route.abort());
  await say(page, 'Are you there?');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const field = page.getByLabel('Message', { exact: true });
  await holds(field, 'Are you there?');
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await field.fill('The next one');
  await page.getByText('Send the message above again, or discard it').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled());
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.unroute('**/chat/stream');
  await field.press('Enter');
  await page.locator('article.row[aria-label="Turn 2"] .said', { hasText: 'The next one' }).waitFor();
  await close();
});

test('a stream that breaks in the middle leaves one turn, not two', async () => {
  const { page, close } = await here.open();
  await say(page, 'Hello', { turn: 1 });
  // The request arrives and is answered; the answer does not.
  await page.route('**/chat/stream', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await say(page, 'Did this arrive?');
  await page.getByRole('alert').waitFor();
  await page.unroute('**/chat/stream');
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
  const id = new URL(page.url()).hash.split('/')[2];
  assert.equal((await here.server.api('GET', `/conversations/${id}`)).turns, 2);
  await close();
});

test('a reply that our server broke off is not told as a message that was not sent', async () => {
  const { page, close } = await here.open();
  await say(page, 'Hello', { turn: 1 });
  const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  await page.route('**/chat/stream', (route) => route.fulfill({ contentType: 'text/event-stream', body: event('delta', { text: 'The first half' }) }));
  await say(page, 'Tell me all');
  const alert = page.getByRole('alert');
  await alert.getByText('The reply broke off: the server did not answer any more. Your message is kept.').waitFor();
  await page.locator('.turn[data-status=live] .markdown', { hasText: 'The first half' }).waitFor();
  assert.doesNotMatch(await alert.innerText(), /Not sent/);
  await page.unroute('**/chat/stream');
  await alert.getByRole('button', { name: 'Retry' }).click();
  await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
  await close();
});

test('a turn that was made elsewhere is shown with the next one', async () => {
  await here.session('two-places', [{ message: 'First' }]);
  const { page, close } = await here.open({ path: '/#/c/two-places' });
  const row = (turn) => page.locator(`article.row[aria-label="Turn ${turn}"]`);
  await row(1).locator('footer').waitFor();
  await here.server.api('POST', '/conversations/two-places/turns', { message: 'Second, from elsewhere', reply: 'ok' });
  await say(page, 'Third', { turn: 3 });
  await row(2).getByText('Second, from elsewhere').waitFor();
  await close();
});

test('a session that was archived elsewhere says what can be done here', async () => {
  await here.session('archived-elsewhere', [{ message: 'First' }]);
  const { page, close } = await here.open({ path: '/#/c/archived-elsewhere' });
  await page.locator('article.row[aria-label="Turn 1"] footer').waitFor();
  await here.server.api('DELETE', '/conversations/archived-elsewhere');
  await say(page, 'Still there?');
  const alert = page.getByRole('alert');
  await alert.getByText('Restore it at the top of the conversation, then try again.').waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /PATCH/);
  await page.getByText('This session is archived. Restore it to continue.').waitFor();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('This session is archived.').waitFor({ state: 'detached' });
  await alert.getByRole('button', { name: 'Retry' }).click();
  await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
  await close();
});

test('drafts are kept for each session and for a new one', async () => {
  const { page, close } = await here.open();
  const field = page.getByLabel('Message', { exact: true });
  await say(page, 'Here', { turn: 1 });
  const first = page.url();
  await field.fill('half a thought');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'New' }).click();
  await holds(field, '');
  await field.fill('a new one');
  await page.goto(first);
  await page.locator('article.row[aria-label="Turn 1"]').waitFor();
  await holds(field, 'half a thought');
  await page.reload();
  await page.locator('article.row[aria-label="Turn 1"]').waitFor();
  await holds(field, 'half a thought');
  await page.getByRole('link', { name: 'New' }).click();
  await holds(field, 'a new one');
  await close();
});
