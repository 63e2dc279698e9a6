// The bounds of turns as the consumer was told them, with `turnEvents`: a connection that breaks leaves none of them open.
import type { Transcript, TurnEagerEnd, TurnEnded, TurnResumed } from '../../types/events.ts';

export class TurnBounds {
  /** The gateway tells them. */
  isTold = false;
  #eager: TurnEagerEnd | undefined;
  /** Its final was told, and not its end. */
  #final: Transcript | undefined;

  eagerEnd(event: TurnEagerEnd): TurnEagerEnd {
    this.#eager = event;
    return event;
  }

  /** Undefined where the end that is taken back was not told. */
  resumed(event: TurnResumed): TurnResumed | undefined {
    const isOpen = this.#eager !== undefined;
    this.#eager = undefined;
    return isOpen ? event : undefined;
  }

  final(event: Transcript): void {
    if (this.isTold) this.#final = event;
  }

  ended(event: TurnEnded): TurnEnded {
    this.#eager = undefined;
    this.#final = undefined;
    return event;
  }

  /** What is told when the connection is over: a turn that has its final is over, any other is heard again. */
  close(): (TurnResumed | TurnEnded)[] {
    const { session_id = '', seq = 0, at = '', turn = 0, start = 0, end = 0 } = this.#final ?? this.#eager ?? {};
    if (this.#final !== undefined) return [this.ended({ type: 'turn_ended', session_id, seq, at, turn, start, end })];
    const resumed = this.resumed({ type: 'turn_resumed', session_id, seq, at, turn, reason: 'reheard' });
    return resumed === undefined ? [] : [resumed];
  }
}
