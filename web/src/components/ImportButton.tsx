// Brings a file in: an exported session, or the conversations of a chat product's data export.
import { importFile, refreshSessions } from '../state/sessions';
import { once, tell } from '../state/notices';
import { addressOf, go } from '../state/route';
import { counted } from '../text/numbers';

async function bringIn(file: File) {
  const brought = await importFile(file);
  await refreshSessions();
  if ('id' in brought) {
    go(addressOf(brought.id));
    tell('Imported.');
    return;
  }
  const { imported, already_there: known, skipped } = brought;
  if (imported.length === 1) go(addressOf(imported[0]!.id));
  const left = skipped.length > 0 ? ` Left out: ${skipped.slice(0, 3).join('; ')}${skipped.length > 3 ? ' …' : ''}` : '';
  tell(`Imported ${counted(imported.length, 'conversation')}; ${known.length} were here already.${left}`);
}

export function ImportButton() {
  return (
    <label class="button plain small file">
      Import
      <input type="file" accept="application/json,.json,text/markdown,.md" onChange={(event) => {
        const file = event.currentTarget.files?.[0];
        event.currentTarget.value = '';
        if (file) void once(`import ${file.name}`, () => bringIn(file));
      }} />
    </label>
  );
}
