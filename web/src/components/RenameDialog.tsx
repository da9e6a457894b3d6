// A new title.
import { useSignal } from '@preact/signals';
import { Dialog } from './Dialog';

export function RenameDialog({ title, onClose, onRename }: { title: string; onClose: () => void; onRename: (title: string) => void }) {
  const typed = useSignal(title);
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); onRename(typed.value.trim()); onClose(); }}>
        <label class="field">
          <span>Title</span>
          <input value={typed.value} maxLength={200} onInput={(event) => (typed.value = event.currentTarget.value)} />
        </label>
        <p class="quiet">Without a title the topic is shown.</p>
        <div class="actions"><button class="button primary">Rename</button></div>
      </form>
    </Dialog>
  );
}
