// Which utterance is decoded next: what is spoken now goes before recordings, finals go before interims, organisations take turns, and
// so do the streams of each.

/** How soon it is needed. */
export type Urgency = 'final' | 'interim' | 'recording';

/** What a decode is done for. */
export interface DecodeOwner {
  organisation: string | undefined;
  /** When it was served last: a counter over all streams. */
  turn: number;
}

interface Job {
  owner: DecodeOwner;
  urgency: Urgency;
  start(): Promise<void>;
}

const ORDER: readonly Urgency[] = ['final', 'interim', 'recording'];

export class DecodeQueue {
  readonly #slots: number;
  readonly #jobs: Job[] = [];
  /** When an organisation was served last. */
  readonly #turns = new Map<string | undefined, number>();
  #running = 0;
  #recordings = 0;
  #turn = 0;
  /** Streams whose audio comes as it is spoken: one slot is theirs. */
  #live = 0;

  /** @param slots decodes at a time */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Organisations that it remembers the turns of. */
  get organisations(): number {
    return this.#turns.size;
  }

  addLive(change: 1 | -1): void {
    this.#live += change;
    this.#run();
  }

  /** Runs the work when it is its turn. Rejects as it does. */
  do<Result>(owner: DecodeOwner, urgency: Urgency, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ owner, urgency, start: () => work().then(resolve, reject) });
      this.#run();
    });
  }

  #run(): void {
    while (this.#running < this.#slots) {
      const job = this.#next();
      if (job === undefined) return;
      this.#running++;
      const isRecording = job.urgency === 'recording';
      if (isRecording) this.#recordings++;
      void job.start().finally(() => {
        this.#running--;
        if (isRecording) this.#recordings--;
        this.#run();
      });
    }
  }

  #next(): Job | undefined {
    const recordingsMax = this.#live > 0 ? Math.max(1, this.#slots - 1) : this.#slots;
    let best: Job | undefined;
    for (const job of this.#jobs) {
      if (job.urgency === 'recording' && this.#recordings >= recordingsMax) continue;
      if (best === undefined || this.#isBefore(job, best)) best = job;
    }
    if (best === undefined) return undefined;
    this.#jobs.splice(this.#jobs.indexOf(best), 1);
    this.#turn++;
    best.owner.turn = this.#turn;
    this.#turns.delete(best.owner.organisation);
    this.#turns.set(best.owner.organisation, this.#turn);
    this.#forget();
    return best;
  }

  #isBefore(one: Job, other: Job): boolean {
    const urgency = ORDER.indexOf(one.urgency) - ORDER.indexOf(other.urgency);
    if (urgency !== 0) return urgency < 0;
    const organisation =
      (this.#turns.get(one.owner.organisation) ?? 0) - (this.#turns.get(other.owner.organisation) ?? 0);
    if (organisation !== 0) return organisation < 0;
    return one.owner.turn < other.owner.turn;
  }

  /** One that was served long ago comes first, as one that never was does. */
  #forget(): void {
    if (this.#turns.size <= ORGANISATIONS_MAX) return;
    const [oldest] = this.#turns.keys();
    this.#turns.delete(oldest);
  }
}

const ORGANISATIONS_MAX = 1_000;
