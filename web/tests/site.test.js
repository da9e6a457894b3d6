// The documents as a site, as people open it: on a wide screen and on a phone, light and dark, with no other host.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, openPage, PHONE, shot } from './support/browser.js';

const ROOT = new URL('../..', import.meta.url).pathname;
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml', '.png': 'image/png' };
/** Pages that are looked at by people too. */
const LOOKED_AT = { start: '/index.html', 'first-hour': '/docs/first-hour.html', configuration: '/docs/configuration.html', concepts: '/docs/concepts.html', decision: '/docs/decisions/0016-requests-grow-at-their-end.html' };

let browser;
let host;
let url;
before(async () => {
  execFileSync('./scripts/site', { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  host = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://site');
    const body = await readFile(join(ROOT, 'target/site', decodeURIComponent(pathname))).catch(() => null);
    response.writeHead(body ? 200 : 404, { 'content-type': TYPES[extname(pathname)] ?? 'application/octet-stream' });
    response.end(body);
  });
  await new Promise((done) => host.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${host.address().port}`;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  host?.closeAllConnections();
  host?.close();
});

/**
 * What is wrong with the page that is open: wider than the window, pictures that do not show. A phone zooms out from a page that is too wide, and
 * innerWidth grows with it; clientWidth stays what the screen has.
 */
const faults = (page) => page.evaluate(() => ({
  wider: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
  // What is wider than the text scrolls by itself.
  beyond: [...document.querySelectorAll('article table, article pre, article img')]
    .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .filter((element) => !['auto', 'scroll'].includes(getComputedStyle(element.matches('pre') ? element : element.parentElement).overflowX))
    .map((element) => element.outerHTML.slice(0, 120)),
  pictures: [...document.images].filter((image) => image.naturalWidth === 0).map((image) => image.src),
}));

test('every page fits a phone', async () => {
  const { page, close } = await openPage(browser, url, { path: '/docs/SUMMARY.html', ...PHONE });
  const pages = await page.locator('article a.reference.internal').evaluateAll((links) => links.map((link) => link.href));
  assert.ok(pages.length > 70, `${pages.length} pages`);
  for (const address of pages) {
    // Only what is written on it: the frame around it is the same.
    await page.evaluate(async (address) => {
      const text = await (await fetch(address)).text();
      document.querySelector('article').replaceWith(new DOMParser().parseFromString(text, 'text/html').querySelector('article'));
    }, address);
    const { wider, beyond } = await faults(page);
    assert.deepEqual({ wider, beyond }, { wider: 0, beyond: [] }, address);
  }
  await close();
});

test('a wide table on a phone scrolls by itself, to its last column', async () => {
  const { page, close } = await openPage(browser, url, { path: '/index.html', ...PHONE });
  const { frame, last } = await page.locator('article table').first().evaluate((table) => {
    const frame = table.parentElement;
    frame.scrollLeft = frame.scrollWidth;
    return { frame: [frame.clientWidth <= 390, frame.scrollWidth > frame.clientWidth], last: table.rows[0].cells[table.rows[0].cells.length - 1].getBoundingClientRect().right };
  });
  assert.deepEqual(frame, [true, true], 'the table is wider than its frame, the frame is not wider than the screen');
  assert.ok(last <= 390, `the last column ends at ${last}`);
  assert.equal((await faults(page)).wider, 0);
  await close();
});

for (const [device, colorScheme, size] of [['wide', 'light', {}], ['phone', 'dark', PHONE]]) {
  test(`pages on a ${device} screen, ${colorScheme}: nothing sticks out, pictures show, no violation`, async () => {
    for (const [name, path] of Object.entries(LOOKED_AT)) {
      const { page, close } = await openPage(browser, url, { path, colorScheme, ...size });
      assert.deepEqual(await faults(page), { wider: 0, beyond: [], pictures: [] }, name);
      await assertAccessible(page, `${name}, ${colorScheme}`);
      await shot(page, `site-${device}-${name}`);
      await close();
    }
  });
}

test('words are found, and lead to their page', async () => {
  const { page, close } = await openPage(browser, url, { path: '/index.html' });
  await page.getByRole('textbox', { name: 'Search' }).fill('compare-and-swap');
  await page.keyboard.press('Enter');
  await page.locator('#search-results a', { hasText: 'Choosing a store' }).click();
  await page.getByRole('heading', { level: 1, name: 'Choosing a store' }).waitFor();
  await close();
});
