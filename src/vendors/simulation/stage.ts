// One provider as its clients meet it, without sockets: requests in, answers and connections out. It joins the simulator, its
// ears and the faults; a server or a simulation puts a network around it. It decides who is refused and who is not answered.
import type { Clock } from '../../../machines/clock.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../kit/simulation.ts';
import type { EarSource, OpenEar } from './ears.ts';
import { type Faults, readFaults } from './faults.ts';
import type { StagePeer } from './saying.ts';
import { StageConnection } from './stage-connection.ts';
import { transcribe } from './transcription.ts';

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

  /** Lets go of answers that wait for their time: they are given at once, to whoever still hears them. */
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
      transcribe: (file, language) => transcribe(this.#openEar, file, language),
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
