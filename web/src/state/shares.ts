// Read-only links: those of a session for its owner, and what one shows to whoever has it.
import { at, change, get, query } from '../api/client';
import type { NewShare, Share, SharedConversation } from '../api/types';

const PAGE = 100;

export async function shares(session: string): Promise<Share[]> {
  return (await get<{ shares: Share[] }>(at('conversations', session, 'shares'))).shares;
}

export function share(session: string, days: number): Promise<NewShare> {
  return change('POST', at('conversations', session, 'shares'), { expires_in_days: days });
}

/** Revokes a link; answers those that still open. */
export async function unshare(session: string, id: string): Promise<Share[]> {
  return (await change<{ shares: Share[] }>('DELETE', at('conversations', session, 'shares', id))).shares;
}

export function shared(token: string, cursor: string | null): Promise<SharedConversation> {
  return get(at('shared', token) + query({ limit: PAGE, cursor }));
}
