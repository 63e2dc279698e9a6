// The legs of a session as its watchers are shown them: the last few, and what became of each.
import type { LegFailure } from '../../../../machines/events.ts';
import type { Address } from '../../../cluster/bus/bus.ts';
import { nodeOf } from '../../../cluster/bus/subjects.ts';

/** `state`: `connecting`, `streaming`, why it was lost, or `closed` once the session is over. */
export interface LegRecord {
  readonly model: string;
  readonly state: string;
  /** Its provider has said that it is simulated. */
  readonly simulated?: true;
}

const LEGS_MAX = 16;
const UNDER_WAY: ReadonlySet<string> = new Set(['connecting', 'streaming', 'suspended']);

export class LegHistory {
  readonly #legs: { model: string; state: string; simulated?: true }[] = [];

  opened(model: string): void {
    this.#legs.push({ model, state: 'connecting' });
    if (this.#legs.length > LEGS_MAX) this.#legs.shift();
  }

  /** What the latest leg is doing, or why it was lost. */
  became(state: string): void {
    const leg = this.#legs.at(-1);
    if (leg !== undefined) leg.state = state;
  }

  simulated(): void {
    const leg = this.#legs.at(-1);
    if (leg !== undefined) leg.simulated = true;
  }

  get all(): readonly LegRecord[] {
    return this.#legs;
  }

  /** Of a session that is over. */
  get atEnd(): LegRecord[] {
    return this.#legs.map((leg) => (UNDER_WAY.has(leg.state) ? { ...leg, state: 'closed' } : { ...leg }));
  }
}

/** `opened`: the node that answers for it is known. `ready`: its provider takes audio. */
export interface LegNote {
  event: 'asked' | 'opened' | 'ready' | 'failed' | 'closed';
  sessionId: string;
  model: string;
  generation: number;
  /** The node that has the connection, by its incarnation; null where none was opened. */
  legNode: string | null;
  /** From `asked` to `ready`. */
  dialMs?: number;
  kind?: LegFailure['kind'];
  reason?: string;
}

type Leg = Pick<LegNote, 'model' | 'generation' | 'legNode'>;

export class LegNotes {
  readonly #tell: (note: LegNote) => void;
  readonly #sessionId: string;
  #leg: Leg | undefined;
  #askedMs = 0;

  constructor(sessionId: string, tell: (note: LegNote) => void) {
    this.#tell = tell;
    this.#sessionId = sessionId;
  }

  asked(model: string, generation: number, nowMs: number): void {
    this.#askedMs = nowMs;
    this.#leg = { model, generation, legNode: null };
    this.#note('asked', this.#leg);
  }

  opened(leg: Address): void {
    if (this.#leg === undefined) return;
    this.#leg.legNode = nodeOf(leg);
    this.#note('opened', this.#leg);
  }

  ready(nowMs: number): void {
    if (this.#leg !== undefined) this.#note('ready', this.#leg, { dialMs: nowMs - this.#askedMs });
  }

  /** Also of one that was passed over, and never asked for. */
  failed(model: string, generation: number, { kind, reason }: LegFailure): void {
    const leg = this.#leg ?? { model, generation, legNode: null };
    this.#leg = undefined;
    this.#note('failed', leg, { kind, reason });
  }

  /** Its node could not reach the provider: another one is asked. */
  moved(): void {
    if (this.#leg === undefined) return;
    this.#note('closed', this.#leg);
    this.#leg.legNode = null;
  }

  /** Let go of; one that has failed was told of. */
  closed(): void {
    const leg = this.#leg;
    this.#leg = undefined;
    if (leg !== undefined) this.#note('closed', leg);
  }

  #note(event: LegNote['event'], leg: Leg, rest: Pick<LegNote, 'dialMs' | 'kind' | 'reason'> = {}): void {
    this.#tell({ event, sessionId: this.#sessionId, ...leg, ...rest });
  }
}
