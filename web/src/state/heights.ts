// The heights of rows, some measured and the rest estimated, and where each row therefore begins.
// This is what lets ten thousand turns scroll while only those in view exist.

export class Heights {
  private measured: Float64Array;
  private starts: Float64Array;
  private length: number;
  private fresh = false;

  constructor(length: number, private readonly estimate: number) {
    this.length = length;
    this.measured = new Float64Array(Math.max(16, length)).fill(-1);
    this.starts = new Float64Array(this.measured.length + 1);
  }

  get rows(): number {
    return this.length;
  }

  resize(length: number) {
    if (length > this.measured.length) {
      const grown = new Float64Array(Math.max(length, this.measured.length * 2)).fill(-1);
      grown.set(this.measured);
      this.measured = grown;
      this.starts = new Float64Array(grown.length + 1);
    }
    this.length = length;
    this.fresh = false;
  }

  of(row: number): number {
    const known = this.measured[row] ?? -1;
    return known < 0 ? this.estimate : known;
  }

  /** Notes a measured height; answers by how much the row grew. */
  set(row: number, height: number): number {
    const grown = height - this.of(row);
    this.measured[row] = height;
    if (grown !== 0) this.fresh = false;
    return grown;
  }

  /** Where a row begins; the row after the last begins where everything ends. */
  start(row: number): number {
    this.refresh();
    return this.starts[Math.min(row, this.length)] ?? 0;
  }

  get end(): number {
    return this.start(this.length);
  }

  /** The row at a distance from the top. */
  at(distance: number): number {
    this.refresh();
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle]! <= distance) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  private refresh() {
    if (this.fresh) return;
    let sum = 0;
    for (let row = 0; row < this.length; row += 1) {
      this.starts[row] = sum;
      sum += this.of(row);
    }
    this.starts[this.length] = sum;
    this.fresh = true;
  }
}
