/** How requests are sent. A busy server is asked again; a broken connection only where nothing can happen twice. */

import { ConnectionFailed, errorFor } from './errors.js';

export interface Options {
  /** The server's address; otherwise `THROUGHLINE_URL`, otherwise `http://127.0.0.1:7400`. */
  baseUrl?: string;
  /** An API key; otherwise `THROUGHLINE_API_KEY`. */
  apiKey?: string;
  /** How often a busy server is asked again. */
  retries?: number;
  /** Milliseconds for one request. */
  timeoutMs?: number;
  /** A `fetch` of your own. */
  fetch?: typeof globalThis.fetch;
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

const RETRY_MS_MAX = 30_000;

export class Connection {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #retries: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: Options = {}) {
    const env = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env ?? {};
    this.#base = (options.baseUrl || env['THROUGHLINE_URL'] || 'http://127.0.0.1:7400').replace(/\/+$/, '') + '/api/v1/';
    this.#key = options.apiKey || env['THROUGHLINE_API_KEY'];
    this.#retries = options.retries ?? 3;
    this.#timeoutMs = options.timeoutMs ?? 330_000;
    this.#fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
  }

  /** The answer's JSON, or its text. */
  async json<T>(request: Request): Promise<T> {
    return (await read(await this.#send(request))) as T;
  }

  /** The answer while it arrives. */
  async stream(request: Request): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send(request);
    if (response.body === null) throw new ConnectionFailed(`${request.method} ${request.path}: the answer is empty`);
    return response.body;
  }

  async #send(request: Request): Promise<Response> {
    const url = new URL(request.path, this.#base);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { ...request.headers };
    if (this.#key) headers['authorization'] = `Bearer ${this.#key}`;
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    const canRepeat = request.method === 'GET' || 'idempotency-key' in headers;

    for (let attempt = 0; ; attempt++) {
      const last = attempt === this.#retries;
      let response: Response | undefined;
      try {
        const limit = AbortSignal.timeout(this.#timeoutMs);
        response = await this.#fetch(url, {
          method: request.method,
          headers,
          body: request.body === undefined ? undefined : JSON.stringify(request.body),
          signal: request.signal ? AbortSignal.any([request.signal, limit]) : limit,
        });
      } catch (error) {
        request.signal?.throwIfAborted();
        if (last || !(canRepeat || neverConnected(error))) {
          throw new ConnectionFailed(`${request.method} ${request.path}: ${String(error)}`, { cause: error });
        }
      }
      if (response?.ok) return response;
      if (response && (last || (response.status !== 429 && response.status !== 503))) {
        throw errorFor(response.status, await read(response), response.headers.get('x-request-id'));
      }
      await response?.body?.cancel();
      await new Promise((done) => setTimeout(done, pauseMs(attempt, response)));
    }
  }
}

/** The lines of an answer while it arrives. Leaving the loop ends the stream. */
export async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const parts = (rest + (value ?? '')).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
      if (done) {
        if (rest) yield rest;
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function neverConnected(error: unknown): boolean {
  const cause = (error as { cause?: { code?: string } }).cause;
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(cause?.code ?? '');
}

/** What the server asked for, otherwise growing with some chance. */
function pauseMs(attempt: number, response: Response | undefined): number {
  const header = response?.headers.get('retry-after');
  const asked = header ? Number(header) * 1000 : NaN;
  return Math.min(Number.isNaN(asked) ? 250 * 2 ** attempt * (0.5 + Math.random() / 2) : asked, RETRY_MS_MAX);
}
