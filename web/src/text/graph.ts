// Places for the nodes of a small graph: springs along edges, everything pushes everything else away.
// No chance in it, so the same graph always looks the same.

export type Edge = [number, number];
export interface Point {
  x: number;
  y: number;
}

const ROUNDS = 240;
const MARGIN = 26;

export function layOut(count: number, edges: Edge[], width: number, height: number): Point[] {
  const points: Point[] = Array.from({ length: count }, (_, index) => {
    const angle = (index / Math.max(1, count)) * Math.PI * 2;
    return { x: width / 2 + Math.cos(angle) * width * 0.35, y: height / 2 + Math.sin(angle) * height * 0.35 };
  });
  const length = Math.sqrt((width * height) / Math.max(1, count)) * 0.7;
  for (let round = 0; round < ROUNDS; round += 1) {
    const heat = 0.12 * (1 - round / ROUNDS);
    const moves: Point[] = points.map(() => ({ x: 0, y: 0 }));
    for (let one = 0; one < count; one += 1) {
      for (let two = one + 1; two < count; two += 1) {
        push(points, moves, one, two, (distance) => (length * length) / distance);
      }
    }
    for (const [one, two] of edges) push(points, moves, one, two, (distance) => -(distance * distance) / length);
    points.forEach((point, index) => {
      const move = moves[index]!;
      point.x = within(point.x + limited(move.x * heat), width);
      point.y = within(point.y + limited(move.y * heat), height);
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

const limited = (move: number) => Math.max(-12, Math.min(12, move));
const within = (place: number, size: number) => Math.max(MARGIN, Math.min(size - MARGIN, place));
