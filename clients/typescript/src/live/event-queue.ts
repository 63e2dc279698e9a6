// Events that wait to be read, within a bound: an interim gives way to a later one of its turn, a final is never dropped.
import type { SessionEvent } from '../events.ts';

const DONE: IteratorResult<SessionEvent, undefined> = { done: true, value: undefined };

interface Reader {
  resolve(result: IteratorResult<SessionEvent, undefined>): void;
  reject(error: unknown): void;
}

export class EventQueue {
  readonly #eventsMax: number;
  #waiting: SessionEvent[] = [];
  #readers: Reader[] = [];
  #seq = 0;
  #end: { error: unknown } | undefined;
  #isEnded = false;

  constructor(eventsMax: number) {
    this.#eventsMax = eventsMax;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** False where there is no room: the event is not taken. */
  push(event: SessionEvent): boolean {
    if (this.#isEnded) return true;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve(this.#numbered(event));
      return true;
    }
    if (event.type === 'transcript') this.#dropInterims(event.turn);
    if (this.#waiting.length >= this.#eventsMax && event.type !== 'session_ended') return false;
    this.#waiting.push(event);
    return true;
  }

  /** No more events: who reads hears what waits, then the end or the error. The first call counts. */
  end(failure?: { error: unknown }): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#end = failure;
    for (const reader of this.#readers.splice(0)) this.#finish(reader);
  }

  next(): Promise<IteratorResult<SessionEvent, undefined>> {
    return new Promise((resolve, reject) => {
      const event = this.#waiting.shift();
      if (event !== undefined) resolve(this.#numbered(event));
      else if (this.#isEnded) this.#finish({ resolve, reject });
      else this.#readers.push({ resolve, reject });
    });
  }

  /** An error is told once, as by any iterator; then there is nothing more. */
  #finish({ resolve, reject }: Reader): void {
    const failure = this.#end;
    this.#end = undefined;
    if (failure === undefined) resolve(DONE);
    else reject(failure.error);
  }

  /** Numbered as they are read, so that there are no gaps whatever was left out. */
  #numbered(event: SessionEvent): IteratorResult<SessionEvent, undefined> {
    this.#seq++;
    return { done: false, value: { ...event, seq: this.#seq } };
  }

  #dropInterims(turn: number): void {
    this.#waiting = this.#waiting.filter((each) => each.type !== 'transcript' || each.is_final || each.turn !== turn);
  }
}
