// The other nodes as this one has heard of them: who is there, who is silent, whose clock is wrong. Pure:
// the time is given; what follows from it is membership.ts.
import { GONE_MS, HEARTBEAT_MS, type Heartbeat } from './heartbeat.ts';

/** Nodes that are remembered; more are not heard of. */
const NODES_MAX = 1024;
/** Clocks that differ by more are told of. */
const SKEW_MS_MAX = 2000;
/** Heartbeats in a row: one may have waited somewhere. */
const SKEWED_BEATS = 3;

interface Seen {
  beat: Heartbeat;
  heardAtMs: number;
  skewedBeats: number;
  skewHeardAtMs: number;
  isSkewTold: boolean;
}

export interface BeatNews {
  /** Whether who is there, or what they do, is not what it was. */
  isChange: boolean;
  isNew: boolean;
  /** How far its clock is ahead of this one's (negative: behind); told once of a node. */
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

  /** In the order in which they were first heard. */
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
      isSkewTold: false,
    };
    const isChange = before === undefined || isOther(before.beat, beat);
    seen.beat = beat;
    seen.heardAtMs = nowMs;
    this.#seen.set(beat.node, seen);
    const skewMs = skewOf(seen, beat.wallMs - wallMs, nowMs);
    return { isChange, isNew: before === undefined, ...(skewMs !== undefined && { skewMs }) };
  }

  /** Whether it was there. */
  remove(node: string): boolean {
    return this.#seen.delete(node);
  }

  /** Nodes that have not been heard for too long. */
  silent(nowMs: number): string[] {
    return [...this.#seen].filter(([, { heardAtMs }]) => nowMs - heardAtMs >= GONE_MS).map(([node]) => node);
  }

  /** Time until one may be silent for too long; undefined when there is none. */
  nextSilenceMs(nowMs: number): number | undefined {
    if (this.#seen.size === 0) return undefined;
    const oldest = Math.min(...[...this.#seen.values()].map(({ heardAtMs }) => heardAtMs));
    return Math.max(0, oldest + GONE_MS - nowMs);
  }

  /** Nobody could be heard up to now: everyone has the whole time again. */
  forgive(nowMs: number): void {
    for (const seen of this.#seen.values()) seen.heardAtMs = nowMs;
  }
}

function isOther(before: Heartbeat, beat: Heartbeat): boolean {
  return (
    before.draining !== beat.draining ||
    before.id !== beat.id ||
    before.version !== beat.version ||
    before.roles.join() !== beat.roles.join()
  );
}

function skewOf(seen: Seen, skewMs: number, nowMs: number): number | undefined {
  // Heartbeats that waited somewhere come together, and all say that their node is behind.
  if (nowMs - seen.skewHeardAtMs < HEARTBEAT_MS / 2) return undefined;
  seen.skewHeardAtMs = nowMs;
  seen.skewedBeats = Math.abs(skewMs) > SKEW_MS_MAX ? seen.skewedBeats + 1 : 0;
  if (seen.isSkewTold || seen.skewedBeats < SKEWED_BEATS) return undefined;
  seen.isSkewTold = true;
  return skewMs;
}
