// Starts the real server on a free port with a store of its own, and ends it afterwards.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BINARY = process.env.THROUGHLINE_BINARY ?? new URL('../../../target/debug/throughline', import.meta.url).pathname;
const READY_MS = 30_000;

function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

/** `args` and `env` are added to those that every test server gets; with `folder` and `port` one is started again. */
export async function startServer({ args = ['--demo'], env = {}, folder, port: wanted } = {}) {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'throughline-page-')));
  const port = wanted ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  // None of the caller's keys or settings: what is tested is what is written here.
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(THROUGHLINE_|ANTHROPIC_|OPENAI_)/.test(name)));
  const child = spawn(BINARY, ['serve', '--bind', `127.0.0.1:${port}`, '--store', `sqlite:${join(home, 'store.db')}`, ...args], {
    cwd: home, env: { ...clean, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const keep = (bytes) => (log = (log + bytes).slice(-20_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let gone = null;
  child.once('exit', (code, signal) => (gone = `the server ended (${code ?? signal}):\n${log}`));
  const server = {
    url, home, port, log: () => log,
    async stop({ keepFolder = false } = {}) {
      if (gone === null) {
        const ended = new Promise((done) => child.once('exit', done));
        child.kill('SIGTERM');
        await ended;
      }
      if (!keepFolder) await rm(home, { recursive: true, force: true });
    },
    /** A request to the API as another program makes it. */
    async api(method, path, body, headers = {}) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method, headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text ? JSON.parse(text) : null;
    },
  };
  const until = Date.now() + READY_MS;
  for (;;) {
    if (gone) throw new Error(gone);
    const answer = await fetch(`${url}/api/v1/health`).catch(() => null);
    if (answer?.ok) return server;
    if (Date.now() > until) {
      await server.stop();
      throw new Error(`the server was not ready in time:\n${log}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Waits until the demo's tools are there: the MCP server starts beside the web server. */
export async function toolsReady(server) {
  const until = Date.now() + READY_MS;
  while ((await server.api('GET', '/tools')).tools.length === 0) {
    if (Date.now() > until) throw new Error(`no tools in time:\n${server.log()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Runs a command of the binary to its end and answers what it printed. */
export function run(args, { cwd, env = {} }) {
  return new Promise((done, fail) => {
    const child = spawn(BINARY, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes) => (out += bytes));
    child.stderr.on('data', (bytes) => (err += bytes));
    child.once('exit', (code) => (code === 0 ? done(out) : fail(new Error(`${args.join(' ')}: ${code}\n${err}${out}`))));
  });
}
