// What is told of the legs of one session: each that is opened, has failed or is let go of, up to a number, without content.
import type { LegFailure } from '../../../machines/events.ts';
import type { Address } from '../../bus/bus.ts';
import { nodeOf } from '../../bus/subjects.ts';

/** One line of the log. */
export interface LegNote {
  event: 'opened' | 'failed' | 'closed';
  sessionId: string;
  model: string;
  generation: number;
  /** The node that has the connection, by its incarnation; null where none was opened. */
  legNode: string | null;
  kind?: LegFailure['kind'];
  reason?: string;
}

/** A session that changes its legs more often than this is told of by its end alone. */
const NOTES_MAX = 64;

export class LegNotes {
  readonly #tell: ((note: LegNote) => void) | undefined;
  readonly #sessionId: string;
  #leg: Pick<LegNote, 'model' | 'generation' | 'legNode'> | undefined;
  #count = 0;

  constructor(sessionId: string, tell: ((note: LegNote) => void) | undefined) {
    this.#sessionId = sessionId;
    this.#tell = tell;
  }

  opened(model: string, generation: number, leg: Address): void {
    this.#leg = { model, generation, legNode: nodeOf(leg) };
    this.#note('opened', this.#leg);
  }

  failed(model: string, generation: number, { kind, reason }: LegFailure): void {
    const legNode = this.#leg?.legNode ?? null;
    this.#leg = undefined;
    this.#note('failed', { model, generation, legNode, kind, reason });
  }

  /** Let go of; one that has failed was told of. */
  closed(): void {
    const leg = this.#leg;
    this.#leg = undefined;
    if (leg !== undefined) this.#note('closed', leg);
  }

  #note(event: LegNote['event'], rest: Omit<LegNote, 'event' | 'sessionId'>): void {
    if (this.#count >= NOTES_MAX) return;
    this.#count++;
    this.#tell?.({ event, sessionId: this.#sessionId, ...rest });
  }
}
