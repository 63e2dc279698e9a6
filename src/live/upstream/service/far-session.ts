// A leg's transport to its session on another node: checks the order of what it is told, acknowledges the audio, tells the session
// that the leg is there, and ends the leg when the session is not. What the leg does with its commands is not known here.
import type { Clock } from '../../../../machines/clock.ts';
import type { FarCommand, FarReport, LegCommand, LegReport, OpenLeg } from '../../../../machines/events.ts';
import type { Address, Bus, BusBody, Envelope } from '../../../cluster/bus/bus.ts';
import { nodeOf } from '../../../cluster/bus/subjects.ts';
import type { LegNeeds } from '../../../cluster/placement.ts';
import { IdleTimer } from '../../../runtime/timeouts.ts';
import { lostCommand } from '../leg-failures.ts';
import { isFarCommand, needsOf } from './leg-messages.ts';

/** The leg says at least so often that it is there, and acknowledges audio; audio of so many bytes at once. */
const PULSE_MS = 500;
const PULSE_BYTES = 65_536;
/** A session that says nothing for two of these is gone. Two: a process that stood still itself reads first what has waited. */
const LOOK_MS = 5_000;

export interface FarSessionCalls {
  command(command: LegCommand, bytes: Uint8Array | undefined): void;
  /** The session is gone, or does not know the leg: its connection is to be closed. */
  lost(): void;
}

export class FarSession {
  readonly node: string;
  readonly needs: LegNeeds;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #leg: Address;
  readonly #session: Address;
  readonly #generation: number;
  readonly #calls: FarSessionCalls;
  #reports = 0;
  #commands = 0;
  #takenBytes = 0;
  #toldBytes = 0;
  #isReady = false;
  /** The session was asked, or will be, to have another leg. */
  isExpiring = false;
  #over = false;
  #pulseTimer: unknown;
  #look: IdleTimer | undefined;
  #looks = 0;

  constructor(
    bus: Bus,
    clock: Clock,
    leg: Address,
    request: Pick<OpenLeg, 'session' | 'generation' | 'slug' | 'credentialId'>,
    calls: FarSessionCalls,
  ) {
    this.#bus = bus;
    this.#clock = clock;
    this.#leg = leg;
    this.#session = request.session as Address;
    this.node = nodeOf(request.session);
    this.#generation = request.generation;
    this.needs = needsOf(request);
    this.#calls = calls;
    this.#pulseLater();
    this.#watch();
  }

  /** A report of the leg: between nodes it is numbered again. */
  report(report: LegReport): void {
    this.#say(report);
    if (report.type !== 'leg.ready') return;
    this.#isReady = true;
    if (this.isExpiring) this.#say({ type: 'leg.expiring' });
  }

  /** The node is going away: as soon as the session can, it is to have another leg. */
  expire(): void {
    if (this.isExpiring) return;
    this.isExpiring = true;
    if (this.#isReady) this.#say({ type: 'leg.expiring' });
  }

  /** What came for the leg. From anybody else than its session it is nothing. */
  take({ from, body, bytes }: Envelope): void {
    if (this.#over || from !== this.#session || !isFarCommand(body)) return;
    this.#looks = 0;
    this.#look?.touch();
    if (body.type === 'leg.close') this.#calls.command(body, undefined);
    else if (body.number === this.#commands + 1) this.#obey(body, bytes);
    else this.#fail();
  }

  stop(): void {
    this.#over = true;
    this.#clock.clearTimeout(this.#pulseTimer);
    this.#look?.stop();
  }

  #obey(command: FarCommand, bytes: Uint8Array | undefined): void {
    this.#commands++;
    if (command.type === 'leg.alive') return;
    this.#takenBytes += bytes?.byteLength ?? 0;
    this.#calls.command(command, bytes);
    if (this.#takenBytes - this.#toldBytes >= PULSE_BYTES) this.#pulse();
  }

  #fail(): void {
    this.#say({ type: 'leg.failed', failure: lostCommand });
    this.#lost();
  }

  #lost(): void {
    if (this.#over) return;
    this.stop();
    this.#calls.lost();
  }

  #say(report: { type: FarReport['type'] } & Record<string, unknown>): void {
    if (this.#over) return;
    this.#reports++;
    this.#send({ ...report, generation: this.#generation, sequence: this.#reports } as BusBody);
  }

  /** What does not leave is lost, and so is the leg: its session finds out by the next that it does not hear. */
  #send(body: BusBody): void {
    if (this.#bus.send(this.#session, this.#leg, body) !== 'accepted') this.#lost();
  }

  #pulse(): void {
    if (this.#over) return;
    this.#toldBytes = this.#takenBytes;
    const pulse = { generation: this.#generation, sequence: this.#reports, audioBytes: this.#takenBytes };
    this.#send({ type: 'leg.pulse', ...pulse } as BusBody);
  }

  #pulseLater(): void {
    this.#pulseTimer = this.#clock.setTimeout(() => {
      this.#pulseLater();
      this.#pulse();
    }, PULSE_MS);
  }

  #watch(): void {
    this.#look = new IdleTimer(this.#clock, LOOK_MS, () => {
      this.#looks++;
      if (this.#looks === 2) this.#lost();
      else this.#watch();
    });
  }
}
