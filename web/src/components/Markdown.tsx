// A text rendered as Markdown, safely.
import { useMemo } from 'preact/hooks';
import { copy } from '../state/clipboard';
import { markdown } from '../text/markdown';

function pressed(event: MouseEvent) {
  const button = (event.target as Element).closest('button.copy-code');
  const code = button?.closest('.code')?.querySelector('code');
  if (code) void copy(code.textContent ?? '', 'Copied the code.');
}

export function Markdown({ text, growing = false }: { text: string; growing?: boolean }) {
  const html = useMemo(() => markdown(text, growing), [text, growing]);
  return <div class="markdown" onClick={pressed} dangerouslySetInnerHTML={{ __html: html }} />;
}
