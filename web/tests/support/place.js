// What the tests of one file share: a real server without the demo, a browser, and sessions with turns that are recorded, not asked.
import { after, before } from 'node:test';
import { launch, openPage } from './browser.js';
import { startServer } from './server.js';

/** Starts both before the tests of the file and ends them afterwards. */
export function place() {
  const here = {
    server: null,
    browser: null,
    /** A fresh page of the server. */
    open: (options) => openPage(here.browser, here.server.url, options),
    /** A session with these turns; `more` is what else it begins with. */
    async session(id, turns, more = {}) {
      await here.server.api('POST', '/conversations', { id, ...more });
      for (const turn of turns) await here.server.api('POST', `/conversations/${id}/turns`, { reply: 'ok', ...turn });
    },
    /** Stops the server; its store stays. */
    stop: () => here.server.stop({ keepFolder: true }),
    /** Starts it again, at the same address and with the same store. */
    async start() {
      here.server = await startServer({ args: [], folder: here.server.home, port: here.server.port });
    },
  };
  before(async () => {
    here.server = await startServer({ args: [] });
    here.browser = await launch();
  });
  after(async () => {
    await here.browser?.close();
    await here.server?.stop();
  });
  return here;
}
