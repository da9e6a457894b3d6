/** The client. What is left out is not sent, so the server's defaults hold. */

import { Connection, lines, type Options } from './connection.js';
import { type ChatEvent, events } from './events.js';
import type * as types from './types.js';

const at = (session: string, ...rest: (string | number)[]) =>
  ['conversations', ...[session, ...rest].map((part) => encodeURIComponent(part))].join('/');
const match = (version: number | undefined): Record<string, string> => (version === undefined ? {} : { 'if-match': `"${version}"` });
const keyed = (key: string | undefined) => ({ 'idempotency-key': key ?? globalThis.crypto.randomUUID() });

export interface NewSession {
  id?: string;
  agent?: string;
  title?: string;
  tags?: string[];
  preset?: string;
  settings?: types.Settings;
}

export interface SessionChange {
  title?: string | null;
  tags?: string[];
  /** Replaces all settings. */
  settings?: types.Settings;
  agent?: string;
  active?: boolean;
}

export interface Exchange {
  message: string;
  reply?: string;
  /** What `prepare` answered, its receipt, or the receipt's id. */
  receipt?: string | types.ReceiptView | types.PreparedContext;
  tool_executions?: types.ExecutionBody[];
  error?: types.TurnFailure;
  metadata?: Record<string, unknown>;
  at?: Date | string;
}

export interface Writing {
  /** The same key again answers the same turn; without one, a new one is made. */
  idempotencyKey?: string;
  /** Only if the session is still at this version. */
  version?: number;
}

export interface ChatOptions extends Pick<Writing, 'idempotencyKey'> {
  /** The session; without one the server makes one. */
  session?: string;
  agent?: string;
  preset?: string;
  budgetTokens?: number;
  signal?: AbortSignal;
}

/** Sessions and their turns. */
export class Sessions {
  constructor(private readonly connection: Connection) {}

  create(session: NewSession = {}) {
    return this.connection.json<types.Conversation>({ method: 'POST', path: 'conversations', body: session });
  }

  get(session: string) {
    return this.connection.json<types.Conversation>({ method: 'GET', path: at(session) });
  }

  /** One page, the most recently changed first. */
  list(query: { limit?: number; cursor?: string; tag?: string; inactive?: boolean } = {}) {
    return this.connection.json<types.Conversations>({ method: 'GET', path: 'conversations', query });
  }

  change(session: string, change: SessionChange, options: Pick<Writing, 'version'> = {}) {
    return this.connection.json<types.Conversation>({ method: 'PATCH', path: at(session), body: change, headers: match(options.version) });
  }

  /** A new session with the turns up to `turn`, or all of them. */
  fork(session: string, body: { turn?: number; id?: string } = {}) {
    return this.connection.json<types.Conversation>({ method: 'POST', path: at(session, 'fork'), body });
  }

  /** A read-only link to what was said so far. Its token is in this answer and nowhere else. */
  share(session: string, body: { expires_in_days?: number } = {}) {
    return this.connection.json<types.NewShare>({ method: 'POST', path: at(session, 'shares'), body });
  }

  /** The links of a session that open. */
  shares(session: string) {
    return this.connection.json<types.Shares>({ method: 'GET', path: at(session, 'shares') });
  }

  /** Revokes a link, and answers those that still open. */
  unshare(session: string, share: string) {
    return this.connection.json<types.Shares>({ method: 'DELETE', path: at(session, 'shares', share) });
  }

  /** Archives a session; `change(session, { active: true })` brings it back. */
  archive(session: string) {
    return this.connection.json<types.Conversation>({ method: 'DELETE', path: at(session) });
  }

  /** Erases a session and all that was derived from it. */
  erase(session: string) {
    return this.connection.json<types.Erasure>({ method: 'DELETE', path: at(session, 'permanent') });
  }

  /** Erases the content of a turn and what was gathered from it. The turn keeps its number. */
  eraseTurn(session: string, turn: number) {
    return this.connection.json<types.TurnErasure>({ method: 'DELETE', path: at(session, 'turns', turn), query: { confirm: turn } });
  }

  export(session: string, format: 'json' | 'markdown' = 'json') {
    return this.connection.json<unknown>({ method: 'GET', path: at(session, 'export'), query: { format } });
  }

  /** Brings in an exported session. */
  import(exported: unknown, query: { id?: string } = {}) {
    return this.connection.json<types.Conversation>({ method: 'POST', path: 'import', query, body: exported });
  }

  /** One page of turns. */
  history(session: string, query: { limit?: number; order?: 'asc' | 'desc'; cursor?: string } = {}) {
    return this.connection.json<types.History>({ method: 'GET', path: at(session, 'history'), query });
  }

  /** Every turn, oldest first. */
  async *turns(session: string): AsyncGenerator<types.TurnBrief> {
    let cursor: string | undefined;
    do {
      const page = await this.history(session, { limit: 200, order: 'asc', ...(cursor ? { cursor } : {}) });
      yield* page.turns;
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
  }

  turn(session: string, turn: number) {
    return this.connection.json<types.Turn>({ method: 'GET', path: at(session, 'turns', turn) });
  }

  /** What the model saw on a turn, and why. */
  receipt(session: string, turn: number) {
    return this.connection.json<types.ReceiptView>({ method: 'GET', path: at(session, 'turns', turn, 'context') });
  }

  /**
   * The context for a model of your own. Nothing is kept; give the receipt to `record`. With a `format`, `request` has the
   * fields of that provider's SDK: `create({ model, ...prepared.request })`.
   */
  prepare(session: string, message: string, options: { budgetTokens?: number; format: 'openai' | 'anthropic' }): Promise<types.PreparedFor>;
  prepare(session: string, message: string, options?: { budgetTokens?: number }): Promise<types.PreparedContext>;
  prepare(session: string, message: string, options: { budgetTokens?: number; format?: 'openai' | 'anthropic' } = {}) {
    const body = { message, budget_tokens: options.budgetTokens, format: options.format };
    return this.connection.json<types.PreparedContext>({ method: 'POST', path: at(session, 'prepare'), body });
  }

  /** Makes a tool call of a model of your own, as it wrote it. One that needs approval is an error unless `approve` is set. */
  call(session: string, name: string, args: Record<string, unknown> = {}, options: { approve?: boolean; idempotencyKey?: string } = {}) {
    return this.connection.json<types.ToolExecution>({
      method: 'POST',
      path: at(session, 'calls'),
      body: { name, arguments: args, approve: options.approve ?? false },
      headers: keyed(options.idempotencyKey),
    });
  }

  /** Records an exchange. */
  record(session: string, exchange: Exchange, options: Writing = {}) {
    const given = exchange.receipt;
    const receipt = typeof given === 'object' ? ('receipt' in given ? given.receipt.id : given.id) : given;
    return this.connection.json<types.RecordedView>({
      method: 'POST',
      path: at(session, 'turns'),
      body: { ...exchange, receipt },
      headers: { ...keyed(options.idempotencyKey), ...match(options.version) },
    });
  }
}

/** What is known about the user, whatever the session. */
export class Memories {
  constructor(private readonly connection: Connection) {}

  /** A newer memory about the same subject supersedes the older one. */
  add(text: string, options: { subject?: string; kind?: types.MemoryKind } = {}) {
    return this.connection.json<types.KeptMemory>({ method: 'POST', path: 'memories', body: { text, ...options } });
  }

  get(id: string) {
    return this.connection.json<types.Memory>({ method: 'GET', path: `memories/${encodeURIComponent(id)}` });
  }

  list(query: { limit?: number; cursor?: string; kind?: types.MemoryKind; subject?: string; session?: string; superseded?: boolean } = {}) {
    return this.connection.json<types.MemoryPage>({ method: 'GET', path: 'memories', query });
  }

  /** Those that fit, best first. */
  async search(text: string, options: { limit?: number } = {}) {
    const query = { q: text, ...options };
    return (await this.connection.json<{ hits: types.FoundMemory[] }>({ method: 'GET', path: 'memories/search', query })).hits;
  }

  /** The version before stays in the history. An empty subject removes it. */
  change(id: string, change: { text?: string; subject?: string; kind?: types.MemoryKind }) {
    return this.connection.json<types.KeptMemory>({ method: 'PATCH', path: `memories/${encodeURIComponent(id)}`, body: change });
  }

  /** What was known before, oldest first. */
  async history(id: string) {
    const path = `memories/${encodeURIComponent(id)}/history`;
    return (await this.connection.json<{ versions: types.Memory[] }>({ method: 'GET', path })).versions;
  }

  /** The turns in which it was said are `withheld` (they stay in the conversation, and no request uses them) or `erased`. */
  forget(id: string, query: { turns?: types.SaidTurn } = {}) {
    return this.connection.json<types.ForgottenMemories>({ method: 'DELETE', path: `memories/${encodeURIComponent(id)}`, query });
  }

  forgetAll(query: { turns?: types.SaidTurn } = {}) {
    return this.connection.json<types.ForgottenMemories>({ method: 'DELETE', path: 'memories', query: { confirm: 'all', ...query } });
  }

  export() {
    return this.connection.json<{ format: string; memories: types.Memory[] }>({ method: 'GET', path: 'memories/export' });
  }

  /** All or none. */
  import(exported: unknown) {
    return this.connection.json<Record<string, number>>({ method: 'POST', path: 'memories/import', body: exported });
  }

  /** Carries out a command of Anthropic's memory tool, as the model wrote it. */
  tool(command: Record<string, unknown>) {
    return this.connection.json<types.ToolResult>({ method: 'POST', path: 'memories/tool', body: command });
  }
}

/** All data of one user: your own, or, for an administrator, that of any user of the tenant. */
export class Users {
  constructor(private readonly connection: Connection) {}

  /** Erases everything that is kept of a user: sessions, memories, files, presets, keys. */
  erase(user: string) {
    return this.connection.json<types.ErasedUser>({ method: 'DELETE', path: `users/${encodeURIComponent(user)}`, query: { confirm: user } });
  }

  /** Everything that is kept of a user, value by value: memories, files, presets and sessions. */
  async *export(user: string): AsyncGenerator<Record<string, unknown>> {
    const body = await this.connection.stream({ method: 'GET', path: `users/${encodeURIComponent(user)}/export` });
    for await (const line of lines(body)) if (line) yield JSON.parse(line);
  }
}

/** A client of one server. */
export class Throughline {
  readonly sessions: Sessions;
  readonly memories: Memories;
  readonly users: Users;
  readonly #connection: Connection;

  constructor(options: Options = {}) {
    this.#connection = new Connection(options);
    this.sessions = new Sessions(this.#connection);
    this.memories = new Memories(this.#connection);
    this.users = new Users(this.#connection);
  }

  /** Has the server answer a message. */
  chat(message: string, options: ChatOptions = {}) {
    return this.#connection.json<types.ChatReply>(chatRequest('chat', message, options));
  }

  /** The same, event by event. Leaving the loop cancels the reply; what was said so far is kept. */
  async *chatStream(message: string, options: ChatOptions = {}): AsyncGenerator<ChatEvent> {
    yield* events(await this.#connection.stream(chatRequest('chat/stream', message, options)));
  }

  /** Has the server select one tool, call it and word the result. */
  query(text: string, options: { session?: string; agent?: string; idempotencyKey?: string } = {}) {
    const body = { query: text, session_id: options.session, agent: options.agent };
    return this.#connection.json<types.QueryReply>({ method: 'POST', path: 'query', body, headers: keyed(options.idempotencyKey) });
  }

  /** What was said in the user's sessions. */
  search(text: string, options: { limit?: number; offset?: number } = {}) {
    return this.#connection.json<types.Found>({ method: 'GET', path: 'search', query: { q: text, ...options } });
  }

  health() {
    return this.#connection.json<Record<string, unknown>>({ method: 'GET', path: 'health' });
  }
}

function chatRequest(path: 'chat' | 'chat/stream', message: string, options: ChatOptions) {
  const { session, agent, preset, budgetTokens, idempotencyKey, signal } = options;
  const body = { message, conversation_id: session, agent, preset, budget_tokens: budgetTokens };
  return { method: 'POST' as const, path, body, headers: keyed(idempotencyKey), signal };
}
