// What the server says, as far as the page reads it: all wire types of the page, in this one file.
// `agreement.ts` holds them against /api/openapi.json. Fields marked "newer" are used where the server sends them.

import type { components } from './schema';

export type IncludeMode = 'always' | 'manual' | 'agent';

export interface Conversation {
  id: string;
  version: number;
  turns: number;
  agent: string | null;
  title: string | null;
  tags: string[];
  active: boolean;
  created_at: string;
  last_activity: string;
  deleted_at: string | null;
  expires_at: string | null;
  settings: Settings;
  persona: Persona | null;
  items: SessionItem[];
  topic: Topic | null;
  summary: Summary | null;
  usage: SessionUsage;
  context_tokens: number;
  mode: string;
  prunings: Pruning[];
  awaiting_approval: AwaitedCall[];
  paused: PausedTurn | null;
  forked_from: { session: string; turn: number } | null;
  erased_turns: number;
}

/** What the conversation is about: a thing, and what of it or of which type. */
export interface Topic {
  entity?: EntityRef;
  about?: string;
}

/** A request that did not fit whole. */
export interface Pruning {
  at: string;
  turn: number;
  tokens_before: number;
  tokens_after: number;
  dropped: number;
  strategy: string;
}

/** Tokens over the whole conversation: as providers counted them, and all that was said by our count. */
export interface SessionUsage extends Usage {
  said_tokens: number;
}

export interface Settings {
  context_tokens?: number;
  mode?: string;
  model?: string;
  /** IANA name. */
  timezone?: string;
  preferences?: Record<string, unknown>;
  /** Newer: nothing of this session is remembered beyond it. */
  private?: boolean;
}

export interface Summary {
  from: number;
  to: number;
  text: string;
  tokens: number;
  by: string;
  at: string;
}

export interface Persona {
  name: string;
  system_prompt: string;
  personality: string;
  temperature: number;
  reply_tokens_max: number;
  history_tokens_max: number;
  expiry_days: number;
  keeps_calm: boolean;
  preset?: string;
}

export type ItemType = 'rule' | 'reference' | 'tool';

export interface ItemName {
  type: ItemType;
  name: string;
  serverName?: string;
}

export interface SessionItem extends ItemName {
  includeMode: IncludeMode;
  missing?: boolean;
}

/** How often an item was sent, and how often a reply used it. */
export interface ItemUsage extends ItemName {
  sent: number;
  used: number;
}

export interface AgentUsage {
  sessions: number;
  items: (ItemUsage & { sessions: number })[];
}

export interface AgentItem extends ItemName {
  include: IncludeMode;
  description: string;
  text: string;
  refused?: string;
}

export interface Agent {
  name: string;
  description: string;
  default: boolean;
  rules: number;
  references: number;
  servers: string[];
  packs: string[];
  preset: string | null;
}

/** A turn that goes on when its calls are decided. */
export interface PausedTurn {
  message: string;
  said: string;
  at: string;
  expires_at: string;
}

export interface AwaitedCall {
  id: string;
  server: string;
  name: string;
  arguments: unknown;
  reason: string;
  /** Newer: whether it may be allowed for the whole session. */
  session_scope?: boolean;
  /** What was decided, while others of the turn still wait. */
  approved?: boolean | null;
}

export type FailureCause =
  'unreachable' | 'timed_out' | 'rate_limited' | 'unauthorized' | 'rejected' | 'not_found' | 'malformed' | 'failed' | 'too_large' | 'cancelled';

export interface TurnBrief {
  turn: number;
  at: string;
  kind: string;
  message: string;
  reply: string;
  status: 'complete' | 'partial' | 'failed' | 'refused' | 'erased';
  /** No request or search uses it any more. */
  withheld?: boolean;
  /** `cause` says how the model failed; turns of older servers have none. */
  error: { code: string; message: string; cause?: FailureCause | null } | null;
  form: { by: 'caller' | 'model' | 'offline' | 'sampling'; model?: string; why?: string };
  tools_used: string[];
  entities: EntityMention[];
  usage: Usage | null;
  /** What it cost, where a price is configured. */
  cost?: Cost | null;
  tokens: { message: number; reply: number };
  /** One sentence: what was shown, what was left out. */
  context: string | null;
  /** Whether no model was asked; `context` is then what one would be shown. */
  no_model: boolean;
  /** Names of the files that came with the message. */
  attachments?: string[];
}

/** What a tool may do, and who said so. */
export interface ToolRule {
  tool: string;
  rule: string;
  scope: string;
  by?: string | null;
  at?: string | null;
  /** False once the tool's definition has changed. */
  in_force: boolean;
}

/** Who asks. */
export interface Me {
  user: string;
  tenant: string;
  role: 'read' | 'write' | 'admin';
}

export interface Cost {
  amount: number;
  currency: string;
  saved: number;
}

export interface EntityMention {
  type: string;
  name: string;
  id?: string;
  how: string;
  confidence: number;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
}

export interface Turn extends TurnBrief {
  tool_executions: ToolExecution[];
  took_ms: number | null;
  /** How long each stage took, in order of beginning; empty where that was not measured. */
  stages?: Stage[];
}

/** One stage of a turn: recall, select, model, tool, commit… */
export interface Stage {
  name: string;
  start_ms: number;
  took_ms: number;
}

export interface ToolExecution {
  id: string;
  server: string;
  name: string;
  arguments: unknown;
  ok: boolean;
  result: string;
  round: number;
  took_ms: number;
}

/** What a stream says of the assembled request; the receipt has it all. */
export interface ContextBrief {
  id: string;
  summary: string;
  /** Whether no model was asked. */
  no_model: boolean;
  mode: string;
  mode_why: string;
  stable_prefix_tokens: number;
  budget: Budget;
}

export interface Budget {
  limit_tokens: number;
  considered_tokens: number;
  used_tokens: number;
  share: number;
  warning: boolean;
  factor: number;
}

export interface Receipt {
  id: string;
  summary: string;
  at: string;
  mode: string;
  mode_why: string;
  budget: Budget;
  parameters: { reply_tokens_max: number; temperature: number };
  pieces: Piece[];
  /** Whether no model was asked. */
  no_model: boolean;
  calls: ReceiptCall[];
  stable_prefix_tokens: number;
  layout: number;
  /** Uncached tokens and a tenth of the cached ones. */
  effective_tokens?: number;
  /** What sending the whole conversation again would have taken. */
  replay_tokens?: number;
  replay_effective_tokens?: number;
  /** Why it does not begin with the request before. */
  broken_by?: string | null;
  /** The turn whose request this one begins with. */
  continues?: number | null;
  /** The first turn that is shown word for word. */
  window_from?: number;
}

/** A call of the turn, without its result. */
export interface ReceiptCall {
  server: string;
  name: string;
  arguments: unknown;
  ok: boolean;
  error: string | null;
  result_characters: number | null;
  took_ms: number;
}

export interface Piece {
  source: Source;
  why: string;
  place: string;
  rank: string;
  score: number | null;
  tokens: number;
  hash: string;
  /** Whether it is part of the request. */
  included: boolean;
  /** Whether a model was sent it: false for every piece where no model was asked. */
  sent: boolean;
  dropped: string | null;
  /** Whether the reply referred to it; only rules, references and tools are looked at. */
  used?: boolean;
  /** The turn with which it came into the request; null where that is this one. */
  since?: number | null;
}

/** What is shown of a long text, in bytes. */
export interface Excerpt {
  from: number;
  to: number;
}

export type Source =
  | { kind: 'instructions'; part: string }
  | { kind: 'persona'; name: string }
  | { kind: 'calm' }
  | { kind: 'preferences' }
  | { kind: 'rule' | 'reference'; name: string; mode: IncludeMode }
  | { kind: 'tool'; server: string; name: string; mode: IncludeMode }
  | { kind: 'tool_names'; tools: { server: string; name: string }[] }
  | { kind: 'summary'; from: number; to: number }
  | { kind: 'topic' }
  | { kind: 'entity'; entity: string; name: string }
  | { kind: 'history'; turn: number; part: 'message' | 'results' | 'reply' }
  | { kind: 'recalled'; turn: number; part: 'message' | 'results' | 'reply'; on?: string; excerpt?: Excerpt }
  | { kind: 'elsewhere'; session: string; turn: number; part: 'message' | 'results' | 'reply'; on: string; excerpt?: Excerpt }
  | { kind: 'fact'; id: string; at: string }
  | { kind: 'earlier_result'; turn: number; on?: string }
  | { kind: 'day'; on: string; of: string }
  | { kind: 'client_request'; bytes: number }
  | { kind: 'given'; name: string }
  | { kind: 'message' };

/** A read-only link, as its owner sees it. */
export interface Share {
  id: string;
  up_to_turn: number;
  title: string | null;
  created_at: string;
  expires_at: string;
}

/** One that was just made; what opens it is sent only now. */
export interface NewShare extends Share {
  token: string;
  path: string;
}

/** What a link shows. */
export interface SharedConversation {
  title: string | null;
  up_to_turn: number;
  shared_at: string;
  expires_at: string;
  turns: SharedTurn[];
  next_cursor: string | null;
}

export interface SharedTurn {
  turn: number;
  at: string;
  message: string;
  reply: string;
  status: string;
  tools_used: string[];
}

export interface Erasure {
  session_id: string;
  at: string;
  heads: number;
  turns: number;
  records: number;
  bytes: number;
  left: number;
  index_documents: number;
  tombstone: string;
}

export interface EntityRef {
  type: string;
  name?: string;
  id?: string;
}

export interface Entity extends EntityRef {
  relevanceScore: number;
  active: boolean;
  first_mentioned: string;
  last_mentioned: string;
  mention_count?: number;
  mention_contexts?: { turn: number; text: string }[];
  relations?: (EntityRef & { relation: 'parent' | 'child' | 'related' })[];
  data?: Record<string, unknown>;
  aliases?: string[];
  url?: string;
}

export interface Preset {
  id: string;
  name: string;
  description: string;
  systemPrompt: string;
  defaultPersonality: string;
  defaultSettings: { temperature: number; maxTokens: number; maxHistoryTokens: number; expiryDays: number };
  isActive: boolean;
  isBuiltIn: boolean;
  experimental: boolean;
}

/** How likely a preset's prompt is to work, and what to change. */
export interface Review {
  score: number;
  effective: boolean;
  advice: { aspect: string; advice: string }[];
}

export interface Tool {
  server: string;
  name: string;
  title?: string | null;
  description: string;
  input_schema: unknown;
  /** What the server says of its effects; nothing where it says nothing. */
  effects?: { read_only?: boolean; destructive?: boolean; idempotent?: boolean };
  approved: boolean;
  refused: string | null;
  fingerprint: string;
  /** The definition that was approved, where it is not the present one. */
  pinned?: Pinned | null;
}

export interface Pinned {
  title?: string | null;
  description: string;
  input_schema: unknown;
  approved_at: string;
  approved_by: string;
}

export interface SearchHit {
  session: string;
  /** 0 for the title. */
  turn: number;
  part: string;
  score: number;
  /** `marks` are byte ranges of the found words in `text`. */
  snippet: { text: string; marks: { start: number; end: number }[] };
  title: string | null;
}

export interface Health {
  status: string;
  version: string;
  store: { backend: string; location: string; durability: string; many_writers: boolean; notes: string[] };
  models: string[];
  servers: ServerStatus[];
  warnings: string[];
  context: ContextStatistics;
}

/** What the last requests took of their windows. */
export interface ContextStatistics {
  turns: number;
  last_share: number;
  mean_share: number;
  largest_share: number;
  last_tokens: number;
  stable_prefix_share: number;
  warnings: number;
}

export interface ServerStatus {
  name: string;
  state: { state: 'idle' | 'connected' | 'failed'; protocol_version?: string; reason?: string };
  tools: number;
}

export type MemoryKind = 'instruction' | 'profile' | 'preference' | 'fact';

/** Newer: a statement that outlives its session. */
export interface Memory {
  id: string;
  text: string;
  kind?: MemoryKind;
  subject?: string | null;
  /** Where it was said; nothing where it was added by hand. */
  source?: { session: string; turn: number } | null;
  trust?: string;
  created_at?: string;
  /** When its text last changed. */
  changed_at?: string;
  last_used_at?: string | null;
  superseded_by?: string | null;
}

/** What was erased of a user. */
export type ErasedUser = components['schemas']['ErasedUser'];
