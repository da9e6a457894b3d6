// A text rendered as Markdown, safely.
import { useMemo } from 'preact/hooks';
import { markdown } from '../text/markdown';

export function Markdown({ text }: { text: string }) {
  const html = useMemo(() => markdown(text), [text]);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
