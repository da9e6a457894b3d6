/**
 * The server's answers, as it sends them; fields that it adds later are in the objects too. Every field is described in the server's
 * reference at `/api/docs`. `tests/types.ts` holds these against the types that are generated from the OpenAPI document.
 */

export type MemoryKind = 'instruction' | 'profile' | 'preference' | 'fact';

/** Settings of a session. */
export interface Settings {
  context_tokens?: number | null;
  mode?: string | null;
  model?: string | null;
  timezone?: string | null;
  memory?: string | null;
  private?: boolean;
  preferences?: Record<string, unknown>;
}

/** A session's head. */
export interface Conversation {
  id: string;
  version: number;
  turns: number;
  agent?: string | null;
  title?: string | null;
  tags: string[];
  active: boolean;
  created_at: string;
  last_activity: string;
  settings: Settings;
}

export interface Conversations {
  conversations: Conversation[];
  next_cursor?: string | null;
  damaged?: string[];
}

/** How a model failed. */
export type FailureCause =
  | 'unreachable'
  | 'timed_out'
  | 'rate_limited'
  | 'unauthorized'
  | 'rejected'
  | 'not_found'
  | 'malformed'
  | 'failed'
  | 'too_large'
  | 'cancelled';

/** Why a turn failed. `cause` says how the model failed, where one did. */
export interface TurnFailure {
  code: string;
  message: string;
  cause?: FailureCause | null;
}

/** Tokens as a provider counted them. */
export interface TokenUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
}

/** A turn as the history shows it. `status` is `complete`, `partial`, `failed`, `refused` or `erased`. */
export interface TurnBrief {
  turn: number;
  at: string;
  kind: string;
  message: string;
  reply: string;
  status: string;
  error?: TurnFailure | null;
  tools_used: string[];
  usage?: TokenUsage | null;
  metadata?: Record<string, unknown> | null;
}

/** A tool call with its result. */
export interface ToolExecution {
  id: string;
  server: string;
  name: string;
  arguments: unknown;
  ok: boolean;
  result: string;
}

/** A turn with its tool executions. */
export interface Turn extends TurnBrief {
  tool_executions: ToolExecution[];
}

export interface History {
  turns: TurnBrief[];
  next_cursor?: string | null;
}

/** What a tool did, for a turn that is recorded. */
export interface ExecutionBody {
  id?: string | null;
  server?: string;
  name: string;
  arguments?: unknown;
  result?: unknown;
  error?: string | null;
  took_ms?: number;
}

/** Where a recorded exchange stands. */
export interface RecordedView {
  turn: number;
  version: number;
  durability: string;
  receipt?: string | null;
}

/** What a request was made of. */
export interface ReceiptView {
  id: string;
  summary: string;
  at: string;
  mode: string;
  stable_prefix_tokens: number;
  effective_tokens: number;
  pieces: object[];
}

export interface Message {
  role: 'user' | 'assistant';
  /** `text`, or the calls of an earlier turn: `tool_use` and `tool_result`, whose `content` is what the tool gave. */
  content: { type: string; text?: string; content?: string }[];
}

/** What to send to the model, and what it was made of. Give `receipt.id` when the exchange is recorded. */
/** A request in a provider's own format, and what it was made of. */
export interface PreparedFor {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its types are the provider's
  request: any;
  receipt: ReceiptView;
}

export interface PreparedContext {
  request: { system: { text: string }[]; messages: Message[]; tools: object[] };
  receipt: ReceiptView;
}

/** A turn's outcome. `status` is `complete`, `partial`, `failed`, `refused` or `awaiting_approval`. */
export interface ChatReply {
  conversation_id: string;
  version: number;
  turn?: number | null;
  reply: string;
  status: string;
  error?: TurnFailure | null;
  tools_used: string[];
  tool_executions: ToolExecution[];
  awaiting_approval: object[];
  usage?: TokenUsage | null;
  durability: string;
}

/** What a query came to. */
export interface QueryReply {
  response: string;
  success: boolean;
  session_id: string;
  tool_name?: string | null;
  error?: string | null;
  turn?: number | null;
}

/** What an erasure removed. */
export interface Erasure {
  session_id: string;
  at: string;
  turns: number;
  records: number;
  bytes: number;
  memories: number;
  tombstone: string;
}

/** A read-only link, as its owner sees it. */
export interface Share {
  id: string;
  up_to_turn: number;
  title?: string | null;
  created_at: string;
  expires_at: string;
}

/** A link that was just made. */
export interface NewShare extends Share {
  token: string;
  path: string;
}

/** The links of a session. */
export interface Shares {
  shares: Share[];
}

/** What the erasure of a turn removed. */
export interface TurnErasure {
  session_id: string;
  turn: number;
  at: string;
  turns: number;
  memories: number;
  index_documents: number;
  left: number;
  notes: string[];
}

/** What the erasure of a user removed. */
export interface ErasedUser {
  user_id: string;
  at: string;
  sessions: number;
  memories: number;
  files: number;
  presets: number;
  keys: number;
  others: number;
  index_documents: number;
  records: number;
  bytes: number;
  left: number;
  notes: string[];
}

/** A statement about the user that outlives its session. */
export interface Memory {
  id: string;
  text: string;
  subject?: string | null;
  kind: MemoryKind;
  trust: 'told' | 'said' | 'model' | 'imported';
  source?: { session: string; turn: number; sentence: string } | null;
  created_at: string;
  changed_at: string;
  superseded_by?: string | null;
}

/** A memory that was added or changed, and what that means for others. */
export interface KeptMemory extends Memory {
  superseded: Memory[];
  contradicts: Memory[];
}

/** A memory that a search found. */
export interface FoundMemory extends Memory {
  score: number;
}

export interface MemoryPage {
  memories: Memory[];
  next_cursor?: string | null;
  total: number;
}

/** What becomes of a turn in which a forgotten memory was said. */
export type SaidTurn = 'withheld' | 'erased';

/** What was forgotten. */
export interface ForgottenMemories {
  memories: number;
  versions: number;
  records: number;
  bytes: number;
  left: number;
  notes: string[];
  said_in: { session: string; turn: number; became: SaidTurn }[];
}

/** The result of a command of Anthropic's memory tool. */
export interface ToolResult {
  content: string;
  is_error: boolean;
}

/** What a search found. `part` is `title`, `message` or `reply`. */
export interface SearchHitView {
  session: string;
  turn: number;
  part: string;
  score: number;
  snippet: { text: string; marks: { start: number; end: number }[] };
  title?: string | null;
}

/** The hits, best first. */
export interface Found {
  hits: SearchHitView[];
  sessions_behind: number;
}
