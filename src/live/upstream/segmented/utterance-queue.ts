// The utterances of one leg on their way: a few are asked for at once, the others wait, and each answer is given on in the
// order in which the utterances were said. How an utterance is transcribed is the caller's.
import type { Segment } from '../../../audio/voice/segmenter.ts';
import type { BatchResult } from '../../../vendors/provider.ts';

/** Requests of one leg at a time. */
export const IN_FLIGHT_MAX = 2;

export interface QueueCalls {
  /** Rejects when it cannot be; the signal is aborted when the leg has ended. */
  transcribe(segment: Segment, signal: AbortSignal): Promise<BatchResult>;
  /** The answers, in the order of the utterances. */
  answered(segment: Segment, result: BatchResult): void;
  /** There is more room than before. */
  changed(): void;
  /** One could not be transcribed: the queue has stopped. */
  failed(error: unknown): void;
}

interface Entry {
  segment: Segment;
  begun: boolean;
  result: BatchResult | undefined;
}

export class UtteranceQueue {
  readonly #calls: QueueCalls;
  #entries: Entry[] = [];
  #inFlight = 0;
  readonly #end = new AbortController();

  constructor(calls: QueueCalls) {
    this.#calls = calls;
  }

  /** Utterances that were not answered yet, or wait for one before them. */
  get size(): number {
    return this.#entries.length;
  }

  /** Utterances that were not sent to the provider yet. */
  get waiting(): number {
    return this.#entries.filter(({ begun }) => !begun).length;
  }

  push(segment: Segment): void {
    if (this.#end.signal.aborted) return;
    this.#entries.push({ segment, begun: false, result: undefined });
    this.#begin();
  }

  /** Ends every request. Nothing is told any more. */
  stop(): void {
    this.#entries = [];
    this.#end.abort();
  }

  #begin(): void {
    for (const entry of this.#entries) {
      if (this.#inFlight >= IN_FLIGHT_MAX) return;
      if (!entry.begun) void this.#ask(entry);
    }
  }

  async #ask(entry: Entry): Promise<void> {
    const { signal } = this.#end;
    entry.begun = true;
    this.#inFlight++;
    try {
      entry.result = await this.#calls.transcribe(entry.segment, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.stop();
      this.#calls.failed(error);
      return;
    }
    this.#inFlight--;
    // Before it is told what was heard: what is begun now waits no more.
    this.#begin();
    this.#giveOn();
    this.#calls.changed();
  }

  #giveOn(): void {
    for (;;) {
      const [first] = this.#entries;
      if (first?.result === undefined) return;
      this.#entries.shift();
      this.#calls.answered(first.segment, first.result);
    }
  }
}
