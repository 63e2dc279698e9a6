// One provider as its clients meet it, without sockets: requests in, answers and connections out. It joins the simulator, its
// ears and the faults; a server or a simulation puts a network around it. It decides who is refused and who is not answered.
import type { Clock } from '../../../machines/clock.ts';
import { WavReader } from '../../audio/containers/wav.ts';
import type {
  EarMessage,
  HeardTurn,
  ProviderSimulator,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatorTools,
} from '../kit/simulation.ts';
import type { EarSource, OpenEar } from './ears.ts';
import { type Faults, readFaults } from './faults.ts';
import { withInventedTurns } from './invented-text.ts';
import type { StagePeer } from './saying.ts';
import { StageConnection } from './stage-connection.ts';

export interface StageOptions {
  simulator: ProviderSimulator;
  ear: EarSource;
  clock: Clock;
  /** `name` or `name=value` of src/vendors/simulation/faults.ts, or of the simulator's quirks. */
  faults?: readonly string[];
  /** Hears one line for each connection and request that is over. */
  onEnd?: (line: string) => void;
  /** Hears what a simulator throws; without it that is thrown on. */
  onFault?: (error: unknown) => void;
}

/** What becomes of an upgrade. */
export type StageUpgrade =
  | { type: 'refuse'; answer: SimulatedAnswer }
  | { type: 'hang' }
  | { type: 'accept'; subprotocol: string | undefined; connect(peer: StagePeer): StageConnection };

/** What `refuse-next` refuses with when `refuse` says nothing else. */
const REFUSED_STATUS = 503;

export class SimulatorStage {
  readonly simulator: ProviderSimulator;
  readonly #clock: Clock;
  readonly #openEar: OpenEar;
  readonly #faults: Faults;
  readonly #quirks: ReadonlyMap<string, string>;
  readonly #onEnd: (line: string) => void;
  readonly #onFault: (error: unknown) => void;
  readonly #waits = new Map<unknown, () => void>();
  #kept: unknown;
  #refusals = 0;
  #ids = 0;
  #numbers = 0;

  /** @throws FaultRefused when a fault is unknown or ill-formed. */
  constructor({ simulator, ear, clock, faults = [], onEnd = () => {}, onFault = rethrow }: StageOptions) {
    this.simulator = simulator;
    this.#clock = clock;
    this.#openEar = ear(clock);
    ({ faults: this.#faults, quirks: this.#quirks } = readFaults(faults, simulator.quirks));
    this.#onEnd = onEnd;
    this.#onFault = onFault;
  }

  /** Answers a request for a WebSocket. A simulator that throws is answered for with 500. */
  upgrade(request: SimulatedRequest): StageUpgrade {
    const tell = this.#teller(request);
    const refused = this.#refused();
    if (refused !== undefined) {
      tell(`refused with ${refused.status}`);
      return { type: 'refuse', answer: refused };
    }
    if (this.#faults.hang === true) {
      tell('not answered');
      return { type: 'hang' };
    }
    const connection = new StageConnection({
      simulator: this.simulator,
      openEar: this.#openEar,
      faults: this.#faults,
      clock: this.#clock,
      onEnd: tell,
      onFault: this.#onFault,
    });
    const upgrade = this.#try(() => this.simulator.upgrade(request, this.#tools(connection.openEar)));
    if ('refuse' in upgrade) {
      tell(`refused with ${upgrade.refuse.status}`);
      return { type: 'refuse', answer: upgrade.refuse };
    }
    return {
      type: 'accept',
      subprotocol: upgrade.subprotocol,
      connect: (peer) => connection.begin(peer, (own) => upgrade.connect(own)),
    };
  }

  /** Answers a request; undefined for one that is never answered. Never rejects unless a simulator throws and nobody hears it. */
  async http(request: SimulatedRequest): Promise<SimulatedAnswer | undefined> {
    const tell = this.#teller(request);
    const { hang, mute, latency } = this.#faults;
    const refused = this.#refused();
    if (refused === undefined && (hang === true || mute === true)) {
      tell('not answered');
      return undefined;
    }
    const answer = refused ?? (await this.#answer(request));
    if (latency !== undefined) await this.#wait(latency);
    tell(`${refused === undefined ? 'answered' : 'refused'} with ${answer.status}`);
    return answer;
  }

  /** Releases answers that wait for their time: they are given at once, to whoever still hears them. */
  close(): void {
    for (const [timer, go] of this.#waits) {
      this.#clock.clearTimeout(timer);
      go();
    }
    this.#waits.clear();
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(() => {
        this.#waits.delete(timer);
        resolve();
      }, delayMs);
      this.#waits.set(timer, resolve);
    });
  }

  async #answer(request: SimulatedRequest): Promise<SimulatedAnswer> {
    try {
      return await this.simulator.http(request, this.#tools(this.#openEar));
    } catch (error) {
      this.#onFault(error);
      return this.simulator.refusal(500);
    }
  }

  /** The refusal that a fault asks for, in the provider's words. */
  #refused(): SimulatedAnswer | undefined {
    const { refuse, 'refuse-next': count } = this.#faults;
    if (refuse === undefined && count === undefined) return undefined;
    if (this.#refusals >= (count ?? Number.POSITIVE_INFINITY)) return undefined;
    this.#refusals++;
    return this.simulator.refusal(refuse ?? REFUSED_STATUS);
  }

  #try(work: () => ReturnType<ProviderSimulator['upgrade']>): ReturnType<ProviderSimulator['upgrade']> {
    try {
      return work();
    } catch (error) {
      this.#onFault(error);
      return { refuse: this.simulator.refusal(500) };
    }
  }

  #tools(openEar: SimulatorTools['openEar']): SimulatorTools {
    return {
      clock: this.#clock,
      openEar,
      transcribe: async (file, language) => {
        const heard = await transcribe(this.#openEar, file, language);
        if (this.#faults['invented-text'] !== true) return heard;
        return { ...heard, turns: withInventedTurns(heard.turns, heard.seconds) };
      },
      quirk: (name) => this.#quirks.get(name),
      newId: () => {
        this.#ids++;
        return String(this.#ids);
      },
      shared: <Kept>(make: () => Kept) => {
        this.#kept ??= make();
        return this.#kept as Kept;
      },
    };
  }

  #teller({ method, url }: SimulatedRequest): (what: string) => void {
    this.#numbers++;
    const name = `#${this.#numbers} ${method} ${url.pathname}`;
    return (what) => this.#onEnd(`${name}: ${what}`);
  }
}

function rethrow(error: unknown): never {
  throw error;
}

// A whole file through an ear: the WAV reader's samples in, the turns out. The ear's queue sets the pace.
/** Largest file. */
export const FILE_BYTES_MAX = 2 * 1024 ** 3;
/** Given to the ear at a time, and left waiting in it at most. */
const PIECE_BYTES = 65_536;
const QUEUED_BYTES_MAX = 1024 * 1024;

/**
 * Transcribes a WAV file.
 *
 * @throws when it is larger than 2 GiB, no WAV file that can be read, or the ear fails.
 */
export async function transcribe(
  openEar: OpenEar,
  file: Uint8Array,
  language: string | undefined,
): Promise<{ seconds: number; turns: HeardTurn[] }> {
  if (file.byteLength > FILE_BYTES_MAX) throw new Error(`The file is larger than ${FILE_BYTES_MAX} bytes.`);
  const { samples, sampleRate } = readWav(file);
  const turns: HeardTurn[] = [];
  await hear(openEar, { sampleRate, language }, samples, (message) => {
    if (message.type !== 'final') return;
    const { text, start, end, words = [], confidence = 1 } = message;
    turns.push({ text, start, end, words, confidence });
  });
  return { seconds: samples.length / sampleRate, turns };
}

function readWav(file: Uint8Array): { samples: Int16Array; sampleRate: number } {
  const reader = new WavReader();
  const samples = reader.push(file);
  reader.end();
  return { samples, sampleRate: reader.format!.sampleRate };
}

/** Resolves when the ear has finished. */
function hear(
  openEar: OpenEar,
  request: { sampleRate: number; language: string | undefined },
  samples: Int16Array,
  onMessage: (message: EarMessage) => void,
): Promise<void> {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return new Promise((resolve, reject) => {
    let at = 0;
    let isFinishing = false;
    const feed = () => {
      while (at < bytes.length && ear.queuedBytes <= QUEUED_BYTES_MAX) {
        ear.audio(bytes.subarray(at, at + PIECE_BYTES));
        at += PIECE_BYTES;
      }
      if (at < bytes.length || isFinishing) return;
      isFinishing = true;
      ear.finish();
    };
    const listener = (message: EarMessage) => {
      onMessage(message);
      if (message.type === 'error') reject(new Error(`The ear failed: ${message.code}.`));
      if (message.type !== 'finished' && message.type !== 'error') return;
      ear.close();
      resolve();
    };
    const ear = openEar(request, listener, feed);
    feed();
  });
}
