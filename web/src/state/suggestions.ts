// What would make a session better, from how it was used: each with one thing to do about it.
import { at, get } from '../api/client';
import type { Conversation, ItemName, ItemUsage, Receipt } from '../api/types';
import { defaultAgent } from './catalogue';
import { addItem, removeItem, sameItem } from './items';
import { receiptOf } from './receipts';
import { sessions } from './sessions';

export interface Suggestion {
  /** What it is about; several where the same can be said of them. */
  items: ItemName[];
  why: string;
  label: string;
  apply: () => Promise<unknown>;
  /** What was done, in a sentence. */
  done: string;
  undo: () => Promise<unknown>;
}

/** Requests that are looked at for what just failed to match. */
const TURNS_LOOKED_AT = 3;
/** A match of this much, with which an item was not sent, is worth a word. */
const NEAR = 0.5;
/** More than this many unused tools are one suggestion. */
const TOGETHER_FROM = 4;
/** Sessions in which something was added by hand before it is suggested. */
const OFTEN = 2;

export async function suggestionsFor(session: Conversation): Promise<Suggestion[]> {
  const [unused, receipts] = await Promise.all([
    get<{ unused: ItemUsage[] }>(at('conversations', session.id, 'context', 'usage')).then((usage) => usage.unused, () => []),
    newest(session),
  ]);
  const has = (item: ItemName) => session.items.some((known) => sameItem(known, item));
  const idle = unused.filter(has);
  const tools = idle.filter((item) => item.type === 'tool');
  const together = tools.length >= TOGETHER_FROM ? tools : [];
  return [
    ...(together.length > 0 ? [removal(session.id, together)] : []),
    ...idle.filter((item) => !together.includes(item)).map((item) => removal(session.id, [item])),
    ...nearMisses(receipts).filter(({ item }) => !has(item)).map(({ item, score }): Suggestion => ({
      ...addition(session.id, item), why: `It matches a recent message by ${Math.round(score * 100)} %, not enough to be sent by itself.`,
    })),
    ...byHandElsewhere(session).filter(({ item }) => !has(item)).map(({ item, times }): Suggestion => ({
      ...addition(session.id, item), why: `You added it by hand in ${times} other sessions of this agent.`,
    })),
  ];
}

function addition(session: string, item: ItemName): Omit<Suggestion, 'why'> {
  return { items: [item], label: 'Add it here', done: 'Added.', apply: () => addItem(session, item), undo: () => removeItem(session, item) };
}

function removal(session: string, items: ItemUsage[]): Suggestion {
  const requests = Math.max(...items.map((item) => item.sent));
  const one = items.length === 1;
  return {
    items, label: one ? 'Remove it here' : `Remove ${items.length} here`,
    why: one ? `It was in ${requests} requests, and no reply used it.` : `They were in up to ${requests} requests, and no reply used them.`,
    done: one ? 'Removed.' : `Removed ${items.length} tools.`,
    apply: async () => {
      for (const item of items) await removeItem(session, item);
    },
    undo: async () => {
      for (const item of items) await addItem(session, item);
    },
  };
}

async function newest(session: Conversation): Promise<Receipt[]> {
  const turns = Array.from({ length: Math.min(TURNS_LOOKED_AT, session.turns) }, (_, index) => session.turns - index);
  const found = await Promise.all(turns.map((turn) => receiptOf(session.id, turn).catch(() => null)));
  return found.filter((receipt) => receipt !== null);
}

/** References and rules that almost matched, the best score of each. */
export function nearMisses(receipts: Receipt[]): { item: ItemName; score: number }[] {
  const found: { item: ItemName; score: number }[] = [];
  for (const { source, included, dropped, score } of receipts.flatMap((receipt) => receipt.pieces)) {
    if (included || dropped !== 'not_relevant' || (source.kind !== 'rule' && source.kind !== 'reference') || (score ?? 0) < NEAR) continue;
    const item: ItemName = { type: source.kind, name: source.name };
    const known = found.find((other) => sameItem(other.item, item));
    if (known) known.score = Math.max(known.score, score!);
    else found.push({ item, score: score! });
  }
  return found;
}

function byHandElsewhere(session: Conversation): { item: ItemName; times: number }[] {
  const agentOf = (head: Conversation) => head.agent ?? defaultAgent.value;
  const found: { item: ItemName; times: number }[] = [];
  for (const other of sessions.value) {
    if (other.id === session.id || agentOf(other) !== agentOf(session)) continue;
    for (const { type, name, serverName, includeMode } of other.items) {
      if (includeMode !== 'manual') continue;
      const item: ItemName = serverName ? { type, name, serverName } : { type, name };
      const known = found.find((entry) => sameItem(entry.item, item));
      if (known) known.times += 1;
      else found.push({ item, times: 1 });
    }
  }
  return found.filter(({ times }) => times >= OFTEN);
}
