// Nothing jumps: while the page loads, while a reply comes and becomes history, while the panel is stepped through.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, say, SIZES } from './support/browser.js';
import { startModel } from './support/model.js';
import { startServer, toolsReady } from './support/server.js';

/** What the web calls good. */
const SHIFT_MAX = 0.1;

let model;
let server;
let browser;
let id;
before(async () => {
  model = await startModel(() => ({ words: Array.from({ length: 40 }, (_, index) => `word${index} `), pause: 5 }));
  server = await startServer({ env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' } });
  await toolsReady(server);
  browser = await launch();
  ({ id } = await server.api('POST', '/conversations', { agent: 'demo', title: 'Steady' }));
  for (let turn = 1; turn <= 6; turn += 1) await server.api('POST', `/conversations/${id}/turns`, { message: `Message ${turn}`, reply: `Reply ${turn}\n\n- a\n- b` });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await model?.stop();
});

/** The shifts since the last call: their sum, and what moved. */
async function shifts(page) {
  return page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
    window.seen ??= 0;
    const entries = await new Promise((done) => {
      new PerformanceObserver((list, observer) => {
        observer.disconnect();
        done(list.getEntries());
      }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => done([]), 200);
    });
    const fresh = entries.slice(window.seen).filter((entry) => !entry.hadRecentInput);
    window.seen = entries.length;
    const moved = fresh.flatMap((entry) => entry.sources.map((source) => `${source.node?.className ?? source.node?.nodeName}: ${source.previousRect.y.toFixed(0)} → ${source.currentRect.y.toFixed(0)}`));
    return { sum: fresh.reduce((sum, entry) => sum + entry.value, 0), moved: moved.slice(0, 6) };
  });
}

async function assertSteady(page, what) {
  const { sum, moved } = await shifts(page);
  assert.ok(sum <= SHIFT_MAX, `${what}: shifted by ${sum.toFixed(3)}\n${moved.join('\n')}`);
}

for (const [device, size] of Object.entries(SIZES)) {
  test(`nothing jumps on ${device}`, async () => {
    const start = await openPage(browser, server.url, size);
    await start.page.getByRole('heading', { name: 'Start a conversation' }).waitFor();
    await start.page.waitForLoadState('networkidle');
    await assertSteady(start.page, 'the start page');
    await start.close();
    const { page, close } = await openPage(browser, server.url, { path: `/#/c/${id}`, ...size });
    await page.locator('article.row[aria-label="Turn 6"] footer').waitFor();
    await page.waitForLoadState('networkidle');
    await assertSteady(page, 'a session that is opened');
    const turn = (await server.api('GET', `/conversations/${id}`)).turns + 1;
    await say(page, 'Speak', { turn });
    await assertSteady(page, 'a reply that comes and becomes history');
    for (const place of ['agents', 'tools', 'operations']) {
      await page.goto(`${server.url}/#/${place}`);
      await page.locator('h1').first().waitFor();
      await page.waitForFunction(() => !document.querySelector('main [aria-busy=true]'));
      await assertSteady(page, place);
    }
    await close();
  });
}
