// What can be done with one turn: fork there, compare it, copy its request.
import { compared, inspect, inspected, inspectorOpen, tab } from '../state/inspector';
import { attempt, tell } from '../state/notices';
import { addressOf, go } from '../state/route';
import { requestOf } from '../state/receipts';
import { forkSession, refreshSessions } from '../state/sessions';
import { Menu } from './Menu';

export async function copyRequest(session: string, turn: number) {
  await navigator.clipboard.writeText(await requestOf(session, turn));
  tell(`Copied the exact request of turn ${turn}.`);
}

async function fork(session: string, turn: number) {
  const forked = await forkSession(session, turn);
  await refreshSessions();
  go(addressOf(forked.id));
  tell(`A new session with the first ${turn} turns.`);
}

function compare(turn: number) {
  const other = inspected.value;
  if (other === null || other === turn) return inspect(turn);
  compared.value = turn;
  tab.value = 'context';
  inspectorOpen.value = true;
}

export function TurnActions({ session, turn, withContext }: { session: string; turn: number; withContext: boolean }) {
  const other = inspected.value;
  return (
    <Menu label={`More about turn ${turn}`} entries={[
      { label: 'Fork from here', run: () => attempt(() => fork(session, turn)) },
      ...(withContext ? [
        { label: other !== null && other !== turn ? `Compare with turn ${other}` : 'Show its context', run: () => compare(turn) },
        { label: 'Copy the exact request', run: () => attempt(() => copyRequest(session, turn)) },
      ] : []),
    ]} />
  );
}
