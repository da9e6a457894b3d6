// The same session in two places: a tab that is looked at shows what happened in the other.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, PHONE, say, shot } from './support/browser.js';
import { startServer, toolsReady } from './support/server.js';

let server;
let browser;
before(async () => {
  server = await startServer();
  await toolsReady(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const row = (page, turn) => page.locator(`article.row[aria-label="Turn ${turn}"]`);
const idOf = (page) => new URL(page.url()).hash.split('/')[2];

test('a turn that was made in another tab appears by itself, in the list, too', async () => {
  const one = await openPage(browser, server.url);
  await say(one.page, 'List the sites', { turn: 1 });
  const two = await openPage(browser, server.url, { path: `/#/c/${idOf(one.page)}` });
  await row(two.page, 1).locator('footer').waitFor();
  await say(one.page, 'List the devices in Amsterdam', { turn: 2 });
  await row(two.page, 2).getByText('List the devices in Amsterdam').waitFor();
  await two.page.locator('.session[aria-current=page]').getByText('2 turns').waitFor();
  // What is written there is not disturbed, and the next message is one turn more.
  await two.page.getByLabel('Message', { exact: true }).fill('List the racks');
  await say(one.page, 'List the tenants', { turn: 3 });
  await row(two.page, 3).getByText('List the tenants').waitFor();
  assert.equal(await two.page.getByLabel('Message', { exact: true }).inputValue(), 'List the racks');
  await one.close();
  await two.close();
});

test('looking costs one answer without a body, and none while nobody looks', async () => {
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'List the sites', { turn: 1 });
  await page.waitForTimeout(1000);
  const asked = [];
  page.on('request', (request) => asked.push(request.method()));
  await page.waitForTimeout(9000);
  assert.ok(asked.length >= 1 && asked.length <= 3 && asked.every((method) => method === 'HEAD'), asked.join());
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true }));
  asked.length = 0;
  await page.waitForTimeout(5000);
  assert.deepEqual(asked, []);
  await close();
});

test('a call that was decided in another tab no longer waits here', async () => {
  const one = await openPage(browser, server.url);
  await say(one.page, 'Delete the device ams1-srv-03');
  await one.page.getByRole('button', { name: 'Approve' }).waitFor();
  const two = await openPage(browser, server.url, { path: `/#/c/${idOf(one.page)}` });
  await two.page.getByRole('button', { name: 'Approve' }).click();
  await row(two.page, 1).locator('footer').waitFor();
  await one.page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });
  await row(one.page, 1).getByText('inventory:delete_device').waitFor();
  await one.close();
  await two.close();
});

test('deciding what was decided is told in words, and the card goes', async () => {
  await server.api('POST', '/demo/reset');
  const one = await openPage(browser, server.url);
  // Nothing is looked at by itself here: the decision itself must find out.
  await one.page.route('**/api/v1/conversations/*', (route) => (route.request().method() === 'HEAD' ? route.abort('aborted') : route.continue()));
  await say(one.page, 'Delete the device ams1-srv-03');
  await one.page.getByRole('button', { name: 'Refuse' }).waitFor();
  const id = idOf(one.page);
  const { awaiting_approval: [call] } = await server.api('GET', `/conversations/${id}`);
  await server.api('POST', `/conversations/${id}/approvals/${call.id}`, { approve: true });
  await one.page.getByRole('button', { name: 'Refuse' }).click();
  const notice = one.page.locator('.notice', { hasText: 'This call no longer waits' });
  await notice.waitFor();
  assert.doesNotMatch(await notice.innerText(), new RegExp(`${call.id}|${id}`));
  await one.page.getByRole('button', { name: 'Refuse' }).waitFor({ state: 'detached' });
  await row(one.page, 1).getByText('inventory:delete_device').waitFor();
  await one.close();
});

for (const [device, size] of Object.entries({ 'a wide screen': {}, 'a phone': PHONE })) {
  test(`what was allowed for a session is seen and withdrawn, on ${device}`, async () => {
    await server.api('POST', '/demo/reset');
    const { page, close } = await openPage(browser, server.url, size);
    await say(page, 'Delete the device ams1-srv-03');
    await page.getByRole('button', { name: 'Allow for this session' }).click();
    await row(page, 1).locator('footer').waitFor();
    await page.getByText('delete_device may run in this session without asking.').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).first().click();
    if (!(await page.getByRole('tab', { name: 'Sources' }).isVisible())) await page.getByRole('button', { name: 'Context panel' }).click();
    await page.getByRole('tab', { name: 'Sources' }).click();
    const decided = page.getByRole('region', { name: 'Decided for this session' });
    await decided.getByText('inventory:delete_device').waitFor();
    await decided.getByText('runs without asking').waitFor();
    await assertAccessible(page, `a permission on ${device}`);
    await shot(page, `permission-${page.viewportSize().width}`);
    await decided.getByRole('button', { name: 'Withdraw' }).click();
    await decided.waitFor({ state: 'detached' });
    const { rules } = await server.api('GET', `/conversations/${idOf(page)}/approvals`);
    assert.deepEqual(rules.filter((rule) => rule.scope === 'session'), []);
    await close();
  });
}
