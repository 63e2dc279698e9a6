// Messages that were not believed: counted by reason, and told to the operator in one line a minute at most. None is answered.

/** Why a message was not believed. */
export interface RefusedMessages {
  /** Nothing that a node ever says. */
  unsealed: number;
  /** Of a node with another wire version. */
  version: number;
  /** Sealed by somebody who has not this gateway's secret, or changed, or meant for another subject. */
  forged: number;
  /** It, or a later one of the same sender, was here before. */
  replayed: number;
  /** Of a sender that does not answer, or that has sent it long ago. */
  stale: number;
  /** More than can be kept until their senders have answered. */
  overflow: number;
}

export type RefusalReason = keyof RefusedMessages;

const nothing = (): RefusedMessages => ({ unsealed: 0, version: 0, forged: 0, replayed: 0, stale: 0, overflow: 0 });
export const REFUSAL_REASONS = Object.keys(nothing()) as readonly RefusalReason[];

const TOLD_MS = 60_000;
const WHAT_TO_DO: Readonly<Record<'version' | 'forged' | 'other', string>> = {
  version: 'Nodes of another version are on this NATS: nodes of two wire versions do not work together.',
  forged:
    'Give all nodes the same VOXGATE_SECRET, and while it is changed the one before as VOXGATE_SECRET_PREVIOUS; if they have it, somebody else writes to this NATS.',
  other: 'If this goes on, somebody else writes to this NATS.',
};

export interface RefusalOptions {
  /** A message was not believed. */
  onRefused?: ((reason: RefusalReason) => void) | undefined;
  /** Something that an operator should know of, as a sentence without content or credentials. */
  onFault?: ((sentence: string) => void) | undefined;
}

export class Refusals {
  readonly counts = nothing();
  readonly #options: RefusalOptions;
  readonly #now: () => number;
  #untold: Partial<RefusedMessages> = {};
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RefusalOptions, now = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  note(reason: RefusalReason): void {
    this.counts[reason]++;
    this.#options.onRefused?.(reason);
    this.#untold[reason] = (this.#untold[reason] ?? 0) + 1;
    const now = this.#now();
    if (now - this.#toldAtMs < TOLD_MS) return;
    const counts = Object.entries(this.#untold).map(([name, count]) => `${count} ${name}`);
    const { version, forged, unsealed } = this.#untold;
    const kind = version !== undefined ? 'version' : (forged ?? unsealed) !== undefined ? 'forged' : 'other';
    this.#toldAtMs = now;
    this.#untold = {};
    this.#options.onFault?.(`Messages on the bus were not believed (${counts.join(', ')}). ${WHAT_TO_DO[kind]}`);
  }
}
