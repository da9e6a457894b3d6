// A session with a time to live: extended by as long as the server keeps one, and back in the list.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './support/browser.js';
import { startServer } from './support/server.js';

const kept = (seconds) => ({ env: { THROUGHLINE_STORE__SESSION_TTL: String(seconds) } });

let server;
let browser;
before(async () => {
  // It expires under a short life; what is clicked is then in no hurry.
  const brief = await startServer(kept(1));
  await brief.api('POST', '/conversations', { id: 'brief', title: 'Soon gone' });
  while ((await brief.api('GET', '/conversations/brief')).active);
  await brief.stop({ keepFolder: true });
  server = await startServer({ ...kept(7200), folder: brief.home });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('an expired session is extended by its time to live, and its list shows it again', async () => {
  const { page, close } = await openPage(browser, server.url, { path: '/#/c/brief' });
  await page.getByText('This session has expired. Extend it to continue.').waitFor();
  const list = page.getByRole('navigation', { name: 'Sessions' });
  assert.equal(await list.getByText('Soon gone').count(), 0);
  await page.getByRole('button', { name: 'Extend', exact: true }).click();
  await page.getByText(/Extended: it expires in (2 hours|1 hour|an hour)\./).waitFor();
  await list.getByText('Soon gone').waitFor();
  await close();
});
