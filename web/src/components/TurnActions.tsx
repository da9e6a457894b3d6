// What can be done with one turn: copy it, ask again, say it differently, fork there, look into it.
import type { TurnBrief } from '../api/types';
import { copy } from '../state/clipboard';
import { forkAfter, sayAgain } from '../state/forks';
import { compareWith, inspect, inspected } from '../state/inspector';
import { live } from '../state/live';
import { addressOf } from '../state/route';
import { Icon } from './Icon';
import { Menu } from './Menu';

export function TurnActions({ session, turn, onEdit }: { session: string; turn: TurnBrief; onEdit: () => void }) {
  const other = inspected.value;
  const idle = live.value === null;
  const address = () => `${location.origin}${location.pathname}${addressOf(session, turn.turn)}`;
  return (
    <span class="turn-actions" role="group" aria-label={`Turn ${turn.turn}`}>
      {turn.reply && <button class="icon-button small" data-key="y" aria-label="Copy the reply" title="Copy the reply (y)" onClick={() => copy(turn.reply, 'Copied the reply.')}><Icon name="copy" size={15} /></button>}
      {turn.message && <button class="icon-button small" data-key="r" aria-label="Ask again" title="Ask again, in a fork (r)" disabled={!idle} onClick={() => sayAgain(session, turn)}><Icon name="again" size={15} /></button>}
      {turn.message && <button class="icon-button small" data-key="e" aria-label="Edit the message" title="Edit the message, in a fork (e)" disabled={!idle} onClick={onEdit}><Icon name="edit" size={15} /></button>}
      <Menu label={`More about turn ${turn.turn}`} small entries={[
        ...(turn.context ? [{ label: 'What went into it', run: () => inspect(turn.turn) }] : []),
        ...(turn.context && other !== null && other !== turn.turn ? [{ label: `Compare with turn ${other}`, run: () => compareWith(turn.turn) }] : []),
        { label: 'Fork from here', run: () => forkAfter(session, turn.turn) },
        { label: 'Copy a link to it', run: () => copy(address(), 'Copied the link.') },
      ]} />
    </span>
  );
}
