// Erasing asks first, and then shows what went.
import { useSignal } from '@preact/signals';
import type { Conversation, Erasure } from '../api/types';
import { forget } from '../state/chat';
import { write } from '../state/drafts';
import { complain } from '../state/notices';
import { forgetReceipts } from '../state/receipts';
import { go } from '../state/route';
import { closeSession } from '../state/session';
import { eraseSession } from '../state/sessions';
import { bytes, count, counted, moment } from '../text/numbers';
import { Dialog } from './Dialog';
import { titleOf } from './SessionRow';

export function EraseDialog({ session, onClose }: { session: Conversation; onClose: () => void }) {
  const receipt = useSignal<Erasure | null>(null);
  const busy = useSignal(false);
  const erase = async () => {
    busy.value = true;
    try {
      receipt.value = await eraseSession(session.id);
      forgetReceipts(session.id);
      forget(session.id);
      write(session.id, '');
    } catch (error) {
      complain(error);
      onClose();
    }
  };
  const close = () => {
    onClose();
    if (receipt.value) {
      closeSession();
      go('#/');
    }
  };
  if (receipt.value) return <Dialog title="Erased" onClose={close}><ErasureReceipt receipt={receipt.value} /><div class="actions"><button class="button primary" onClick={close}>Done</button></div></Dialog>;
  return (
    <Dialog title="Erase for good?" onClose={onClose}>
      <p><strong>{titleOf(session)}</strong> with {counted(session.turns, 'turn')}, its summary, entities and search index will be gone everywhere. This cannot be undone.</p>
      <div class="actions">
        <button class="button" onClick={onClose}>Keep it</button>
        <button class="button danger" disabled={busy.value} onClick={erase}>Erase {counted(session.turns, 'turn')}</button>
      </div>
    </Dialog>
  );
}

function ErasureReceipt({ receipt }: { receipt: Erasure }) {
  const lines: [string, string][] = [
    ['Turns', count(receipt.turns)],
    ['Heads', count(receipt.heads)],
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
