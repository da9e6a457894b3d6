// Line differences between two texts, by longest common subsequence.

export interface Line {
  change: 'same' | 'added' | 'removed';
  text: string;
}

/** Beyond this product of lengths the middle is shown as replaced instead of being compared. */
const CELLS_MAX = 4_000_000;

export function difference(before: string, after: string): Line[] {
  const one = before.split('\n');
  const two = after.split('\n');
  let start = 0;
  while (start < one.length && start < two.length && one[start] === two[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < two.length - start && one.at(-1 - end) === two.at(-1 - end)) end += 1;
  const same = (text: string): Line => ({ change: 'same', text });
  return [
    ...one.slice(0, start).map(same),
    ...middle(one.slice(start, one.length - end), two.slice(start, two.length - end)),
    ...one.slice(one.length - end).map(same),
  ];
}

function middle(one: string[], two: string[]): Line[] {
  const removed = (text: string): Line => ({ change: 'removed', text });
  const added = (text: string): Line => ({ change: 'added', text });
  if (one.length * two.length > CELLS_MAX) return [...one.map(removed), ...two.map(added)];
  const width = two.length + 1;
  const longest = new Uint32Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = two.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] =
        one[i] === two[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < one.length && j < two.length) {
    if (one[i] === two[j]) {
      lines.push({ change: 'same', text: one[i]! });
      i += 1;
      j += 1;
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) {
      lines.push(removed(one[i++]!));
    } else {
      lines.push(added(two[j++]!));
    }
  }
  return [...lines, ...one.slice(i).map(removed), ...two.slice(j).map(added)];
}
