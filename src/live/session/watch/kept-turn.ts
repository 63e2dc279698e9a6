// A final in the log of its session. As a frame it would take three times as much memory, and each of thousands of sessions keeps hundreds.
import type { FrameBody, WatchedFrame } from '../../../api/console/watching.ts';
import type { TurnNote } from './session-observer.ts';

type Mark = Extract<FrameBody, { kind: 'mark' }>;

export class KeptTurn {
  readonly sequence: number;
  readonly #atMs: number;
  readonly #turn: number;
  readonly #model: string;
  readonly #start: number;
  readonly #end: number;
  readonly #finalMs: number | undefined;
  readonly #gatewayMs: number;
  /** Undefined where it is not kept, or no more. */
  transcript: string | undefined;

  constructor(
    sequence: number,
    atMs: number,
    { turn, model, start, end, finalMs, gatewayMs }: Omit<TurnNote, 'partialMs'>,
    transcript: string | undefined,
  ) {
    this.sequence = sequence;
    this.#atMs = atMs;
    this.#turn = turn;
    this.#model = model;
    this.#start = start;
    this.#end = end;
    this.#finalMs = finalMs;
    this.#gatewayMs = gatewayMs;
    this.transcript = transcript;
  }

  get frame(): WatchedFrame {
    const about = { turn: this.#turn, model: this.#model, start: this.#start, end: this.#end };
    const mark = markOf({ ...about, finalMs: this.#finalMs, gatewayMs: this.#gatewayMs }, this.transcript);
    return { ...mark, sequence: this.sequence, at: new Date(this.#atMs).toISOString() };
  }
}

export function markOf(
  { turn, model, start, end, finalMs, gatewayMs }: Omit<TurnNote, 'partialMs'>,
  transcript: string | undefined,
): Mark {
  return {
    ...{ kind: 'mark', mark: 'turn_final', text: `turn ${turn}`, model, start, end },
    ...(finalMs === undefined ? {} : { final_ms: finalMs }),
    gateway_ms: gatewayMs,
    ...(transcript === undefined ? {} : { transcript }),
  };
}
