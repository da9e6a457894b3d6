// What it costs to look: bytes, first paint, and the time from "send" to the first word.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './support/browser.js';
import { startModel } from './support/model.js';
import { startServer } from './support/server.js';

const RUNS = 7;
const median = (values) => values.sort((one, two) => one - two)[values.length >> 1];
/** The first visit's bytes over the wire; the build is 57 kB of libraries and our own code. */
const BYTES_MAX = 120_000;

let model;
let server;
let browser;
before(async () => {
  model = await startModel(() => ({ words: ['First ', 'words ', 'of ', 'an ', 'answer.'] }));
  server = await startServer({ args: [], env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' } });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await model?.stop();
});

test('the first visit is small and everything comes from this server', async (t) => {
  const paints = [];
  let bytes;
  let requests;
  for (let run = 0; run < RUNS; run += 1) {
    const { page, close } = await openPage(browser, server.url);
    await page.getByRole('heading', { name: 'Start a conversation' }).waitFor();
    const seen = await page.evaluate(async () => {
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      return {
        paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
        bytes: entries.reduce((sum, entry) => sum + entry.transferSize, 0),
        requests: entries.length,
      };
    });
    paints.push(seen.paint);
    ({ bytes, requests } = seen);
    await close();
  }
  t.diagnostic(`first contentful paint ${median(paints).toFixed(0)} ms, ${(bytes / 1000).toFixed(1)} kB in ${requests} requests`);
  assert.ok(bytes < BYTES_MAX, `${bytes} bytes`);
});

test('the first word appears soon after sending', async (t) => {
  const { page, close } = await openPage(browser, server.url);
  const times = [];
  for (let run = 1; run <= RUNS; run += 1) {
    await page.getByLabel('Message', { exact: true }).fill(`Message ${run}`);
    times.push(await page.evaluate(() => new Promise((done) => {
      const from = performance.now();
      const look = () => {
        const shown = document.querySelector('.turn[data-status=live] .markdown, article.row:last-child .markdown');
        if (shown?.textContent.includes('First') && !before.has(shown)) done(performance.now() - from);
        else requestAnimationFrame(look);
      };
      const before = new Set(document.querySelectorAll('.markdown'));
      document.querySelector('.send').click();
      look();
    })));
    await page.locator(`article.row[aria-label="Turn ${run}"] footer`).waitFor();
  }
  t.diagnostic(`from send to the first visible word: median ${median(times).toFixed(0)} ms of ${RUNS}`);
  await close();
});
