// Messages that were refused as not authentic: counted by reason, and reported to the operator in at most one line a minute. The
// sender gets no answer.

/** Why a message was refused. */
export interface RefusedMessages {
  /** Not a message of the gateway's protocol. */
  unsealed: number;
  /** From a node with another wire version. */
  version: number;
  /** Sealed without this gateway's secret, altered, or meant for another subject. */
  forged: number;
  /** A replay: this message was accepted before. */
  replayed: number;
  /** Its sender did not answer the challenge, or the message was held up on its way: later ones of the same sender arrived before. */
  stale: number;
  /** The buffer for messages of unverified senders is full. */
  overflow: number;
}

export type RefusalReason = keyof RefusedMessages;

const nothing = (): RefusedMessages => ({ unsealed: 0, version: 0, forged: 0, replayed: 0, stale: 0, overflow: 0 });
export const REFUSAL_REASONS = Object.keys(nothing()) as readonly RefusalReason[];

const TOLD_MS = 60_000;
const WHAT_TO_DO: Readonly<Record<'version' | 'forged' | 'stale' | 'other', string>> = {
  version: 'Nodes of another version are on this NATS: nodes of two wire versions do not work together.',
  forged:
    'Give all nodes the same VOXGATE_SECRET, and while it is changed the one before as VOXGATE_SECRET_PREVIOUS; if they have it, somebody else writes to this NATS.',
  stale: 'A node or NATS was frozen or overloaded. If this goes on without that, somebody else writes to this NATS.',
  other: 'If this goes on, somebody else writes to this NATS.',
};

export interface RefusalOptions {
  /** Call once for each refused message. */
  onRefused?: ((reason: RefusalReason) => void) | undefined;
  /** Reports to the operator: one sentence without content or credentials. */
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
    const kind = kindOf(this.#untold);
    this.#toldAtMs = now;
    this.#untold = {};
    const what = kind === 'stale' ? 'arrived too late and were dropped' : 'were not believed';
    this.#options.onFault?.(`Messages on the bus ${what} (${counts.join(', ')}). ${WHAT_TO_DO[kind]}`);
  }
}

function kindOf({ version, forged, unsealed, stale, ...rest }: Partial<RefusedMessages>): keyof typeof WHAT_TO_DO {
  if (version !== undefined) return 'version';
  if (forged !== undefined || unsealed !== undefined) return 'forged';
  return stale !== undefined && Object.keys(rest).length === 0 ? 'stale' : 'other';
}
