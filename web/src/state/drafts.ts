// What was typed and not sent, for each session and for a new one; it outlives a reload. Files that were added do not:
// they may be too large to keep, but they stay with their session until the page is left.
import { signal, type Signal } from '@preact/signals';
import type { Attachment } from '../text/file';
import { keep, keptValue } from './kept';

const NEW = 'new';
const NAME = 'drafts';
const KEPT_MAX = 100;

type Drafts = Record<string, string>;

const drafts = new Map<string, Signal<string>>();

/** The text that is being written to a session; `null` for a session that does not exist yet. */
export function draftOf(session: string | null): Signal<string> {
  const name = session ?? NEW;
  let draft = drafts.get(name);
  if (!draft) {
    draft = signal(keptValue<Drafts>(NAME)?.[name] ?? '');
    drafts.set(name, draft);
  }
  return draft;
}

const files = new Map<string, Signal<Attachment[]>>();

/** The files that are to be sent with that text. */
export function filesOf(session: string | null): Signal<Attachment[]> {
  const name = session ?? NEW;
  let added = files.get(name);
  if (!added) {
    added = signal([]);
    files.set(name, added);
  }
  return added;
}

export function write(session: string | null, text: string) {
  const name = session ?? NEW;
  draftOf(session).value = text;
  const { [name]: _, ...others } = keptValue<Drafts>(NAME) ?? {};
  // The newest is last; the oldest goes first.
  const kept = Object.entries(text.trim() ? { ...others, [name]: text } : others).slice(-KEPT_MAX);
  keep(NAME, kept.length > 0 ? Object.fromEntries(kept) : null);
}
