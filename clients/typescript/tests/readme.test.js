/** The examples of the README, run as they stand there, with the package as `npm pack` makes it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { startServer } from './server.js';

const root = fileURLToPath(new URL('..', import.meta.url));

test('the examples of the README run with the files that are published', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-readme-'));
  const server = await startServer();
  try {
    const listed = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] }));
    const target = join(folder, 'node_modules', 'throughline');
    for (const { path } of listed[0].files) {
      mkdirSync(join(target, path, '..'), { recursive: true });
      cpSync(join(root, path), join(target, path));
    }
    symlinkSync(join(root, 'node_modules', 'ai'), join(folder, 'node_modules', 'ai'));
    const examples = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
    assert.equal(examples.length, 3);
    const said = examples.map((code, index) => {
      const file = join(folder, `example-${index}.mjs`);
      writeFileSync(file, code);
      return execFileSync('node', [file], { env: { ...process.env, THROUGHLINE_URL: server.url }, encoding: 'utf8' });
    });
    assert.ok(said[0].length > 10);
    const { conversations } = await (await fetch(`${server.url}/api/v1/conversations`)).json();
    assert.deepEqual(conversations.map(({ title, turns }) => [title, turns]), [['Racks', 2]]);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
