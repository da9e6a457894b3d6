// The items of agents, and of sessions.
import { at, change, get } from '../api/client';
import type { AgentItem, AgentUsage, ItemName, SessionItem, Source } from '../api/types';
import { defaultAgent } from './catalogue';

export async function itemsOf(agent: string): Promise<AgentItem[]> {
  return (await get<{ items: AgentItem[] }>(at('agents', agent, 'items'))).items;
}

/** How often each of an agent's items was sent and used, over all sessions. */
export function usageOf(agent: string): Promise<AgentUsage> {
  return get(at('agents', agent, 'usage'));
}

/** An agent's item as text, as it is now; `null` when the agent no longer has it. */
export async function itemNow(agent: string | null, source: Source): Promise<string | null> {
  const name = agent ?? defaultAgent.value;
  if (!name) return null;
  const found = (await itemsOf(name)).find((item) => named(item, source));
  return found ? found.text : null;
}

function named(item: AgentItem, source: Source): boolean {
  if (source.kind === 'tool') return item.type === 'tool' && item.name === source.name && item.serverName === source.server;
  return item.type === source.kind && 'name' in source && item.name === source.name;
}

export function sameItem(one: ItemName, two: ItemName): boolean {
  return one.type === two.type && one.name === two.name && (one.serverName ?? '') === (two.serverName ?? '');
}

function body(item: ItemName): ItemName {
  return item.type === 'tool' ? { type: item.type, name: item.name, serverName: item.serverName ?? '' } : { type: item.type, name: item.name };
}

export function addItem(session: string, item: ItemName): Promise<{ items: SessionItem[] }> {
  return change('POST', at('conversations', session, 'context'), body(item));
}

export function removeItem(session: string, item: ItemName): Promise<{ items: SessionItem[] }> {
  return change('DELETE', at('conversations', session, 'context'), body(item));
}
