// Sharing: a read-only link is made, opened by somebody without a key, and revoked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, shot, SIZES } from './support/browser.js';
import { place } from './support/place.js';

const here = place();

async function openShare(page) {
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Share…' }).click();
  return page.getByRole('dialog', { name: 'Share' });
}

test('a link is made, copied, listed and revoked, and a visitor reads what was said until then', async () => {
  await here.session('to-share', [
    { message: 'What is in rack 12?', reply: 'Two **switches**.', tool_executions: [{ server: 'inventory', name: 'get_rack', arguments: { name: 'hidden' }, result: 'hidden' }] },
  ], { title: 'Rack 12' });
  const { page, close } = await here.open({ path: '/#/c/to-share' });
  const dialog = await openShare(page);
  await dialog.getByLabel('Expires after').selectOption('30');
  await dialog.getByRole('button', { name: 'Make a link' }).click();
  const link = await dialog.getByLabel('Link, shown only now').inputValue();
  assert.match(link, /\/#\/shared\/share_[0-9a-f]{64}$/);
  await dialog.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('Copied the link.').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link);
  await dialog.getByText('Up to turn 1').waitFor();
  await assertAccessible(page, 'the dialog for sharing');
  await shot(page, 'share');
  await here.server.api('POST', '/conversations/to-share/turns', { message: 'Said later', reply: 'ok' });

  const visitor = await here.open({ path: link.slice(here.server.url.length) });
  await visitor.page.getByRole('heading', { name: 'Rack 12' }).waitFor();
  const words = await visitor.page.locator('main').innerText();
  assert.match(words, /What is in rack 12\?[^]*inventory:get_rack[^]*Two switches\./);
  assert.match(words, /Read-only: 1 turn[^]*expires in (29|30) days/);
  assert.doesNotMatch(words, /Said later|hidden/);
  assert.equal(await visitor.page.getByRole('navigation').count() + await visitor.page.getByRole('textbox').count(), 0, 'nothing around it');
  assert.equal(await visitor.page.title(), 'Rack 12');
  await visitor.close();

  await dialog.getByRole('button', { name: /^Revoke the link/ }).click();
  await page.getByText('Revoked. The link opens nothing any more.').waitFor();
  await dialog.getByText('Links that open').waitFor({ state: 'detached' });
  const late = await here.open({ path: link.slice(here.server.url.length) });
  await late.page.getByRole('heading', { name: 'This link opens nothing' }).waitFor();
  await late.page.getByText('It has expired, was revoked, or is not complete.').waitFor();
  await assertAccessible(late.page, 'a link that opens nothing');
  await shot(late.page, 'share-revoked');
  await late.close();
  await close();
});

test('a private session says why it is not shared', async () => {
  await here.session('not-shared', [{ message: 'Between us' }], { title: 'Secret', settings: { private: true } });
  const { page, close } = await here.open({ path: '/#/c/not-shared' });
  const dialog = await openShare(page);
  await dialog.getByText('A session that is not remembered cannot be shared.').waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Make a link' }).count(), 0);
  await close();
});

for (const [size, options] of Object.entries(SIZES)) {
  test(`what was shared fits ${size}, also with long words, and goes on after a hundred turns`, async () => {
    const id = `long-${size.replaceAll(' ', '-')}`;
    const wide = `${'verylongword'.repeat(30)}\n\n\`\`\`\n${'code '.repeat(80)}\n\`\`\`\n\n| a | b |\n|---|---|\n| ${'x'.repeat(200)} | y |`;
    const turns = Array.from({ length: 101 }, (_, at) => ({ message: `Message ${at + 1}`, reply: at === 0 ? wide : 'ok' }));
    await here.session(id, turns, { title: 'Title'.repeat(30) });
    const { path } = await here.server.api('POST', `/conversations/${id}/shares`, {});
    const { page, close } = await here.open({ path, ...options });
    await page.getByRole('article', { name: 'Turn 100' }).waitFor();
    assert.equal(await page.getByRole('article', { name: 'Turn 101' }).count(), 0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('article', { name: 'Turn 101' }).getByText('Message 101').waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    const beyond = await page.evaluate(() => [...document.querySelectorAll('.said, .markdown, h1')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1).length);
    assert.equal(beyond, 0, 'nothing is wider than the window');
    await page.locator('main').evaluate((main) => main.scrollTo(0, 0));
    await assertAccessible(page, `what was shared on ${size}`);
    await shot(page, `shared-${size.replaceAll(' ', '-')}`);
    await close();
  });
}

test('a visitor is told which replies are not whole', async () => {
  const turns = [['complete', 'All of it.'], ['partial', 'The first half'], ['failed', 'Made without it.'], ['failed', '']]
    .map(([status, reply], index) => ({ turn: index + 1, at: new Date().toISOString(), message: `Question ${index + 1}`, reply, status, tools_used: [] }));
  const inDays = (days) => new Date(Date.now() + days * 86_400_000 - 5000).toISOString();
  const { page, close } = await here.open();
  await page.route('**/api/v1/shared/**', (route) => route.fulfill({
    json: { title: 'Halves', shared_at: new Date().toISOString(), expires_at: inDays(7), up_to_turn: 4, turns, next_cursor: null },
  }));
  await page.goto(`${here.server.url}/#/shared/share_${'0'.repeat(64)}`);
  const told = (turn) => page.locator(`article[aria-label="Turn ${turn}"]`).innerText();
  await page.getByText('The link expires in 7 days').waitFor();
  assert.doesNotMatch(await told(1), /broken|failed/i);
  assert.match(await told(2), /The first half[^]*This reply is not whole\./);
  assert.match(await told(3), /Made without it\.[^]*The model failed; this was answered without it\./);
  assert.match(await told(4), /This turn failed\./);
  await close();
});
