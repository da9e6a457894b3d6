// Erasing asks first, and then shows what went; nothing of it stays readable behind the receipt.
import { signal, useSignal } from '@preact/signals';
import type { Conversation, Erasure } from '../api/types';
import { forget } from '../state/chat';
import { write } from '../state/drafts';
import { complain } from '../state/notices';
import { forgetReceipts } from '../state/receipts';
import { go } from '../state/route';
import { closeSession } from '../state/session';
import { eraseSession, nameOf } from '../state/sessions';
import { bytes, count, counted, moment } from '../text/numbers';
import { Dialog } from './Dialog';

/** What was erased last, until somebody has seen it. */
const erased = signal<Erasure | null>(null);

export function ErasedDialog() {
  if (!erased.value) return null;
  const close = () => (erased.value = null);
  return <Dialog title="Erased" onClose={close}><ErasureReceipt receipt={erased.value} /><div class="actions"><button class="button primary" onClick={close}>Done</button></div></Dialog>;
}

export function EraseDialog({ session, onClose }: { session: Conversation; onClose: () => void }) {
  const busy = useSignal(false);
  const erase = async () => {
    busy.value = true;
    try {
      const receipt = await eraseSession(session.id);
      forgetReceipts(session.id);
      forget(session.id);
      write(session.id, '');
      closeSession();
      go('#/');
      erased.value = receipt;
    } catch (error) {
      complain(error);
      onClose();
    }
  };
  return (
    <Dialog title="Erase for good?" onClose={onClose}>
      <p><strong>{nameOf(session)}</strong> with {counted(session.turns, 'turn')}, its summary, entities and search index will be gone everywhere. This cannot be undone.</p>
      <div class="actions">
        <button class="button" data-first onClick={onClose}>Keep it</button>
        <button class="button danger" disabled={busy.value} onClick={erase}>Erase {counted(session.turns, 'turn')}</button>
      </div>
    </Dialog>
  );
}

function ErasureReceipt({ receipt }: { receipt: Erasure }) {
  const lines: [string, string][] = [
    ['Turns', count(receipt.turns)],
    ['Stored records', count(receipt.records)],
    ['Bytes', bytes(receipt.bytes)],
    ['Search documents', count(receipt.index_documents)],
    ['Copies that could not be removed', count(receipt.left)],
    ['When', moment(receipt.at)],
  ];
  return (
    <div class="erasure">
      <dl class="facts">{lines.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      <p class="quiet">It also stays erased after an older backup is restored: <code>{receipt.tombstone}</code></p>
    </div>
  );
}
