// Short messages at the edge of the page: what was done, or what failed and what to try.
import { signal } from '@preact/signals';
import { Problem } from '../api/client';

export interface Notice {
  id: number;
  tone: 'good' | 'bad';
  text: string;
  hint?: string;
  /** Takes back what was done. */
  undo?: () => Promise<unknown>;
}

const SHOWN_MS = 6000;
export const notices = signal<Notice[]>([]);
let next = 1;

function show(notice: Omit<Notice, 'id'>) {
  const id = next++;
  notices.value = [...notices.value.slice(-3), { ...notice, id }];
  setTimeout(() => dismiss(id), notice.tone === 'bad' || notice.undo ? SHOWN_MS * 2 : SHOWN_MS);
}

export function dismiss(id: number) {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function tell(text: string, undo?: () => Promise<unknown>) {
  show({ tone: 'good', text, ...(undo ? { undo } : {}) });
}

/** Something that cannot be done as it was asked for. */
export function warn(text: string) {
  show({ tone: 'bad', text });
}

export function complain(error: unknown) {
  const problem = Problem.from(error);
  if (problem.code === 'stopped' || problem.status === 401) return;
  show({ tone: 'bad', text: sentence(problem.message), hint: sentence(problem.hint) });
}

/** For what the page does by itself: that the server is silent is said elsewhere. */
export function complainUnlessSilent(error: unknown) {
  if (Problem.from(error).code !== 'unreachable') complain(error);
}

export function sentence(text: string): string {
  return text ? text[0]!.toUpperCase() + text.slice(1) : text;
}

const underWay = new Set<string>();
/** The second press of a double-click comes within this time. */
const PRESS_MS = 600;

/** As `attempt`, for what makes something: pressed again while it is under way, or at once, it is not done twice. */
export async function once(what: string, work: () => Promise<unknown>): Promise<boolean> {
  if (underWay.has(what)) return false;
  underWay.add(what);
  const pressed = performance.now();
  const done = await attempt(work);
  setTimeout(() => underWay.delete(what), Math.max(0, pressed + PRESS_MS - performance.now()));
  return done;
}

/** Runs something and tells of its failure; answers whether it succeeded. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}
