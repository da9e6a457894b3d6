// Long titles, long words, code and wide tables on every size; replies are followed, and what waits is in view.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, launch, openPage, say, shot, SIZES } from './support/browser.js';
import { startModel } from './support/model.js';
import { startServer, toolsReady } from './support/server.js';

const WORD = 'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(6);
const CODE = '```rust\nfn main() { // ' + 'a very long line of code '.repeat(12) + '\n    println!("{}", 42);\n}\n```\n';
const TABLE = `| ${Array.from({ length: 14 }, (_, index) => `Column ${index}`).join(' | ')} |\n|${' --- |'.repeat(14)}\n| ${Array.from({ length: 14 }, (_, index) => `value-${index}-that-is-long`).join(' | ')} |\n`;

let model;
let server;
let browser;
before(async () => {
  model = await startModel((request) => {
    const asked = JSON.stringify(request.messages.filter((message) => message.role === 'user').at(-1)?.content ?? '');
    if (/wide/.test(asked)) return { words: [`# ${WORD}\n\n${WORD}\n\n`, CODE, '\n', TABLE, `\n\`${WORD}\`\n`] };
    return { words: ['A reply ', 'of several lines.\n\n', ...Array.from({ length: 12 }, (_, index) => `- line ${index}\n`)], pause: 4 };
  });
  server = await startServer({ env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' } });
  await toolsReady(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await model?.stop();
});

for (const [device, size] of Object.entries(SIZES)) {
  test(`nothing is wider than the window, whatever is said, on ${device}`, async () => {
    const { id } = await server.api('POST', '/conversations', { title: `A very long title ${WORD}`.slice(0, 200), tags: ['a-tag-with-a-rather-long-name'] });
    const { page, close } = await openPage(browser, server.url, { path: `/#/c/${id}`, ...size });
    await say(page, `Something wide ${WORD}`, { turn: 1 });
    await assertFits(page, `wide things on ${device}`);
    const turn = page.locator('article.row[aria-label="Turn 1"]');
    assert.equal(await turn.locator('.code-keyword', { hasText: 'fn' }).count(), 1, 'code is coloured');
    assert.ok(await turn.locator('.table-scroll').evaluate((element) => element.scrollWidth > element.clientWidth || innerWidth > 1400), 'a wide table scrolls by itself');
    await assertAccessible(page, `wide things on ${device}`);
    await shot(page, `wide-things-${size.viewport.width}`);
    await close();
  });

  test(`replies are followed turn after turn until the reader scrolls up, on ${device}`, async () => {
    const { page, close } = await openPage(browser, server.url, size);
    const left = () => page.locator('.turns').evaluate((list) => Math.round(list.scrollHeight - list.scrollTop - list.clientHeight));
    for (let turn = 1; turn <= 4; turn += 1) {
      await say(page, `Message ${turn}`, { turn });
      assert.ok((await left()) <= 1, `the end is in view after turn ${turn}: ${await left()} px are left`);
    }
    // Less room for the turns, with a scroll event before the view has followed, is nobody's scrolling.
    await page.evaluate(async () => {
      document.querySelector('.conversation-foot').style.paddingTop = '90px';
      document.querySelector('.turns').dispatchEvent(new Event('scroll'));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    });
    assert.ok((await left()) <= 1, `the end stays in view: ${await left()} px are left`);
    await page.locator('.turns').evaluate((list) => (list.scrollTop = 0));
    await page.getByRole('button', { name: 'Latest' }).waitFor();
    const { id } = (await server.api('GET', '/conversations?limit=1')).conversations[0];
    assert.equal((await server.api('GET', `/conversations/${id}`)).turns, 4);
    assert.equal(await page.locator('.turns').evaluate((list) => list.scrollTop), 0, 'who reads above is left there');
    await page.getByRole('button', { name: 'Latest' }).click();
    assert.ok((await left()) <= 1);
    await close();
  });
}

for (const [device, size] of Object.entries(SIZES)) {
  test(`notices cover neither the message field nor its buttons, with the panel or without, on ${device}`, async () => {
    const { page, close } = await openPage(browser, server.url, size);
    await say(page, 'One', { turn: 1 });
    const copy = page.locator('article.row[aria-label="Turn 1"]').getByRole('button', { name: 'Copy the reply' });
    // Where there is room for it the panel is open at first; elsewhere it would lie over everything.
    for (const panel of size.viewport.width > 1100 ? ['open', 'closed'] : ['closed']) {
      await copy.click();
      await copy.click();
      await page.locator('.notice').nth(1).waitFor();
      const covered = await page.evaluate(() => ['#message', '.send', '.composer .file'].filter((which) => {
        const box = document.querySelector(which).getBoundingClientRect();
        return [0.05, 0.5, 0.95].some((share) => document.elementFromPoint(box.left + box.width * share, box.top + box.height / 2)?.closest('.notice'));
      }));
      assert.deepEqual(covered, [], `the panel is ${panel}`);
      await shot(page, `notices-${size.viewport.width}-${panel}`);
      await page.locator('.notice').first().waitFor({ state: 'detached' });
      if (panel === 'open') await page.getByRole('button', { name: 'Context panel' }).click();
    }
    await close();
  });

  test(`the sentence under a reply is whole, on ${device}`, async () => {
    const { page, close } = await openPage(browser, server.url, size);
    await page.route(/\/turns\/1$/, async (route) => {
      const response = await route.fetch();
      const turn = await response.json();
      await route.fulfill({ response, json: { ...turn, context: `${'the rule name-what-you-changed, 19 tools, 4 remembered statements, '.repeat(3)}2,696 tokens` } });
    });
    await say(page, 'One', { turn: 1 });
    const cut = await page.locator('article.row[aria-label="Turn 1"] .context-line > span').evaluate((line) => line.scrollHeight - line.clientHeight);
    assert.ok(cut <= 1, `${cut} px are hidden`);
    await close();
  });
}

test('the tour is followed to its end and the call that waits is in view, on every size', async () => {
  const own = await startServer();
  try {
    await toolsReady(own);
    for (const [device, size] of Object.entries(SIZES)) {
      const { page, close } = await openPage(browser, own.url, size);
      await page.getByRole('button', { name: /List the devices in Amsterdam/ }).click();
      const row = (turn) => page.locator(`article.row[aria-label="Turn ${turn}"]`);
      for (const [turn, step] of ['Show the interfaces of the second one', 'Add C++ and Python answers to project 123 survey', 'What answers were deselected?'].entries()) {
        await page.getByRole('button', { name: step }).click();
        await row(turn + 2).locator('footer').waitFor();
        const bottom = await row(turn + 2).locator('footer').evaluate((footer) => footer.getBoundingClientRect().bottom);
        assert.ok(bottom <= size.viewport.height, `${device}: the end of turn ${turn + 2} is at ${bottom}`);
      }
      // The second run on the same server finds the data as the first did.
      assert.match(await row(3).innerText(), /Added 8 answers/, device);
      assert.match(await row(4).innerText(), /Java/, device);
      await page.getByRole('button', { name: 'Delete the device ams1-srv-03' }).click();
      for (const name of ['Approve', 'Refuse']) {
        const box = await page.getByRole('button', { name }).boundingBox();
        assert.ok(box.y >= 0 && box.y + box.height <= size.viewport.height && box.x + box.width <= size.viewport.width, `${device}: ${name} is in view`);
      }
      await assertFits(page, `an approval on ${device}`);
      await shot(page, `approval-${size.viewport.width}`);
      await page.getByRole('button', { name: 'Approve' }).click();
      await row(5).getByText('inventory:delete_device').waitFor();
      await close();
    }
  } finally {
    await own.stop();
  }
});

test('searching the list works once a session has a topic', async () => {
  const { id } = await server.api('POST', '/conversations', { title: 'Findable' });
  await server.api('POST', `/conversations/${id}/turns`, { message: 'Show the device ams1-core-01', reply: 'Here it is.' });
  await server.api('POST', '/conversations', { title: 'Another one' });
  assert.ok((await server.api('GET', `/conversations/${id}`)).topic, 'it has a topic');
  const { page, close } = await openPage(browser, server.url);
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.getByText('Another one').waitFor();
  await page.getByLabel('Search sessions').fill('core-01');
  await list.getByText('Another one').waitFor({ state: 'detached' });
  await list.locator('.session', { hasText: 'Findable' }).waitFor();
  await close();
});
