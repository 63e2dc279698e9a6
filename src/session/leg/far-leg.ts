// A session's transport to its leg on another node: numbers what goes, keeps what is under way within its bound, says that the
// session is there, and notices when the leg is not. The bus may lose, repeat and swap; each of these ends the leg, no sample.
import type { Clock } from '../../../machines/clock.ts';
import type { FarReport, LegCommand, LegFailure } from '../../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../../api/linear16.ts';
import type { Address, Bus } from '../../bus/bus.ts';
import type { LiveTiming } from '../../providers/provider.ts';
import { Deadline } from '../../runtime/deadline.ts';
import { legLost, legSilent, lostReport } from './open-leg.ts';

/** Audio on its way that the leg has not acknowledged. */
const UNDER_WAY_BYTES_MAX = 262_144;
/** A sign of life when nothing else was said for so long. */
const ALIVE_MS = 2_000;
/** A leg that says nothing for two of these is lost. Two: a process that stood still itself reads first what has waited. */
const LOOK_MS = 1_500;

/** The largest frame of audio that such a leg is sent. */
export const frameBytesMax = ({ frame }: LiveTiming, sampleRate: number): number =>
  Math.ceil((frame.maxMs * sampleRate) / 1000) * BYTES_PER_SAMPLE;

export interface FarLegCalls {
  failed(failure: LegFailure): void;
  /** Audio was acknowledged: more may go. */
  room(): void;
}

export class FarLeg {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #leg: Address;
  readonly #session: Address;
  readonly #calls: FarLegCalls;
  /** The next frame may be as large as this. */
  readonly #frameBytesMax: number;
  #commands = 0;
  #sentBytes = 0;
  #takenBytes = 0;
  #alive: Deadline | undefined;
  #look: Deadline | undefined;
  #looks = 0;
  #over = false;

  constructor(bus: Bus, clock: Clock, leg: Address, session: Address, frameBytesMax: number, calls: FarLegCalls) {
    this.#bus = bus;
    this.#clock = clock;
    this.#leg = leg;
    this.#session = session;
    this.#frameBytesMax = frameBytesMax;
    this.#calls = calls;
    this.#stayAlive();
    this.#watch();
  }

  /** Whether no frame may follow before audio is acknowledged. */
  get isFull(): boolean {
    const underWay = this.#sentBytes - this.#takenBytes;
    return underWay > 0 && underWay + this.#frameBytesMax > UNDER_WAY_BYTES_MAX;
  }

  command(command: LegCommand | { type: 'leg.alive' }, bytes?: Uint8Array): void {
    if (this.#over) return;
    this.#commands++;
    this.#sentBytes += bytes?.byteLength ?? 0;
    this.#alive?.touch();
    const numbered = { ...command, number: this.#commands };
    if (this.#bus.send(this.#leg, this.#session, numbered, bytes) !== 'accepted') this.#fail(legLost);
  }

  /** The leg said something. */
  heard(): void {
    this.#looks = 0;
    this.#look?.touch();
  }

  /** The leg is there, and has taken so much. `reports` is how many others of its reports have come. */
  pulse({ sequence, audioBytes }: Extract<FarReport, { type: 'leg.pulse' }>, reports: number): void {
    const isPossible = audioBytes >= this.#takenBytes && audioBytes <= this.#sentBytes;
    if (sequence !== reports || !isPossible) {
      this.#fail(lostReport);
      return;
    }
    if (audioBytes === this.#takenBytes) return;
    this.#takenBytes = audioBytes;
    this.#calls.room();
  }

  /** The leg's node is gone, or a message to it did not arrive. */
  lost(): void {
    this.#fail(legLost);
  }

  /** Says nothing any more, and notices nothing. */
  stop(): void {
    this.#over = true;
    this.#alive?.stop();
    this.#look?.stop();
  }

  #fail(failure: LegFailure): void {
    if (this.#over) return;
    this.stop();
    this.#calls.failed(failure);
  }

  #stayAlive(): void {
    this.#alive = new Deadline(this.#clock, ALIVE_MS, () => {
      this.#stayAlive();
      this.command({ type: 'leg.alive' });
    });
  }

  #watch(): void {
    this.#look = new Deadline(this.#clock, LOOK_MS, () => {
      this.#looks++;
      if (this.#looks === 2) this.#fail(legSilent);
      else this.#watch();
    });
  }
}
