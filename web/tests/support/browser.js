// A real Chromium, watched: every request to another host, every error of the page and every breach of its policy
// is written down, and a test that ends with one of them has failed.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SHOTS = process.env.THROUGHLINE_SHOTS;

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps', '--no-first-run', '--disable-gpu'],
  });
}

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

/** The sizes that everything is tried at. */
export const SIZES = {
  'a wide screen': { viewport: { width: 1440, height: 900 } },
  'a small screen': { viewport: { width: 1024, height: 768 } },
  'a phone': PHONE,
};

/** A fresh page of the server at `url`. */
export async function openPage(browser, url, { path = '/', ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', acceptDownloads: true, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url }).catch(() => undefined);
  const page = await context.newPage();
  const foreign = [];
  const errors = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) errors.push(message.text());
  });
  page.setDefaultTimeout(15_000);
  await page.goto(url + path);
  return {
    page, foreign, errors,
    async close() {
      await context.close();
      assert.deepEqual(foreign, [], 'requests to other hosts');
      assert.deepEqual(errors, [], 'errors of the page');
    },
  };
}

/** No violation of the rules that axe knows; each one is told with the element. */
export async function assertAccessible(page, what) {
  // Evaluated through the debugger, which the page's policy does not concern.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const told = violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.slice(0, 4).map((node) => `    ${node.html}\n      ${node.failureSummary?.replaceAll('\n', ' ')}`).join('\n')}`);
  assert.equal(violations.length, 0, `${what}: ${violations.length} violations\n${told.join('\n')}`);
}

/**
 * Nothing is wider than the window, and what one needs to write is within it. A phone zooms out from a page that is too wide, and innerWidth grows
 * with it; clientWidth stays what the screen has.
 */
export async function assertFits(page, what) {
  const seen = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const beyond = [...document.querySelectorAll('main *')].filter((element) => {
      // What scrolls by itself may be wider inside.
      if (element.closest('pre, .table-scroll, svg, .tabs')?.contains(element) && !element.matches('pre, .table-scroll, svg, .tabs')) return false;
      const box = element.getBoundingClientRect();
      return box.width > 0 && box.right > width + 1;
    });
    const inside = (element) => {
      const box = element?.getBoundingClientRect();
      return Boolean(box) && box.left >= 0 && box.right <= width + 1 && box.top >= 0 && box.bottom <= innerHeight + 1;
    };
    return {
      page: document.documentElement.scrollWidth - width,
      beyond: beyond.slice(0, 3).map((element) => element.outerHTML.slice(0, 120)),
      send: inside(document.querySelector('.send')),
      panel: inside(document.querySelector('[aria-label="Context panel"]')),
    };
  });
  assert.deepEqual(seen, { page: 0, beyond: [], send: true, panel: true }, what);
}

/** A picture for people, where a folder for them is given. */
export async function shot(page, name, options = {}) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, ...options });
}

/** Writes a message and waits until its turn is history. */
export async function say(page, message, { turn } = {}) {
  await page.getByLabel('Message', { exact: true }).fill(message);
  await page.keyboard.press('Enter');
  if (turn) await page.locator(`article.row[aria-label="Turn ${turn}"] .turn footer`).waitFor();
}

/** Waits until a field holds `text`: the page follows a link after the click has returned. */
export async function holds(field, text) {
  const until = Date.now() + 15_000;
  let found = await field.inputValue();
  while (found !== text && Date.now() < until) {
    await field.page().waitForTimeout(20);
    found = await field.inputValue();
  }
  assert.equal(found, text);
}
