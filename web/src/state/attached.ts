// The files that came with a turn's message, read back from its request, so that it can be sent again with them.
import type { TurnBrief } from '../api/types';
import { unquoted, type Attachment } from '../text/file';
import { warn } from './notices';
import { receiptOf, textOf } from './receipts';

/** Those files that were kept. */
export async function keptFiles(session: string, turn: TurnBrief): Promise<Attachment[]> {
  const names = turn.attachments ?? [];
  const receipt = await receiptOf(session, turn.turn);
  const found: Attachment[] = [];
  for (const { source, hash, since } of receipt?.pieces ?? []) {
    if (source.kind !== 'given' || !names.includes(source.name) || (since ?? turn.turn) !== turn.turn) continue;
    const text = await textOf(session, turn.turn, hash).catch(() => null);
    if (text !== null) found.push(unquoted(source.name, text));
  }
  return found;
}

/** All that is left to be sent again; what is not is told. */
export async function attachedTo(session: string, turn: TurnBrief): Promise<Attachment[]> {
  const names = turn.attachments ?? [];
  if (names.length === 0) return [];
  const found = await keptFiles(session, turn);
  const lost = names.filter((name) => !found.some((file) => file.name === name));
  if (lost.length > 0) warn(`Sent without ${lost.join(', ')}: it did not fit into the request and was not kept. Add it again if it is needed.`);
  return found;
}
