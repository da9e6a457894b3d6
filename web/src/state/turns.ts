// The turns of the open session, loaded in pages as they come into view. A session may have many
// thousands: only what is looked at is ever asked for.
import { signal } from '@preact/signals';
import { at, get, query } from '../api/client';
import type { Turn, TurnBrief } from '../api/types';
import { renderAhead } from './ahead';
import { complainUnlessSilent } from './notices';

/** Turns a request; pages start at turn 1, 1 + PAGE, and so on. */
export const PAGE = 40;

export class Turns {
  /** How many there are. */
  readonly total = signal(0);
  /** Grows whenever a turn arrives, so that views look again. */
  readonly arrived = signal(0);
  private known = new Map<number, TurnBrief>();
  private full = new Map<number, Promise<Turn>>();
  /** Pages that were asked for, each with how many turns there were then. */
  private asked = new Map<number, number>();

  constructor(readonly session: string) {}

  get(turn: number): TurnBrief | undefined {
    return this.known.get(turn);
  }

  /** All loaded turns, oldest first. */
  loaded(): TurnBrief[] {
    return [...this.known.values()].sort((one, two) => one.turn - two.turn);
  }

  /** Asks for the pages that hold these turns, unless they are here or on their way. */
  want(first: number, last: number) {
    for (let page = Math.floor((Math.max(1, first) - 1) / PAGE); page * PAGE < last; page += 1) {
      const then = this.asked.get(page);
      // Turns of a page that is here may have been made elsewhere since.
      if (then === undefined || (then < this.total.peek() && !this.has(page, first, last))) void this.load(page);
    }
  }

  /** Waits until these turns are here. */
  async range(first: number, last: number) {
    const pages = Array.from({ length: Math.floor((last - 1) / PAGE) + 1 }, (_, page) => page).slice(Math.floor((Math.max(1, first) - 1) / PAGE));
    await Promise.all(pages.filter((page) => !this.has(page, first, last)).map((page) => this.load(page)));
  }

  private has(page: number, first: number, last: number): boolean {
    for (let turn = Math.max(first, page * PAGE + 1); turn <= Math.min(last, (page + 1) * PAGE); turn += 1) {
      if (!this.known.has(turn)) return false;
    }
    return true;
  }

  private async load(page: number) {
    this.asked.set(page, this.total.peek());
    try {
      // A cursor of the history is the number of the turn it begins with.
      const cursor = page * PAGE + 1;
      const answer = await get<{ turns: TurnBrief[] }>(
        at('conversations', this.session, 'history') + query({ limit: PAGE, order: 'asc', cursor }),
      );
      for (const turn of answer.turns) this.known.set(turn.turn, turn);
      this.arrived.value += 1;
      renderAhead(answer.turns.map((turn) => turn.reply).filter(Boolean));
    } catch (error) {
      this.asked.delete(page);
      complainUnlessSilent(error);
    }
  }

  /** A turn that was just made. */
  add(turn: Turn) {
    this.known.set(turn.turn, turn);
    this.full.set(turn.turn, Promise.resolve(turn));
    this.total.value = Math.max(this.total.value, turn.turn);
    this.arrived.value += 1;
  }

  /** A turn with its tool executions. */
  whole(turn: number): Promise<Turn> {
    let found = this.full.get(turn);
    if (!found) {
      found = get<Turn>(at('conversations', this.session, 'turns', turn));
      found.catch(() => this.full.delete(turn));
      this.full.set(turn, found);
    }
    return found;
  }
}
