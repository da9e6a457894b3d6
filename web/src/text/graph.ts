// A graph laid out by springs, then moved apart until no box lies on another. What hangs together is laid out by itself, and
// the parts are put beside each other, so that a thing without relations is not driven far away. The same graph always looks the same.

export type Edge = [number, number];

export interface Point {
  x: number;
  y: number;
}

/** The room that a node and its label need, around the node's own place. */
export interface Box {
  left: number;
  right: number;
  up: number;
  down: number;
}

export interface Layout {
  places: Point[];
  /** The smallest frame around all boxes. */
  x: number;
  y: number;
  width: number;
  height: number;
}

const ROUNDS = 260;
const SPRING = 56;
const APART_ROUNDS = 400;
const MARGIN = 8;
/** The panel is wider than it is high. */
const WIDER = 1.2;

export function layOut(boxes: Box[], edges: Edge[]): Layout {
  const parts = partsOf(boxes.length, edges).map((members) => {
    const own = members.map((member) => boxes[member]!);
    const inner = edges.filter(([one]) => members.includes(one)).map(([one, two]): Edge => [members.indexOf(one), members.indexOf(two)]);
    const local = sprung(members.length, inner);
    moveApart(local, own);
    return { members, layout: framed(local, own) };
  });
  const places: Point[] = boxes.map(() => ({ x: 0, y: 0 }));
  // Rows as wide as the widest part, or as a square of them all would be.
  parts.sort((one, two) => two.layout.height - one.layout.height || one.members[0]! - two.members[0]!);
  const area = parts.reduce((sum, { layout }) => sum + layout.width * layout.height, 0);
  const widest = Math.max(Math.sqrt(area) * WIDER, ...parts.map(({ layout }) => layout.width));
  let [x, y, row] = [0, 0, 0];
  for (const { members, layout } of parts) {
    if (x > 0 && x + layout.width > widest) [x, y, row] = [0, y + row, 0];
    members.forEach((member, index) => (places[member] = { x: layout.places[index]!.x - layout.x + x, y: layout.places[index]!.y - layout.y + y }));
    x += layout.width;
    row = Math.max(row, layout.height);
  }
  return framed(places, boxes);
}

/** Nodes that hang together, each group in their order. */
function partsOf(count: number, edges: Edge[]): number[][] {
  const group = Array.from({ length: count }, (_, index) => index);
  const root = (node: number): number => (group[node] === node ? node : root(group[node]!));
  for (const [one, two] of edges) group[root(two)] = root(one);
  const parts = new Map<number, number[]>();
  for (let node = 0; node < count; node += 1) parts.set(root(node), [...(parts.get(root(node)) ?? []), node]);
  return [...parts.values()];
}

/** Places with the frame around their boxes. */
function framed(places: Point[], boxes: Box[]): Layout {
  const edgesOf = (pick: (place: Point, box: Box) => number, choose: (...all: number[]) => number) =>
    choose(...places.map((place, index) => pick(place, boxes[index]!)));
  const x = edgesOf((place, box) => place.x - box.left, Math.min) - MARGIN;
  const y = edgesOf((place, box) => place.y - box.up, Math.min) - MARGIN;
  return {
    places, x, y,
    width: edgesOf((place, box) => place.x + box.right, Math.max) + MARGIN - x,
    height: edgesOf((place, box) => place.y + box.down, Math.max) + MARGIN - y,
  };
}

function sprung(count: number, edges: Edge[]): Point[] {
  const around = SPRING * Math.sqrt(count);
  const points: Point[] = Array.from({ length: count }, (_, index) => {
    const angle = (index / Math.max(1, count)) * Math.PI * 2;
    return { x: Math.cos(angle) * around, y: Math.sin(angle) * around * 0.7 };
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const heat = 0.12 * (1 - round / ROUNDS);
    const moves: Point[] = points.map(({ x, y }) => ({ x: -x * 0.06, y: -y * 0.09 }));
    for (let one = 0; one < count; one += 1) {
      for (let two = one + 1; two < count; two += 1) push(points, moves, one, two, (distance) => (SPRING * SPRING) / distance);
    }
    for (const [one, two] of edges) push(points, moves, one, two, (distance) => -(distance * distance) / SPRING);
    points.forEach((point, index) => {
      point.x += limited(moves[index]!.x * heat);
      point.y += limited(moves[index]!.y * heat);
    });
  }
  return points;
}

function push(points: Point[], moves: Point[], one: number, two: number, force: (distance: number) => number) {
  const dx = points[one]!.x - points[two]!.x || 0.5;
  const dy = points[one]!.y - points[two]!.y || 0.5;
  const distance = Math.max(1, Math.hypot(dx, dy));
  const strength = force(distance) / distance;
  moves[one]!.x += dx * strength;
  moves[one]!.y += dy * strength;
  moves[two]!.x -= dx * strength;
  moves[two]!.y -= dy * strength;
}

const limited = (move: number) => Math.max(-14, Math.min(14, move));

/** Pushes overlapping boxes apart along the shorter way, until none overlaps. */
function moveApart(places: Point[], boxes: Box[]) {
  for (let round = 0; round < APART_ROUNDS; round += 1) {
    let moved = false;
    for (let one = 0; one < places.length; one += 1) {
      for (let two = one + 1; two < places.length; two += 1) moved = separate(places, boxes, one, two) || moved;
    }
    if (!moved) return;
  }
}

function separate(places: Point[], boxes: Box[], one: number, two: number): boolean {
  const [a, b, p, q] = [boxes[one]!, boxes[two]!, places[one]!, places[two]!];
  const across = Math.min(p.x + a.right, q.x + b.right) - Math.max(p.x - a.left, q.x - b.left);
  const along = Math.min(p.y + a.down, q.y + b.down) - Math.max(p.y - a.up, q.y - b.up);
  if (across <= 0 || along <= 0) return false;
  if (across < along) {
    const step = (across / 2 + 0.5) * (p.x < q.x || (p.x === q.x && one < two) ? -1 : 1);
    p.x += step;
    q.x -= step;
  } else {
    const step = (along / 2 + 0.5) * (p.y < q.y || (p.y === q.y && one < two) ? -1 : 1);
    p.y += step;
    q.y -= step;
  }
  return true;
}
