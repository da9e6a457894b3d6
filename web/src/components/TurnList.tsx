// The turns, of which only those near the view exist. Row r is turn r + 1; the turn being made comes last.
//
// Invariant: while rows above the view turn out taller or shorter than estimated, what is in view stays where it is.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { inspected } from '../state/inspector';
import { live } from '../state/live';
import { place } from '../state/route';
import { Heights } from '../state/heights';
import type { Turns } from '../state/turns';
import { Icon } from './Icon';
import { LiveTurnView } from './LiveTurnView';
import { TurnView } from './TurnView';

const ESTIMATE = 240;
const BEYOND = 900;
/** Nearer than this to the end counts as being there. */
const AT_END = 40;
/** Scrolling that pauses this long is looking. */
const LOOKING_MS = 50;

export function TurnList({ turns }: { turns: Turns }) {
  const scroller = useRef<HTMLDivElement>(null);
  const heights = useMemo(() => new Heights(turns.total.value, ESTIMATE), [turns]);
  const top = useSignal(0);
  const view = useSignal(800);
  const redraw = useSignal(0);
  const followed = useSignal(true);
  const upwards = useRef(false);
  const total = turns.total.value;
  if (heights.rows !== total) heights.resize(total);
  redraw.value;
  turns.arrived.value;

  const first = total === 0 ? 0 : heights.at(Math.max(0, top.value - BEYOND));
  const last = total === 0 ? -1 : heights.at(top.value + view.value + BEYOND);

  const toEnd = () => {
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  };

  const measured = (row: number, height: number) => {
    const element = scroller.current;
    if (!element) return;
    const begins = heights.start(row);
    const grown = heights.set(row, height);
    if (grown === 0) return;
    // Reading upwards, rows fill in near the top of the view, and what was being read lies below them.
    const held = element.scrollTop + (upwards.current ? element.clientHeight / 2 : 0);
    if (!followed.peek() && begins < held) {
      element.scrollTop += grown;
      top.value = element.scrollTop;
    }
    redraw.value += 1;
  };

  // The tail first; then wherever the address points.
  useLayoutEffect(() => {
    const element = scroller.current!;
    view.value = element.clientHeight;
    followed.value = true;
    toEnd();
    top.value = element.scrollTop;
    const sizes = new ResizeObserver(() => {
      view.value = element.clientHeight;
      if (followed.peek()) toEnd();
    });
    sizes.observe(element);
    return () => sizes.disconnect();
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

  // Follow the end while the reader is there.
  useLayoutEffect(() => {
    if (followed.peek()) toEnd();
  });

  // Ask for what is looked at, not for everything that rushes by.
  useEffect(() => {
    const look = setTimeout(() => turns.want(first + 1, last + 1), heights.rows && turns.get(last + 1) ? LOOKING_MS : 0);
    return () => clearTimeout(look);
  }, [turns, first, last, total]);

  const scrolled = () => {
    const element = scroller.current!;
    // Our own corrections are no direction of reading.
    if (element.scrollTop !== top.peek()) upwards.current = element.scrollTop < top.peek();
    top.value = element.scrollTop;
    followed.value = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END;
  };

  const rows: ComponentChildren[] = [];
  for (let row = first; row <= last && row < total; row += 1) {
    rows.push(<Row key={row} row={row} total={total} measured={measured}><TurnView turns={turns} turn={row + 1} /></Row>);
  }
  const now = live.value?.session === turns.session ? live.value : null;
  return (
    <div class="turns-frame">
      <div class="turns" ref={scroller} onScroll={scrolled} tabIndex={0} role="feed" aria-label="Conversation" aria-busy={now?.state === 'running'}>
        <div class="turns-inner" style={{ paddingTop: `${heights.start(first)}px`, paddingBottom: `${Math.max(0, heights.end - heights.start(last + 1))}px` }}>
          {rows}
        </div>
        {now && <div class="turns-inner live"><LiveTurnView turn={now} /></div>}
      </div>
      {!followed.value && (
        <button class="to-end" onClick={() => { followed.value = true; toEnd(); }}><Icon name="down" size={15} /> Latest</button>
      )}
    </div>
  );
}

interface RowProps {
  row: number;
  total: number;
  measured: (row: number, height: number) => void;
  children: ComponentChildren;
}

/** One row, which tells its height whenever it changes. */
function Row({ row, total, measured, children }: RowProps) {
  const element = useRef<HTMLElement>(null);
  const tell = useRef(measured);
  tell.current = measured;
  const read = () => tell.current(row, element.current!.getBoundingClientRect().height);
  // At once when its turn arrives, so that nobody sees the view move; later changes are observed.
  useLayoutEffect(read);
  useLayoutEffect(() => {
    const sizes = new ResizeObserver(read);
    sizes.observe(element.current!);
    return () => sizes.disconnect();
  }, [row]);
  return (
    <article class="row" ref={element} aria-posinset={row + 1} aria-setsize={total} aria-label={`Turn ${row + 1}`} tabIndex={-1}>
      {children}
    </article>
  );
}
