// The clipboard, and a word about it.
import { attempt, tell } from './notices';

/** Copies a text; over a plain address, where browsers hide the clipboard, through a selection. */
export function copy(text: string, said: string): Promise<boolean> {
  return attempt(async () => {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copySelected(text);
    tell(said);
  });
}

function copySelected(text: string) {
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
