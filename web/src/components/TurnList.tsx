// The turns, of which only those near the view exist. Row r is turn r + 1; the turn being made comes last.
//
// Invariant: while rows above the view turn out taller or shorter than estimated, what is in view stays where it is.
// The end is followed until the reader scrolls up: growing content alone never ends it.
import { useComputed, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { TurnBrief } from '../api/types';
import { returned } from '../state/connection';
import { Heights } from '../state/heights';
import { inspected } from '../state/inspector';
import { live } from '../state/live';
import { place } from '../state/route';
import type { Turns } from '../state/turns';
import { Icon } from './Icon';
import { LiveTurnView } from './LiveTurnView';
import { Outline, TurnView } from './TurnView';

const ESTIMATE = 240;
const BEYOND = 900;
/** Nearer than this to the end counts as being there. */
const AT_END = 40;
/** Scrolling that pauses this long is looking. */
const LOOKING_MS = 50;
/** Faster than this share of the view in one step nobody reads: rows are only drawn as their outlines. */
const FLUNG = 0.5;
/** One such step is a jump; a second one within this time is a fling. */
const FLUNG_MS = 100;

/** What was drawn of a row; the same turn is not drawn twice. */
interface Drawn {
  brief: TurnBrief | undefined;
  total: number;
  outline: boolean;
  node: VNode;
}

export function TurnList({ turns }: { turns: Turns }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useRef(new Map<number, HTMLElement>());
  const drawn = useRef(new Map<number, Drawn>());
  const unmeasured = useRef(new Set<number>());
  const upwards = useRef(false);
  const jumped = useRef(-Infinity);
  const flung = useRef<ReturnType<typeof setTimeout> | null>(null);
  const heights = useMemo(() => new Heights(turns.total.value, ESTIMATE), [turns]);
  const top = useSignal(0);
  const view = useSignal(800);
  const measured = useSignal(0);
  const followed = useSignal(true);
  /** Grows when a fling has ended, so that outlines become turns. */
  const settled = useSignal(0);
  settled.value;
  const total = turns.total.value;
  if (heights.rows !== total) heights.resize(total);
  turns.arrived.value;
  const first = useComputed(() => (measured.value, turns.total.value === 0 ? 0 : heights.at(Math.max(0, top.value - BEYOND)))).value;
  const last = useComputed(() => (measured.value, turns.total.value === 0 ? -1 : heights.at(top.value + view.value + BEYOND))).value;

  const toEnd = () => {
    const element = scroller.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    top.value = element.scrollTop;
  };

  /** Notes heights and keeps what is being read where it is. */
  const measure = (found: [row: number, height: number][]) => {
    const element = scroller.current;
    if (!element || found.length === 0) return;
    // Reading upwards, rows fill in near the top of the view, and what was being read lies below them.
    const held = element.scrollTop + (upwards.current ? element.clientHeight / 2 : 0);
    const above = found.filter(([row]) => heights.start(row) < held);
    let grown = 0;
    let changed = false;
    for (const entry of found) {
      const more = heights.set(entry[0], entry[1]);
      if (more !== 0) changed = true;
      if (above.includes(entry)) grown += more;
    }
    if (!changed) return;
    if (followed.peek()) toEnd();
    else if (grown !== 0) {
      element.scrollTop += grown;
      top.value = element.scrollTop;
    }
    measured.value += 1;
  };

  const sizes = useMemo(() => new ResizeObserver((entries) => {
    measure(entries.flatMap(({ target, borderBoxSize: [box] }): [number, number][] => {
      const row = Number((target as HTMLElement).dataset['row']);
      return rows.current.get(row) === target && box ? [[row, box.blockSize]] : [];
    }));
  }), [turns]);

  const rowOf = (row: number): VNode => {
    const brief = turns.get(row + 1);
    const known = drawn.current.get(row);
    // What is drawn stays drawn; only what rushes in is an outline.
    const outline = flung.current !== null && (!known || known.outline);
    if (known && known.brief === brief && known.total === total && known.outline === outline) return known.node;
    if (!outline) unmeasured.current.add(row);
    const node = (
      <article key={row} class="row" data-row={row} style={{ height: outline ? `${heights.of(row)}px` : '' }} aria-posinset={row + 1} aria-setsize={total} aria-label={`Turn ${row + 1}`} tabIndex={-1}
        ref={(element: HTMLElement | null) => {
          const before = rows.current.get(row);
          if (before === element) return;
          if (before) sizes.unobserve(before);
          if (element) {
            rows.current.set(row, element);
            sizes.observe(element);
          } else rows.current.delete(row);
        }}>
        {outline ? <Outline turn={row + 1} /> : <TurnView turns={turns} turn={row + 1} />}
      </article>
    );
    drawn.current.set(row, { brief, total, outline, node });
    return node;
  };

  const shown: VNode[] = [];
  for (let row = first; row <= last && row < total; row += 1) shown.push(rowOf(row));
  for (const row of drawn.current.keys()) if (row < first || row > last) drawn.current.delete(row);

  // The tail first; then wherever the address points.
  useLayoutEffect(() => {
    const element = scroller.current!;
    view.value = element.clientHeight;
    followed.value = true;
    toEnd();
    const frame = new ResizeObserver(() => {
      view.value = element.clientHeight;
      if (followed.peek()) toEnd();
    });
    frame.observe(element);
    return () => {
      frame.disconnect();
      sizes.disconnect();
    };
  }, [turns]);

  const wanted = place.value.name === 'session' ? place.value.turn : null;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!wanted || !element || wanted > turns.total.peek()) return;
    followed.value = false;
    inspected.value = wanted;
    element.scrollTop = heights.start(wanted - 1);
    top.value = element.scrollTop;
  }, [wanted, turns]);

  // New rows are measured together, before anybody sees them; then the end is followed where the reader is there.
  useLayoutEffect(() => {
    const found = [...unmeasured.current].flatMap((row): [number, number][] => {
      const element = rows.current.get(row);
      return element ? [[row, element.getBoundingClientRect().height]] : [];
    });
    unmeasured.current.clear();
    measure(found);
    if (followed.peek()) toEnd();
  });

  // Ask for what is looked at, not for everything that rushes by.
  useEffect(() => {
    const look = setTimeout(() => turns.want(first + 1, last + 1), heights.rows && turns.get(last + 1) ? LOOKING_MS : 0);
    return () => clearTimeout(look);
  }, [turns, first, last, total, returned.value]);

  // A message that was just sent is looked at, wherever the reader was.
  const now = live.value?.session === turns.session ? live.value : null;
  useLayoutEffect(() => {
    if (!now) return;
    followed.value = true;
    toEnd();
  }, [now?.startedAt]);

  const settleLater = () => {
    if (flung.current !== null) clearTimeout(flung.current);
    flung.current = setTimeout(() => {
      flung.current = null;
      measured.value += 1;
      settled.value += 1;
    }, LOOKING_MS);
  };

  const scrolled = () => {
    const element = scroller.current;
    if (!element) return;
    // Our own corrections are no direction of reading.
    const moved = element.scrollTop - top.peek();
    if (moved !== 0) upwards.current = moved < 0;
    const far = Math.abs(moved) > element.clientHeight * FLUNG;
    if (flung.current !== null || (far && performance.now() - jumped.current < FLUNG_MS)) settleLater();
    if (far) jumped.current = performance.now();
    top.value = element.scrollTop;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (left < AT_END) followed.value = true;
    else if (moved < 0) followed.value = false;
  };

  const waits = now?.state === 'waiting';
  return (
    <div class="turns-frame">
      <div class="turns" ref={scroller} onScroll={scrolled} tabIndex={0} role="feed" aria-label="Conversation" aria-busy={now?.state === 'running'}>
        <div class="turns-inner" data-first={total > 0 && turns.arrived.value === 0} style={{ paddingTop: `${heights.start(first)}px`, paddingBottom: `${Math.max(0, heights.end - heights.start(last + 1))}px` }}>
          {shown}
        </div>
        {now && <div class="turns-inner live"><LiveTurnView turn={now} /></div>}
      </div>
      {!followed.value && (
        <button class="to-end" data-waits={waits} onClick={() => { followed.value = true; toEnd(); }}>
          <Icon name="down" size={15} /> {waits ? 'A call waits for you' : 'Latest'}
        </button>
      )}
    </div>
  );
}
