// One upgraded connection: joins the simulator's half, its ears, the faults and the peer that the network gives it. Whoever
// brings the network drives it with `text`, `bytes` and `gone`.
import type { Clock } from '../../../machines/clock.ts';
import type { DemandedFault } from '../../../machines/events.ts';
import { demandOf } from '../kit/simulated-wire.ts';
import type { ProviderSimulator, SimulatedConnection, SimulatedPeer, SimulatorTools } from '../kit/simulation.ts';
import { Timers } from '../kit/simulator/session.ts';
import type { OpenEar } from './ears.ts';
import type { FaultName, Faults } from './faults.ts';
import { Hearing, type Mark } from './hearing.ts';
import { BREACHES, Saying, type StagePeer } from './saying.ts';

export interface StageConnectionOptions {
  simulator: ProviderSimulator;
  openEar: OpenEar;
  faults: Faults;
  clock: Clock;
  /** The connection is over; in words for people. */
  onEnd: (story: string) => void;
  /** The simulator threw; its connection was closed with 1011. */
  onFault: (error: unknown) => void;
}

/** A connection that is neither read nor answered is reset after so long: its client may be gone unseen. */
const FROZEN_MS = 600_000;
const INTERNAL_ERROR = 1011;
/** What an empty close frame is read as. */
const NO_CODE = 1005;

export class StageConnection {
  readonly #options: StageConnectionOptions;
  readonly #hearing: Hearing;
  readonly #played = new Set<FaultName>();
  readonly #timers: Timers;
  #peer: StagePeer | undefined;
  #saying: Saying | undefined;
  #connection: SimulatedConnection | undefined;
  /** Who ended it, where it was the provider. */
  #ending: string | undefined;
  #deaf = false;
  #over = false;

  constructor(options: StageConnectionOptions) {
    this.#options = options;
    this.#timers = new Timers(options.clock);
    this.#hearing = new Hearing({
      openEar: options.openEar,
      faults: options.faults,
      marks: this.#marks(),
      onPlayed: this.#onPlayed,
      finishing: () => this.#saying?.beginTail(),
      guarded: (work) => this.#guarded(work),
      duringTurn: (turn, pass) => this.#saying?.duringTurn(turn, pass),
      whenFinalsAreOut: (work) => this.#saying?.whenFinalsAreOut(work),
    });
  }

  /** For the simulator's tools: opens ears that belong to this connection. */
  readonly openEar: SimulatorTools['openEar'] = (request, listener) => this.#hearing.open(request, listener);

  /** The upgrade was answered: from now on both sides talk. */
  begin(peer: StagePeer, connect: (peer: SimulatedPeer) => SimulatedConnection): this {
    const { faults, clock, simulator } = this.#options;
    const saying = new Saying({
      faults,
      clock,
      peer,
      simulator,
      onPlayed: this.#onPlayed,
    });
    this.#peer = peer;
    this.#saying = saying;
    if (faults.mute === true) {
      this.#onPlayed('mute');
      saying.silence();
    }
    this.#guarded(() => {
      this.#connection = connect({
        send: (message) => saying.say(message),
        close: (code, reason) => this.#close(code, reason),
      });
    });
    this.#hearing.begin();
    const failMs = faults['error-after'];
    if (failMs === 0) queueMicrotask(() => this.#fail());
    else if (failMs !== undefined) this.#timers.after(failMs, () => this.#fail());
    return this;
  }

  text(text: string): void {
    if (!this.#hears) return;
    const demand = demandOf(text);
    if (demand === undefined) this.#guarded(() => this.#connection?.text(text));
    else this.#play(demand);
  }

  /** The bytes are the caller's again once it returns. */
  bytes(bytes: Uint8Array): void {
    if (this.#hears) this.#guarded(() => this.#connection?.bytes(bytes));
  }

  /** The client closes: whether the network may answer it. */
  answersClose(): boolean {
    if (this.#options.faults['slow-close'] !== true) return true;
    this.#onPlayed('slow-close');
    return false;
  }

  /** The connection is over, whoever ended it. `code` is the client's close code, 1006 for a lost connection. */
  gone(code: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#timers.clear();
    this.#saying?.end();
    this.#guarded(() => this.#connection?.gone());
    this.#hearing.close();
    this.#options.onEnd(this.#story(code));
  }

  get #hears(): boolean {
    return !this.#over && !this.#deaf && this.#saying?.closing === false;
  }

  readonly #onPlayed = (fault: FaultName): void => {
    this.#played.add(fault);
  };

  #marks(): Mark[] {
    const { faults } = this.#options;
    const marks: Mark[] = [];
    const add = (fault: FaultName, seconds: number | undefined, deafens: boolean, play: () => void): void => {
      if (seconds === undefined) return;
      const reached = (): void => {
        if (this.#over) return;
        this.#onPlayed(fault);
        play();
      };
      marks.push({ seconds, deafens, reached });
    };
    for (const name of BREACHES) add(name, faults[name]?.seconds, false, () => this.#saying?.breach(name));
    const { 'close-after': close } = faults;
    add('close-after', close?.seconds, true, () => this.#hangUp(close?.code as number, ''));
    add('drop-after', faults['drop-after'], true, () => this.#drop());
    add('stall-after', faults['stall-after'], true, () => this.#saying?.silence());
    add('freeze-after', faults['freeze-after'], true, () => this.#freeze());
    return marks;
  }

  /** The simulator closes. */
  #close(code?: number, reason?: string): void {
    if (this.#hearing.finishing && this.#options.faults['slow-close'] === true) return;
    this.#saying?.close(code, reason);
    this.#noteClose(code);
  }

  #hangUp(code: number, reason: string): void {
    this.#saying?.hangUp(code, reason);
    this.#noteClose(code);
  }

  #noteClose(code: number = NO_CODE): void {
    if (this.#saying?.closing === true) this.#ending ??= `closed by the provider with ${code}`;
  }

  /** A fault that the client has requested, now. */
  #play(demand: DemandedFault): void {
    if (demand === 'error') {
      this.#fail();
      return;
    }
    this.#deaf = true;
    this.#onPlayed(`${demand}-after`);
    if (demand === 'drop') this.#drop();
    else this.#saying?.silence();
  }

  #fail(): void {
    if (this.#over) return;
    this.#onPlayed('error-after');
    const { messages, close } = this.#options.simulator.failure();
    for (const message of messages) this.#saying?.say(message);
    this.#hangUp(close.code, close.reason);
  }

  #drop(): void {
    this.#ending ??= 'reset by the provider';
    this.#saying?.silence();
    this.#peer?.drop();
  }

  #freeze(): void {
    this.#deaf = true;
    this.#saying?.silence();
    this.#peer?.freeze();
    this.#timers.after(FROZEN_MS, () => this.#drop());
  }

  /** A simulator that throws has a fault of its own: the connection ends, the fault is told. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#hangUp(INTERNAL_ERROR, 'fault of the simulator');
      this.#options.onFault(error);
    }
  }

  #story(code: number): string {
    const { messages, finals } = this.#saying?.counts ?? { messages: 0, finals: 0 };
    const said = `heard ${this.#hearing.seconds.toFixed(1)} s, said ${messages} messages (finals: ${finals})`;
    const ending = this.#ending ?? (code === 1006 ? 'lost' : `closed by the client with ${code}`);
    const played = this.#played.size === 0 ? '' : `; played ${[...this.#played].join(', ')}`;
    return `${said}, ${ending}${played}`;
  }
}
