// The legs of a session: the last few with what became of each, and every step of the current one for those who log, count, trace and
// watch it. No content.
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

/** A leg that was requested. */
export interface LegPlace {
  model: string;
  generation: number;
  /** The node that has the connection, by its incarnation; null where none was opened. */
  legNode: string | null;
}

/** `opened`: the node that answers for it is known. `ready`: its provider takes audio. */
export interface LegNote extends LegPlace {
  event: 'asked' | 'opened' | 'ready' | 'failed' | 'closed';
  /** From `asked` to `ready`. */
  dialMs?: number;
  kind?: LegFailure['kind'];
  reason?: string;
}

const LEGS_MAX = 16;
const UNDER_WAY: ReadonlySet<string> = new Set(['connecting', 'streaming', 'suspended']);

export class LegRecords {
  readonly #onNote: (note: LegNote) => void;
  readonly #legs: { model: string; state: string; simulated?: true }[] = [];
  readonly #current: LegPlace = { model: '', generation: 0, legNode: null };
  /** When the current leg was requested; undefined before that, and once it is over. */
  #requestedMs: number | undefined;

  constructor(onNote: (note: LegNote) => void) {
    this.#onNote = onNote;
  }

  /** Another leg is meant from now on. */
  begin(model: string, generation: number): void {
    this.#legs.push({ model, state: 'connecting' });
    if (this.#legs.length > LEGS_MAX) this.#legs.shift();
    this.#current.model = model;
    this.#current.generation = generation;
  }

  requested(nowMs: number): void {
    this.#requestedMs = nowMs;
    this.#note('asked');
  }

  opened(leg: Address): void {
    if (this.#requestedMs === undefined) return;
    this.#current.legNode = nodeOf(leg);
    this.#note('opened');
  }

  ready(nowMs: number): void {
    this.#became('streaming');
    if (this.#requestedMs !== undefined) this.#note('ready', { dialMs: nowMs - this.#requestedMs });
  }

  simulated(): void {
    const leg = this.#legs.at(-1);
    if (leg !== undefined) leg.simulated = true;
  }

  /** Its node could not reach the provider: another one is asked. */
  moved(): void {
    if (this.#requestedMs !== undefined) this.#note('closed');
    this.#current.legNode = null;
  }

  /** Also of one that was passed over, and never requested. */
  failed({ kind, reason }: LegFailure): void {
    this.#became(reason);
    this.#note('failed', { kind, reason });
    this.#over();
  }

  /** Closed by the session; the failure of one that has failed was noted. */
  closed(): void {
    if (this.#requestedMs !== undefined) this.#note('closed');
    this.#over();
  }

  /** Closed because no audio comes. */
  suspended(): void {
    this.#became('suspended');
  }

  /** The leg that is open, and its node. */
  get open(): LegPlace | undefined {
    return this.#current.legNode === null ? undefined : { ...this.#current };
  }

  get all(): readonly LegRecord[] {
    return this.#legs;
  }

  /** Of a session that is over. */
  get atEnd(): LegRecord[] {
    return this.#legs.map((leg) => (UNDER_WAY.has(leg.state) ? { ...leg, state: 'closed' } : { ...leg }));
  }

  #over(): void {
    this.#requestedMs = undefined;
    this.#current.legNode = null;
  }

  #became(state: string): void {
    const leg = this.#legs.at(-1);
    if (leg !== undefined) leg.state = state;
  }

  #note(event: LegNote['event'], rest: Pick<LegNote, 'dialMs' | 'kind' | 'reason'> = {}): void {
    this.#onNote({ event, ...this.#current, ...rest });
  }
}
