// The first two minutes: an empty store, no key, the tour from end to end.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, shot } from './support/browser.js';
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

test('the tour shows a call, a reference, a change, an earlier result and an approval, without a model', async () => {
  const { page, close } = await openPage(browser, server.url);
  await page.getByRole('heading', { name: 'Start a conversation' }).waitFor();
  await page.getByText('No model is configured').waitFor();
  await assertAccessible(page, 'the starter');
  await shot(page, 'starter');

  await page.getByRole('button', { name: /List the devices in Amsterdam/ }).click();
  const turn = (number) => page.locator(`article.row[aria-label="Turn ${number}"]`);
  await turn(1).locator('footer').waitFor();
  await turn(1).getByText('inventory:list_devices').waitFor();
  assert.match(await turn(1).innerText(), /8 devices[^]*ams1-core-01/);
  await turn(1).getByRole('button', { name: /tool|token/ }).waitFor();

  await page.getByRole('button', { name: 'Show the interfaces of the second one' }).click();
  await turn(2).locator('footer').waitFor();
  assert.match(await turn(2).innerText(), /et-0\/0\/0/);
  await shot(page, 'conversation');

  await page.getByRole('button', { name: 'Add C++ and Python answers to project 123 survey' }).click();
  await turn(3).locator('footer').waitFor();

  await page.getByRole('button', { name: 'What answers were deselected?' }).click();
  await turn(4).locator('footer').waitFor();
  assert.match(await turn(4).innerText(), /Java/);
  assert.equal(await turn(4).locator('.call').count(), 0, 'answered without another call');

  await page.getByRole('button', { name: 'Delete the device ams1-srv-03' }).click();
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.locator('.turn[data-status=live] .said', { hasText: 'Delete the device ams1-srv-03' }).waitFor();
  await assertAccessible(page, 'a call that waits');
  await shot(page, 'approval');
  assert.equal((await server.api('GET', '/conversations')).conversations[0].awaiting_approval.length, 1);

  await page.reload();
  await page.locator('.turn[data-status=live] .said', { hasText: 'Delete the device ams1-srv-03' }).waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  await turn(5).locator('footer').waitFor();
  await turn(5).getByText('inventory:delete_device').waitFor();
  await settled(page, 5);
  await shot(page, 'tour-end');
  await close();
});

/** Nothing waits any more, and the panel shows the turn that ended. */
async function settled(page, turn) {
  await page.getByRole('heading', { name: `Turn ${turn}` }).waitFor();
  assert.equal(await page.locator('.turn[data-status=live]').count(), 0, 'no turn is under way');
  assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0, 'nothing waits for a decision');
}

test('a call that was decided without a reload is over', async () => {
  const { page, close } = await openPage(browser, server.url);
  await page.getByLabel('Message', { exact: true }).fill('Delete the device fra1-srv-01');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  // The head with what waits has arrived, as it has for everybody who reads before deciding.
  await page.locator('.sessions a', { hasText: 'waits for you' }).first().waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.locator('article.row[aria-label="Turn 1"] footer').waitFor();
  await settled(page, 1);
  await close();
});

test('a refused call does not run and the turn says so', async () => {
  const { page, close } = await openPage(browser, server.url);
  await page.getByLabel('Message', { exact: true }).fill('Delete the device ams1-srv-02');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('A call was refused.').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('Show the device ams1-srv-02');
  await page.keyboard.press('Enter');
  await page.locator('article.row[aria-label="Turn 2"] footer').waitFor();
  assert.match(await page.locator('article.row[aria-label="Turn 2"]').innerText(), /7XK2A02/);
  await close();
});

test('a call can be decided while the answer that announced it is still open', async () => {
  const { page, close } = await openPage(browser, server.url);
  await page.evaluate(() => {
    const real = window.fetch;
    window.fetch = async (path, ...rest) => {
      const response = await real(path, ...rest);
      if (!String(path).includes('/chat/stream')) return response;
      const parts = (await response.text()).split(/(?=event: done)/);
      const held = new ReadableStream({
        async pull(controller) {
          if (parts.length === 1) await new Promise((go) => { window.endStream = go; });
          if (parts.length === 0) controller.close();
          else controller.enqueue(new TextEncoder().encode(parts.shift()));
        },
      });
      return new Response(held, { status: response.status, headers: response.headers });
    };
  });
  await page.getByLabel('Message', { exact: true }).fill('Delete the device ams1-srv-02');
  await page.keyboard.press('Enter');
  let unsent = 0;
  await page.route('**/approvals/*', async (route) => {
    await page.evaluate(() => window.endStream());
    await page.waitForTimeout(200);
    unsent = await page.getByRole('alert').count();
    await route.continue();
  });
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('A call was refused.').waitFor();
  await settled(page, 1);
  assert.equal(unsent, 0, 'the message is not called unsent');
  await close();
});
