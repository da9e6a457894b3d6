#!/usr/bin/env node
// Starts the binary of this platform, which is a package of its own, and ends as it ends.
'use strict';

const { spawn } = require('node:child_process');
const os = require('node:os');

const name = `throughline-server-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/throughline`);
} catch {
  console.error(`error: the package ${name} is not installed`);
  console.error('hint: there are binaries for linux-x64 only; install without --omit=optional, or build from the source');
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`error: ${binary} does not start: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + (os.constants.signals[signal] ?? 0)));
