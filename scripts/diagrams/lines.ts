// Plane geometry of arrows that run level and upright only: how long they are, where they cross, and their path in SVG.
export interface Point {
  x: number;
  y: number;
}

type Segment = readonly [Point, Point];

const CORNER_RADIUS = 8;
const HEAD_LENGTH = 8;
const HEAD_WIDTH = 7;
/** A step aside that is smaller than this looks like a mistake. */
const STEP_MIN = 6;

export const length = (points: readonly Point[]): number =>
  segmentsOf(points).reduce((sum, [from, to]) => sum + Math.abs(from.x - to.x) + Math.abs(from.y - to.y), 0);

/** How often arrows cross each other. */
export function crossings(lines: readonly (readonly Point[])[]): number {
  let count = 0;
  for (const [index, line] of lines.entries()) {
    for (const other of lines.slice(index + 1)) {
      for (const segment of segmentsOf(line)) count += segmentsOf(other).filter((its) => doCross(segment, its)).length;
    }
  }
  return count;
}

function doCross(one: Segment, other: Segment): boolean {
  const isLevel = one[0].y === one[1].y;
  const [level, upright] = isLevel ? [one, other] : [other, one];
  const isBetween = (value: number, a: number, b: number) => value > Math.min(a, b) && value < Math.max(a, b);
  return isBetween(upright[0].x, level[0].x, level[1].x) && isBetween(level[0].y, upright[0].y, upright[1].y);
}

export const segmentsOf = (points: readonly Point[]): Segment[] =>
  points.slice(1).map((to, index) => [points[index] as Point, to]);

/** Takes small steps aside out of an arrow that runs down or up. */
export function straighten(points: readonly Point[]): Point[] {
  const straight = points.map(({ x, y }) => ({ x, y }));
  for (let index = 1; index + 2 < straight.length; index += 1) {
    const [from, to, end] = [straight[index], straight[index + 1], straight[index + 2]] as [Point, Point, Point];
    if (from.y !== to.y || Math.abs(from.x - to.x) >= STEP_MIN) continue;
    end.x = from.x;
    straight.splice(index, 2);
    index -= 1;
  }
  return straight;
}

/** The `d` of a path with round corners, which ends where the head begins. */
export function linePath(points: readonly Point[]): string {
  const ends = [...points.slice(0, -1), towards(points.at(-1) as Point, points.at(-2) as Point, HEAD_LENGTH - 1)];
  return ends
    .map((point, index) => {
      const [before, after] = [ends[index - 1], ends[index + 1]];
      if (before === undefined) return `M${at(point)}`;
      if (after === undefined) return `L${at(point)}`;
      const radius = Math.min(CORNER_RADIUS, length([before, point]) / 2, length([point, after]) / 2);
      return `L${at(towards(point, before, radius))}Q${at(point)} ${at(towards(point, after, radius))}`;
    })
    .join('');
}

/** The `d` of the head of an arrow. */
export function headPath(points: readonly Point[]): string {
  const [before, tip] = points.slice(-2) as [Point, Point];
  const foot = towards(tip, before, HEAD_LENGTH);
  const isUpright = before.x === tip.x;
  const half = HEAD_WIDTH / 2;
  const side = (sign: number): Point =>
    isUpright ? { x: foot.x + sign * half, y: foot.y } : { x: foot.x, y: foot.y + sign * half };
  return `M${at(tip)}L${at(side(1))}L${at(side(-1))}Z`;
}

/** A number as it is written into a drawing. */
export const digits = (value: number): string => String(Math.round(value * 10) / 10);

const at = ({ x, y }: Point): string => `${digits(x)} ${digits(y)}`;

function towards(from: Point, to: Point, distance: number): Point {
  return { x: from.x + Math.sign(to.x - from.x) * distance, y: from.y + Math.sign(to.y - from.y) * distance };
}
