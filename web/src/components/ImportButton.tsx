// Brings an exported session in.
import { importSession, refreshSessions } from '../state/sessions';
import { attempt, tell } from '../state/notices';
import { addressOf, go } from '../state/route';

async function bringIn(file: File) {
  const session = await importSession(file);
  await refreshSessions();
  go(addressOf(session.id));
  tell('Imported.');
}

export function ImportButton() {
  return (
    <label class="button plain small file">
      Import
      <input type="file" accept="application/json,.json" onChange={(event) => {
        const file = event.currentTarget.files?.[0];
        event.currentTarget.value = '';
        if (file) void attempt(() => bringIn(file));
      }} />
    </label>
  );
}
