// For everybody: by keyboard alone, on a phone, light and dark.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, PHONE, say, shot } from './support/browser.js';
import { startServer, toolsReady } from './support/server.js';

let server;
let browser;
let id;
before(async () => {
  server = await startServer();
  await toolsReady(server);
  browser = await launch();
  ({ id } = await server.api('POST', '/conversations', { agent: 'demo', title: 'Everybody', tags: ['shared'] }));
  for (const message of ['List the devices in Amsterdam', 'Show the interfaces of the second one']) {
    await server.api('POST', '/chat', { message, conversation_id: id });
  }
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const colorScheme of ['light', 'dark']) {
  test(`no violation in ${colorScheme}, on a wide screen, a small one and a phone`, async () => {
    for (const [device, options] of [['wide', {}], ['small', { viewport: { width: 1024, height: 768 } }], ['phone', PHONE]]) {
      for (const [name, path] of [['starter', '/'], ['conversation', `/#/c/${id}`], ['agents', '/#/agents'], ['personas', '/#/personas'], ['tools', '/#/tools'], ['operations', '/#/operations']]) {
        const { page, close } = await openPage(browser, server.url, { path, colorScheme, ...options });
        await page.locator('h1').first().waitFor();
        await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'));
        await assertAccessible(page, `${name}, ${colorScheme}, ${device}`);
        await shot(page, `${device}-${colorScheme}-${name}`);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wider <= 0, `${name} is ${wider} px wider than the ${device} window`);
        await close();
      }
    }
  });
}

test('on a phone sessions lie in a drawer and the context covers the conversation', async () => {
  const { page, close } = await openPage(browser, server.url, { path: '/', ...PHONE });
  await page.getByRole('button', { name: 'Sessions' }).tap();
  await page.getByRole('link', { name: /Everybody/ }).tap();
  await page.locator('article.row[aria-label="Turn 2"] button.context-line').tap();
  await page.getByRole('tabpanel').getByRole('heading', { name: 'Turn 2 of 2' }).waitFor();
  await assertAccessible(page, 'the context on a phone');
  await shot(page, 'phone-context');
  await page.getByRole('button', { name: 'Close the panel' }).tap();
  await page.getByLabel('Message', { exact: true }).waitFor();
  await close();
});

test('a message is written, its context looked at and a menu used by keyboard alone', async () => {
  const { page, close } = await openPage(browser, server.url);
  await page.getByRole('heading', { name: 'Start a conversation' }).waitFor();
  /** Waits until the focus is on what has this name. */
  const focused = (name) => page.waitForFunction((name) => (document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent) === name, name);
  await focused('Message');
  await page.keyboard.type('List the sites');
  await page.keyboard.press('Enter');
  await page.locator('article.row[aria-label="Turn 1"] footer').waitFor();
  const context = page.locator('article.row[aria-label="Turn 1"] button.context-line');
  await context.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('tabpanel').getByRole('heading', { name: 'Turn 1' }).waitFor();
  await page.getByRole('tab', { name: 'Context' }).focus();
  await page.keyboard.press('ArrowRight');
  await focused('Map');
  await page.getByRole('button', { name: 'Session', exact: true }).focus();
  await page.keyboard.press('Enter');
  await focused('Rename');
  await page.keyboard.press('ArrowDown');
  await focused('Fork');
  await page.keyboard.press('Escape');
  await focused('Session');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await focused('Search sessions');
  await close();
});

test('the colours follow the choice over the system', async () => {
  const { page, close } = await openPage(browser, server.url, { colorScheme: 'dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await ground();
  await page.getByRole('button', { name: /Colours: as the system/ }).click();
  const light = await ground();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await ground(), light, 'remembered');
  await close();
});

test('the focus goes back to where a dialog was opened, and leaves the search', async () => {
  const { page, close } = await openPage(browser, server.url);
  await say(page, 'Hello there', { turn: 1 });
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  for (const [entry, dialog] of [['Share…', 'Share'], ['Rename', 'Rename']]) {
    await page.getByRole('button', { name: 'Session', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: entry }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await focused(), 'Session', `after ${dialog}`);
  }
  await page.keyboard.press('/');
  await page.keyboard.type('hello');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('Search sessions').inputValue(), '');
  assert.equal(await focused(), 'Search sessions');
  await page.keyboard.press('Escape');
  assert.notEqual(await focused(), 'Search sessions');
  await page.keyboard.press('m');
  assert.equal(await focused(), 'Message');
  await close();
});
