// The upstream tools, asked for once and again after a change.
import { get } from '../api/client';
import type { Tool } from '../api/types';

export interface ToolListing {
  tools: Tool[];
  unavailable: { server: string; reason: string }[];
}

let known: Promise<ToolListing> | null = null;

export function listTools(again = false): Promise<ToolListing> {
  if (!known || again) {
    known = get<ToolListing>('/tools');
    known.catch(() => (known = null));
  }
  return known;
}

/** Whether a call of `server:tool` changes something. A tool that is no longer there is judged by its name. */
export async function changingTools(): Promise<(tool: string) => boolean> {
  const listing = await listTools().catch(() => null);
  const reads = new Set(listing?.tools.filter((tool) => tool.effects?.read_only).map((tool) => `${tool.server}:${tool.name}`));
  const there = new Set(listing?.tools.map((tool) => `${tool.server}:${tool.name}`));
  return (tool) => (there.has(tool) ? !reads.has(tool) : !/:(\w+_)?(get|list|search|find|show|read|query|fetch|describe)(_|$)/i.test(tool));
}
