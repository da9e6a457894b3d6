// Loads a module of the page's own source, for tests of parts that need no browser.
import { createServer } from 'vite';

export async function withSource(run) {
  const vite = await createServer({
    root: new URL('../..', import.meta.url).pathname, configFile: false, appType: 'custom', logLevel: 'error',
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  });
  try {
    return await run((path) => vite.ssrLoadModule(path));
  } finally {
    await vite.close();
  }
}
