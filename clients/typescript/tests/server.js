/** A real server for the tests: `THROUGHLINE_BINARY` on a free port, with its store in memory. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function startServer(...flags) {
  const port = await new Promise((found) => {
    const free = createServer().listen(0, '127.0.0.1', () => {
      const { port } = free.address();
      free.close(() => found(port));
    });
  });
  const folder = mkdtempSync(join(tmpdir(), 'throughline-'));
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.env.THROUGHLINE_BINARY, ['serve', '--bind', `127.0.0.1:${port}`, '--store', 'memory:', ...flags], {
    cwd: folder,
    stdio: 'ignore',
  });
  const ended = new Promise((done) => child.once('exit', done));
  for (let attempt = 0; attempt < 600; attempt++) {
    const ready = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (ready?.ok) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  return {
    url,
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
