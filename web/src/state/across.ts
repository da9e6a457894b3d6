// Figures across sessions, counted here from the heads that the server lists.
import { get, query } from '../api/client';
import type { Conversation, ItemName } from '../api/types';
import { defaultAgent } from './catalogue';

const PAGE = 100;
/** Heads that are looked at; more is said, not read. */
const SESSIONS_MAX = 1000;

export interface AgentFigures {
  agent: string;
  sessions: number;
  turns: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
}

export interface AcrossSessions {
  sessions: number;
  turns: number;
  waiting: number;
  /** Whether there are more sessions than were counted. */
  more: boolean;
  agents: AgentFigures[];
  topics: [name: string, sessions: number][];
  /** Items that were added by hand, by agent, with the number of sessions. */
  byHand: { agent: string; item: ItemName; sessions: number }[];
}

export async function acrossSessions(): Promise<AcrossSessions> {
  const heads: Conversation[] = [];
  let cursor: string | null = null;
  do {
    const page: { conversations: Conversation[]; next_cursor: string | null } = await get(`/conversations${query({ limit: PAGE, cursor })}`);
    heads.push(...page.conversations);
    cursor = page.next_cursor;
  } while (cursor && heads.length < SESSIONS_MAX);
  return summed(heads, cursor !== null);
}

const agentOf = (head: Conversation) => head.agent ?? defaultAgent.value ?? 'default';

export function summed(heads: Conversation[], more: boolean): AcrossSessions {
  const agents = new Map<string, AgentFigures>();
  const topics = new Map<string, number>();
  const byHand = new Map<string, AcrossSessions['byHand'][number]>();
  for (const head of heads) {
    const agent = agentOf(head);
    const figures = agents.get(agent) ?? { agent, sessions: 0, turns: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    figures.sessions += 1;
    figures.turns += head.turns;
    figures.inputTokens += head.usage.input_tokens;
    figures.outputTokens += head.usage.output_tokens;
    figures.cachedTokens += head.usage.cache_read_tokens ?? 0;
    agents.set(agent, figures);
    const topic = head.topic?.entity?.type ?? head.topic?.about;
    if (topic) topics.set(topic, (topics.get(topic) ?? 0) + 1);
    for (const { type, name, serverName, includeMode } of head.items) {
      if (includeMode !== 'manual') continue;
      const key = JSON.stringify([agent, type, serverName, name]);
      const known = byHand.get(key) ?? { agent, item: serverName ? { type, name, serverName } : { type, name }, sessions: 0 };
      byHand.set(key, { ...known, sessions: known.sessions + 1 });
    }
  }
  return {
    sessions: heads.length, more,
    turns: heads.reduce((sum, head) => sum + head.turns, 0),
    waiting: heads.filter((head) => head.awaiting_approval.length > 0).length,
    agents: [...agents.values()].sort((one, two) => two.turns - one.turns),
    topics: [...topics].sort((one, two) => two[1] - one[1]).slice(0, 8),
    byHand: [...byHand.values()].sort((one, two) => two.sessions - one.sessions),
  };
}
