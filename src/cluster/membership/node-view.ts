// The other nodes as this one hears them: which are present, which are silent, whose clock is wrong. Pure: the time is an
// argument.
import { GONE_MS, HEARTBEAT_MS, type Heartbeat } from './heartbeat.ts';

/** Nodes to remember; heartbeats of more are ignored. */
const NODES_MAX = 1024;
/** A larger difference between clocks is reported. */
const SKEW_MS_MAX = 2000;
/** Heartbeats in a row with a wrong clock, since one may be delayed. */
const SKEWED_BEATS = 3;

interface Seen {
  beat: Heartbeat;
  heardAtMs: number;
  skewedBeats: number;
  skewHeardAtMs: number;
  /** By its last heartbeat that was not held up. */
  skewMs: number;
  isSkewTold: boolean;
}

export interface BeatNews {
  /** Whether the set of nodes, or what one of them says of itself, has changed. */
  isChange: boolean;
  isNew: boolean;
  /** How far its clock is ahead of this one's (negative: behind); reported once for each node. */
  skewMs?: number;
}

export class NodeView {
  readonly #seen = new Map<string, Seen>();
  readonly #nodesMax: number;

  constructor(nodesMax = NODES_MAX) {
    this.#nodesMax = nodesMax;
  }

  get size(): number {
    return this.#seen.size;
  }

  /** In the order of their first heartbeats. */
  beats(): Heartbeat[] {
    return [...this.#seen.values()].map(({ beat }) => beat);
  }

  find(node: string): Heartbeat | undefined {
    return this.#seen.get(node)?.beat;
  }

  /** @returns undefined when there is no room for one more node */
  hear(beat: Heartbeat, nowMs: number, wallMs: number): BeatNews | undefined {
    const before = this.#seen.get(beat.node);
    if (before === undefined && this.#seen.size >= this.#nodesMax) return undefined;
    const seen: Seen = before ?? {
      beat,
      heardAtMs: nowMs,
      skewedBeats: 0,
      skewHeardAtMs: Number.NEGATIVE_INFINITY,
      skewMs: 0,
      isSkewTold: false,
    };
    const isChange = before === undefined || isOther(before.beat, beat);
    seen.beat = beat;
    seen.heardAtMs = nowMs;
    this.#seen.set(beat.node, seen);
    const skewMs = skewOf(seen, beat.wallMs - wallMs, nowMs);
    return { isChange, isNew: before === undefined, ...(skewMs !== undefined && { skewMs }) };
  }

  /** Returns its last heartbeat, and when that was heard, if it was present. */
  remove(node: string): Pick<Seen, 'beat' | 'heardAtMs'> | undefined {
    const seen = this.#seen.get(node);
    this.#seen.delete(node);
    return seen;
  }

  /** Nodes that have been silent for too long. */
  silent(nowMs: number): string[] {
    return [...this.#seen].filter(([, { heardAtMs }]) => nowMs - heardAtMs >= GONE_MS).map(([node]) => node);
  }

  /** Time until a node may have been silent for too long; undefined when there is none. */
  nextSilenceMs(nowMs: number): number | undefined {
    if (this.#seen.size === 0) return undefined;
    const oldest = Math.min(...[...this.#seen.values()].map(({ heardAtMs }) => heardAtMs));
    return Math.max(0, oldest + GONE_MS - nowMs);
  }

  /**
   * How far the clocks of the others are ahead of this one's (negative: behind), in the middle: one wrong clock is seen at its own node
   * only. 0 without others.
   */
  skewMs(): number {
    const skews = [...this.#seen.values()].map(({ skewMs }) => skewMs).sort((one, other) => one - other);
    const half = Math.floor(skews.length / 2);
    const upper = skews[half] ?? 0;
    return skews.length % 2 === 0 ? ((skews[half - 1] ?? 0) + upper) / 2 : upper;
  }

  /** After an outage: every node gets the full time again. */
  forgive(nowMs: number): void {
    for (const seen of this.#seen.values()) seen.heardAtMs = nowMs;
  }
}

export function skewWarning(id: string, skewMs: number, ownId: string): string {
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  const where = skewMs > 0 ? 'ahead of' : 'behind';
  return `The clock of the node "${id}" is ${seconds} s ${where} the one of "${ownId}": keep both right with NTP, or tokens end too soon or too late.`;
}

function isOther(before: Heartbeat, beat: Heartbeat): boolean {
  return (
    before.draining !== beat.draining ||
    before.id !== beat.id ||
    before.version !== beat.version ||
    before.upstreamRevision !== beat.upstreamRevision ||
    before.roles.join() !== beat.roles.join()
  );
}

function skewOf(seen: Seen, skewMs: number, nowMs: number): number | undefined {
  // Delayed heartbeats arrive together, and all look like a clock that is behind.
  if (nowMs - seen.skewHeardAtMs < HEARTBEAT_MS / 2) return undefined;
  seen.skewHeardAtMs = nowMs;
  seen.skewMs = skewMs;
  seen.skewedBeats = Math.abs(skewMs) > SKEW_MS_MAX ? seen.skewedBeats + 1 : 0;
  if (seen.isSkewTold || seen.skewedBeats < SKEWED_BEATS) return undefined;
  seen.isSkewTold = true;
  return skewMs;
}
