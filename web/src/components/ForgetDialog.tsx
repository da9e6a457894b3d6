// Forgetting asks first, says what stays in the conversation, and offers to erase that, too.
import { useSignal } from '@preact/signals';
import type { Memory } from '../api/types';
import { forgetMemory } from '../state/memories';
import { complain } from '../state/notices';
import { addressOf } from '../state/route';
import { Dialog } from './Dialog';

interface ForgetProps {
  memory: Memory;
  onClose: () => void;
  onForgotten: (said: string) => void;
}

export function ForgetDialog({ memory, onClose, onForgotten }: ForgetProps) {
  const erase = useSignal(false);
  const busy = useSignal(false);
  const { source } = memory;
  const forget = async () => {
    busy.value = true;
    try {
      const { notes } = await forgetMemory(memory.id, erase.value ? 'erased' : 'withheld');
      onForgotten(['Forgotten.', ...notes].join(' '));
    } catch (error) {
      complain(error);
    }
    onClose();
  };
  return (
    <Dialog title="Forget this?" onClose={onClose}>
      <p><strong>{memory.text}</strong> and what it said before will be gone everywhere.</p>
      {source
        ? <p>It was said in <a href={addressOf(source.session, source.turn)}>turn {source.turn}</a>. The turn stays in the conversation, where you can read it; no request or search uses it any more.</p>
        : <p class="quiet">Turns in which you said the same stay in their conversation; no request or search uses them any more.</p>}
      <label class="check"><input type="checkbox" checked={erase.value} onChange={(event) => (erase.value = event.currentTarget.checked)} /> Erase the turn, too. This cannot be undone.</label>
      <div class="actions">
        <button class="button" data-first onClick={onClose}>Keep it</button>
        <button class="button danger" disabled={busy.value} onClick={forget}>{erase.value ? 'Forget and erase' : 'Forget it'}</button>
      </div>
    </Dialog>
  );
}
