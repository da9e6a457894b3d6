// Makes a read-only link, lists those that open, and revokes them.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Conversation, NewShare, Share } from '../api/types';
import { copy } from '../state/clipboard';
import { attempt, once, tell } from '../state/notices';
import { refreshSession } from '../state/session';
import { share, shares, unshare } from '../state/shares';
import { ago, counted, moment } from '../text/numbers';
import { Dialog } from './Dialog';

const DAYS = [1, 7, 30, 90];

export function ShareDialog({ session, onClose }: { session: Conversation; onClose: () => void }) {
  const days = useSignal(7);
  const made = useSignal<NewShare | null>(null);
  const listed = useSignal<Share[]>([]);
  const busy = useSignal(false);
  const refresh = async () => { listed.value = await shares(session.id); };
  useEffect(() => void attempt(refresh), []);
  const make = () => once('share', async () => {
    busy.value = true;
    try {
      made.value = await share(session.id, days.value);
      await refresh();
      await refreshSession();
    } finally {
      busy.value = false;
    }
  });
  const revoke = (id: string) => attempt(async () => {
    listed.value = await unshare(session.id, id);
    if (made.value?.id === id) made.value = null;
    await refreshSession();
    tell('Revoked. The link opens nothing any more.');
  });
  return (
    <Dialog title="Share" onClose={onClose}>
      {session.settings.private
        ? <p>A session that is not remembered cannot be shared.</p>
        : <Make session={session} days={days.value} busy={busy.value} onDays={(value) => (days.value = value)} onMake={make} />}
      {made.value && <MadeLink made={made.value} />}
      {listed.value.length > 0 && (
        <section class="links" aria-label="Links">
          <h3>Links that open</h3>
          <ul class="rows">
            {listed.value.map((link) => (
              <li key={link.id} class="link-row">
                <span>Up to turn {link.up_to_turn}, made {ago(link.created_at)}, expires {moment(link.expires_at)}</span>
                <button class="button small danger" aria-label={`Revoke the link of ${moment(link.created_at)}, up to turn ${link.up_to_turn}`} onClick={() => revoke(link.id)}>Revoke</button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Dialog>
  );
}

interface MakeProps {
  session: Conversation;
  days: number;
  busy: boolean;
  onDays: (days: number) => void;
  onMake: () => void;
}

function Make({ session, days, busy, onDays, onMake }: MakeProps) {
  if (session.turns === 0) return <p>Nothing was said in this session yet.</p>;
  return (
    <form onSubmit={(event) => { event.preventDefault(); onMake(); }}>
      <p>Anybody who has the link can read what was said so far ({counted(session.turns, 'turn')}) and which tools were called; nothing that is said later, no memories, and nothing else of this server.</p>
      <label class="field">
        <span>Expires after</span>
        <select value={days} onChange={(event) => onDays(Number(event.currentTarget.value))}>
          {DAYS.map((choice) => <option key={choice} value={choice}>{counted(choice, 'day')}</option>)}
        </select>
      </label>
      <div class="actions"><button class="button primary" disabled={busy || !session.active}>Make a link</button></div>
    </form>
  );
}

function MadeLink({ made }: { made: NewShare }) {
  const address = location.origin + made.path;
  return (
    <div class="made-link">
      <label class="field">
        <span>Link, shown only now</span>
        <input readOnly value={address} onFocus={(event) => event.currentTarget.select()} />
      </label>
      <button class="button" onClick={() => copy(address, 'Copied the link.')}>Copy link</button>
    </div>
  );
}
