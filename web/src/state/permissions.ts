// What tools may do in a session without asking: seen, and withdrawn.
import { at, change, get } from '../api/client';
import type { ToolRule } from '../api/types';

/** Rules that somebody made for this session. */
export async function permissionsOf(session: string): Promise<ToolRule[]> {
  const { rules } = await get<{ rules: ToolRule[] }>(at('conversations', session, 'approvals'));
  return rules.filter((rule) => rule.scope === 'session');
}

export async function isAllowed(session: string, { server, name }: ToolName): Promise<boolean> {
  const rules = await permissionsOf(session).catch(() => []);
  return rules.some((rule) => rule.tool === `${server}:${name}` && rule.rule === 'allow');
}

export interface ToolName {
  server: string;
  name: string;
}

/** A tool as rules name it. */
export function toolOf({ tool }: ToolRule): ToolName {
  const colon = tool.indexOf(':');
  return { server: tool.slice(0, colon), name: tool.slice(colon + 1) };
}

export function withdraw(session: string, { server, name }: ToolName): Promise<unknown> {
  return change('DELETE', at('conversations', session, 'permissions', server, name));
}
