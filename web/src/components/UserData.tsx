// All data of a user: exported, or erased with a receipt that counts it.
import { useSignal } from '@preact/signals';
import { apiKey } from '../api/key';
import type { ErasedUser } from '../api/types';
import { attempt, complain } from '../state/notices';
import { refreshSessions } from '../state/sessions';
import { closeSession } from '../state/session';
import { eraseUser, exportUser, whoAmI } from '../state/user';
import { bytes, count, moment } from '../text/numbers';
import { Dialog } from './Dialog';
import { useLoaded } from './useLoaded';

const RIGHTS = { read: 'read', write: 'read and write', admin: 'administer' };

export function UserData({ onErased }: { onErased: () => void }) {
  const me = useLoaded(whoAmI, [apiKey.value]);
  const own = me.state === 'here' ? me.value.user : '';
  const typed = useSignal<string | null>(null);
  const user = typed.value ?? own;
  const erasing = useSignal(false);
  const id = user.trim();
  return (
    <section class="card user-data">
      <h2>All data of a user</h2>
      <p class="quiet">Sessions, memories, files, presets and keys, in one file or gone in one step. An administrator's key reaches every user of its tenant, any other its own.</p>
      <label class="field"><span>User</span><input value={user} autocomplete="off" onInput={(event) => (typed.value = event.currentTarget.value)} /></label>
      {me.state === 'here' && <p class="quiet">You are {me.value.user} of {me.value.tenant}, with the right to {RIGHTS[me.value.role]}.</p>}
      <div class="actions start">
        <button class="button small" disabled={!id} onClick={() => attempt(() => exportUser(id))}>Export</button>
        <button class="button small danger-text" disabled={!id} onClick={() => (erasing.value = true)}>Erase…</button>
      </div>
      {erasing.value && <EraseUserDialog id={id} onClose={() => (erasing.value = false)} onErased={onErased} />}
    </section>
  );
}

function EraseUserDialog({ id, onClose, onErased }: { id: string; onClose: () => void; onErased: () => void }) {
  const typed = useSignal('');
  const busy = useSignal(false);
  const erased = useSignal<ErasedUser | null>(null);
  const erase = async () => {
    busy.value = true;
    try {
      erased.value = await eraseUser(id);
      closeSession();
      onErased();
      await refreshSessions();
    } catch (error) {
      complain(error);
      if (!erased.value) onClose();
    }
  };
  if (erased.value) return <Dialog title="Erased" onClose={onClose}><Counted erased={erased.value} /><div class="actions"><button class="button primary" onClick={onClose}>Done</button></div></Dialog>;
  return (
    <Dialog title={`Erase everything of ${id}?`} onClose={onClose}>
      <p>Every session, memory, file, preset and key of <strong>{id}</strong> will be gone everywhere. This cannot be undone.</p>
      <label class="field"><span>Type {id} to confirm</span><input value={typed.value} autocomplete="off" onInput={(event) => (typed.value = event.currentTarget.value)} /></label>
      <div class="actions">
        <button class="button" onClick={onClose}>Keep it</button>
        <button class="button danger" disabled={busy.value || typed.value.trim() !== id} onClick={erase}>Erase everything</button>
      </div>
    </Dialog>
  );
}

function Counted({ erased }: { erased: ErasedUser }) {
  const lines: [string, string][] = [
    ['Sessions', count(erased.sessions)],
    ['Memories', count(erased.memories)],
    ['Files', count(erased.files)],
    ['Presets', count(erased.presets)],
    ['Keys', count(erased.keys)],
    ['Other records', count(erased.others)],
    ['Search documents', count(erased.index_documents)],
    ['Stored records', count(erased.records)],
    ['Bytes', bytes(erased.bytes)],
    ['Copies that could not be removed', count(erased.left)],
    ['When', moment(erased.at)],
  ];
  return (
    <div class="erasure">
      <p>Everything of {erased.user_id} is erased.</p>
      <dl class="facts">{lines.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      {erased.notes.map((note) => <p key={note} class="quiet">{note}</p>)}
    </div>
  );
}
