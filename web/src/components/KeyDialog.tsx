// Asks for an API key when the server wants one.
import { useSignal } from '@preact/signals';
import { apiKey, forgetKey, keyWanted, rememberKey } from '../api/key';
import { Dialog } from './Dialog';

export function KeyDialog() {
  const typed = useSignal('');
  const refused = apiKey.value !== null;
  return (
    <Dialog title="API key" onClose={() => (keyWanted.value = false)}>
      <form onSubmit={(event) => {
        event.preventDefault();
        if (typed.value.trim()) rememberKey(typed.value.trim());
      }}>
        <p>{refused ? 'The server did not accept the key.' : 'This server needs a key.'} Create one with <code>throughline key create</code>.</p>
        <label class="field">
          <span>Key</span>
          <input type="password" autocomplete="off" spellcheck={false} value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)} />
        </label>
        <p class="quiet">It is kept in this tab only and sent as a header, never in an address.</p>
        <div class="actions">
          {refused && <button type="button" class="button" onClick={forgetKey}>Forget it</button>}
          <button class="button primary" disabled={!typed.value.trim()}>Use this key</button>
        </div>
      </form>
    </Dialog>
  );
}
