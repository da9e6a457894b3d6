// Rendering replies while nothing else happens, so that scrolling to them is only drawing.
import { markdown } from '../text/markdown';

const waiting: string[] = [];
let asked = false;

// A browser without idle callbacks renders when it draws.
const whenIdle = window.requestIdleCallback as typeof window.requestIdleCallback | undefined;

function work(deadline: IdleDeadline) {
  while (waiting.length > 0 && deadline.timeRemaining() > 5) markdown(waiting.pop()!);
  asked = waiting.length > 0;
  if (asked) whenIdle!(work);
}

/** Renders these replies when there is time; the last one first. */
export function renderAhead(replies: string[]) {
  if (!whenIdle) return;
  waiting.push(...replies);
  if (!asked && waiting.length > 0) whenIdle(work);
  asked = waiting.length > 0;
}
