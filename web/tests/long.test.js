// Ten thousand turns: opened at the end, jumped into and scrolled, with only what is in view in the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, shot } from './support/browser.js';
import { startServer } from './support/server.js';

const TURNS = 10_000;
/** The conversation that is scrolled: replies as they are, with lists, code and tables. */
const SCROLLED = 1_000;
let server;
let browser;
before(async () => {
  // One import instead of ten thousand requests; only for that are the limits of a request raised.
  server = await startServer({ args: [], env: { THROUGHLINE_SERVER__BODY_BYTES_MAX: '40000000', THROUGHLINE_SERVER__JSON_ELEMENTS_MAX: '2000000' } });
  browser = await launch();
  await server.api('POST', '/conversations', { id: 'one', title: 'Ten thousand turns' });
  await server.api('POST', '/conversations/one/turns', { message: 'Question 1', reply: 'Answer 1' });
  const exported = await server.api('GET', '/conversations/one/export');
  await server.api('DELETE', '/conversations/one/permanent');
  const turns = Array.from({ length: TURNS }, (_, index) => {
    const turn = index + 1;
    const more = turn % 7 === 0 ? `\n\n${'- a line of a longer answer\n'.repeat(turn % 20)}` : '';
    return { ...exported.turns[0], turn, message: `Question ${turn}`, reply: `Answer ${turn}${more}` };
  });
  await server.api('POST', '/import?id=long', { ...exported, head: { ...exported.head, turns: TURNS }, turns });
  const rich = Array.from({ length: SCROLLED }, (_, index) => {
    const turn = index + 1;
    const code = turn % 3 === 0 ? `\n\n\`\`\`rust\nfn turn_${turn}() -> u64 { // ${'words '.repeat(turn % 9)}\n    ${turn}\n}\n\`\`\`\n` : '';
    const table = turn % 5 === 0 ? '\n\n| device | site | rack |\n|---|---|---|\n' + `| ams1-core-0${turn % 9} | Amsterdam | r0${turn % 7} |\n`.repeat(1 + (turn % 8)) : '';
    const list = turn % 4 === 0 ? '\n\n' + `- **et-0/0/${turn % 8}**: enabled, \`10.1.${turn % 255}.1/24\`\n`.repeat(2 + (turn % 10)) : '';
    return { ...exported.turns[0], turn, message: `Question ${turn}`, reply: `Answer ${turn} ${'with several words in a sentence. '.repeat(1 + (turn % 6))}${list}${table}${code}` };
  });
  await server.api('POST', '/import?id=rich', { ...exported, head: { ...exported.head, title: 'A thousand turns', turns: SCROLLED }, turns: rich });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The time from `act` until a text is painted in view, by the page's own clock. */
async function until(page, text, act) {
  return page.evaluate(({ text, act }) => new Promise((done) => {
    const from = performance.now();
    const look = () => {
      const found = [...document.querySelectorAll('.turns .row p')].find((element) => element.textContent === text);
      const box = found?.getBoundingClientRect();
      if (box && box.bottom > 0 && box.top < innerHeight) requestAnimationFrame(() => done(performance.now() - from));
      else requestAnimationFrame(look);
    };
    new Function(act)();
    look();
  }), { text, act });
}

test('it opens at its end and jumps anywhere in under a second', async (t) => {
  const { page, close } = await openPage(browser, server.url);
  await page.getByText('Ten thousand turns').waitFor();
  const opened = await until(page, `Answer ${TURNS}`, "location.hash = '#/c/long'");
  const middle = await until(page, 'Question 5000', "location.hash = '#/c/long/5000'");
  const start = await until(page, 'Question 1', "document.querySelector('.turns').scrollTop = 0");
  t.diagnostic(`open ${opened.toFixed(0)} ms, to the middle ${middle.toFixed(0)} ms, to the start ${start.toFixed(0)} ms`);
  assert.ok((await page.locator('article.row').count()) < 40, 'only what is near the view exists');
  await shot(page, 'long');
  await close();
});

test('what is in view stays where it is while rows above are measured', async () => {
  const { page, close } = await openPage(browser, server.url, { path: '/#/c/long/5000' });
  await page.getByText('Question 5000', { exact: true }).waitFor();
  const seen = await page.evaluate(async () => {
    const list = document.querySelector('.turns');
    const jumps = [];
    for (let step = 0; step < 60; step += 1) {
      const row = [...document.querySelectorAll('article.row')].find((element) => element.getBoundingClientRect().top > 200);
      const label = row.getAttribute('aria-label');
      const before = row.getBoundingClientRect().top;
      list.scrollTop -= 120;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const after = document.querySelector(`article.row[aria-label="${label}"]`).getBoundingClientRect().top;
      jumps.push(Math.abs(after - before - 120));
    }
    return Math.max(...jumps);
  });
  assert.ok(seen < 3, `the view jumped by ${seen} px`);
  await close();
});

// A figure for docs/benchmarks.md, not a limit: frames depend on the machine.
test('the frames while a thousand turns are scrolled', async (t) => {
  const { page, close } = await openPage(browser, server.url, { path: '/#/c/rich' });
  await page.locator(`article.row[aria-label="Turn ${SCROLLED}"] footer`).waitFor();
  for (const [pace, step] of [['reading', 120], ['skimming', 500], ['flinging', 1500]]) {
    const frames = await page.evaluate(async (step) => {
      const list = document.querySelector('.turns');
      list.scrollTop = list.scrollHeight;
      await new Promise((done) => setTimeout(done, 500));
      const times = [];
      let before = performance.now();
      const end = Math.max(0, list.scrollTop - step * 400);
      while (list.scrollTop > end) {
        list.scrollTop -= step;
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        times.push(now - before);
        before = now;
      }
      return times.sort((one, two) => one - two);
    }, step);
    const at = (share) => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))].toFixed(0);
    t.diagnostic(`${pace}, ${step} px a frame: ${frames.length} frames, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`);
    assert.ok(frames.length > 20, 'it was scrolled');
  }
  await close();
});
