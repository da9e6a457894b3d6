// Behind keys: the page asks for one, keeps it for the tab and never puts it into an address.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, shot } from './support/browser.js';
import { run, startServer } from './support/server.js';

let server;
let browser;
let key;
before(async () => {
  server = await startServer({ args: [] });
  await server.stop({ keepFolder: true });
  const made = await run(['key', 'create', '--name', 'page', '--scope', 'admin', '--json', '--store', `sqlite:${server.home}/store.db`], { cwd: server.home });
  ({ key } = JSON.parse(made));
  server = await startServer({ args: [], folder: server.home });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('a wrong key is refused, the right one opens everything and stays out of addresses', async () => {
  const { page, close } = await openPage(browser, server.url);
  const addresses = [];
  page.on('request', (request) => addresses.push(request.url()));
  const dialog = page.getByRole('dialog', { name: 'API key' });
  await dialog.getByLabel('Key').fill('not-a-key');
  await assertAccessible(page, 'asking for a key');
  await shot(page, 'key');
  await dialog.getByRole('button', { name: 'Use this key' }).click();
  await dialog.getByText('The server did not accept the key.').waitFor();
  await dialog.getByLabel('Key').fill(key);
  await dialog.getByRole('button', { name: 'Use this key' }).click();
  await page.getByText('No sessions yet.').waitFor();
  await page.reload();
  await page.getByText('No sessions yet.').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0, 'remembered in the tab');
  assert.ok(addresses.length > 5 && addresses.every((address) => !address.includes(key)));
  assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage))).includes(key), 'nothing is kept beyond the tab');
  await page.getByRole('button', { name: 'Forget the key' }).click();
  await page.getByRole('dialog', { name: 'API key' }).getByText('This server needs a key.').waitFor();
  assert.ok(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes(key), 'it is forgotten');
  await close();
});
