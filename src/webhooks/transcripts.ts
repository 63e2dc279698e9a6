// What is said in live sessions of organisations with a webhook that wants it: gathered while the session is live, and kept for the event of
// its end. The session does not wait for anything here.
import type { Clock } from '../../machines/clock.ts';
import type { WebhookSeal } from './seal.ts';
import type { WebhookStore } from './store/calls.ts';

/** Whether an organisation wants transcripts is known for so long. */
const KNOWN_MS = 30_000;
const KNOWN_MAX = 10_000;
/** Of the turns of one session, as JSON. */
const TRANSCRIPT_BYTES_MAX = 120_000;
/** What a turn takes besides its text. */
const TURN_BYTES = 60;

export interface TranscribedTurn {
  /** Seconds of the session. */
  start: number;
  end: number;
  text: string;
}

/** As it is kept. */
export interface Transcript {
  turns: TranscribedTurn[];
  /** Later turns had no room. */
  isCut: boolean;
}

export interface TranscriptsOptions {
  store: Pick<WebhookStore, 'wantsTranscripts' | 'keepWebhookTranscript'>;
  seal: WebhookSeal;
  clock: Clock;
  onFault(error: unknown): void;
}

interface Known {
  atMs: number;
  /** Undefined until it is known. Never rejects. */
  wants: boolean | undefined;
  wanted: Promise<boolean>;
}

export class Transcripts {
  readonly #options: TranscriptsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** Gathers what is said in a session; undefined where its organisation does not want it. */
  gather(organisationId: string, sessionId: string): GatheredTranscript | undefined {
    const { wants, wanted } = this.#wantedBy(organisationId);
    if (wants === false) return undefined;
    const { store, seal, onFault } = this.#options;
    const gathered = new GatheredTranscript(wanted, async (transcript) => {
      try {
        const sealed = seal.seal({ organisationId, id: sessionId }, JSON.stringify(transcript));
        await store.keepWebhookTranscript(organisationId, sessionId, sealed);
      } catch (error) {
        onFault(error);
      }
    });
    return gathered;
  }

  #wantedBy(organisationId: string): Known {
    const { store, clock, onFault } = this.#options;
    const before = this.#known.get(organisationId);
    if (before !== undefined && clock.now() - before.atMs < KNOWN_MS) return before;
    const wanted = store.wantsTranscripts(organisationId).catch((error: unknown) => {
      onFault(error);
      return false;
    });
    // While it is looked up again, the former answer holds.
    const known: Known = { atMs: clock.now(), wants: before?.wants, wanted };
    void wanted.then((wants) => {
      known.wants = wants;
    });
    this.#known.delete(organisationId);
    this.#known.set(organisationId, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_MAX) break;
      this.#known.delete(oldest);
    }
    return known;
  }
}

export class GatheredTranscript {
  readonly #wanted: Promise<boolean>;
  readonly #keep: (transcript: Transcript) => Promise<void>;
  #turns: TranscribedTurn[] = [];
  #bytes = 0;
  #isCut = false;
  #isWanted = true;

  constructor(wanted: Promise<boolean>, keep: (transcript: Transcript) => Promise<void>) {
    this.#wanted = wanted;
    this.#keep = keep;
    void wanted.then((isWanted) => {
      this.#isWanted = isWanted;
      if (!isWanted) this.#turns = [];
    });
  }

  /** A turn has its final. */
  turn({ start, end }: Omit<TranscribedTurn, 'text'>, text: string): void {
    if (!this.#isWanted || text === '' || this.#isCut) return;
    this.#bytes += Buffer.byteLength(JSON.stringify(text)) + TURN_BYTES;
    this.#isCut = this.#bytes > TRANSCRIPT_BYTES_MAX;
    if (!this.#isCut) this.#turns.push({ start, end, text });
  }

  /** The session has ended. Never rejects. */
  async end(): Promise<void> {
    if (!(await this.#wanted)) return;
    await this.#keep({ turns: this.#turns, isCut: this.#isCut });
  }
}
