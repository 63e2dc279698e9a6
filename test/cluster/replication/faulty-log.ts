// A replicated log in memory, with what can go wrong between it and its replicas: delays, partitions, lost and doubled requests, lost
// answers, a server that is down or full, and a log that forgets its end or everything.
import type { Clock } from '../../../machines/clock.ts';
import { BusError, type Detach } from '../../../src/cluster/bus/bus.ts';
import {
  endsWith,
  type Follows,
  LastWritten,
  LogConflict,
  type LogEnd,
  type LogMessage,
  type LogReader,
  type ReplicatedLog,
} from '../../../src/cluster/bus/replicated-log.ts';
import type { Random } from '../../fakes/random.ts';

const TIMEOUT_MS = 2_000;

interface Stored extends LogMessage {
  id: string;
}

export interface LogFaults {
  /** Of all appends. */
  lostRequests: number;
  lostAnswers: number;
  /** Requests that arrive a second time, later. */
  doubledRequests?: number;
  delayMsMax: number;
  /** At present no request or answer is lost or doubled. */
  isOff?(): boolean;
  onFault?(kind: 'lost request' | 'lost answer' | 'doubled request'): void;
}

const DOUBLED_AFTER_MS_MAX = 4_000;

/** What the servers have. */
export class LogServer {
  messages: Stored[] = [];
  isDown = false;
  isFull = false;
  /** Grows when readers have to begin again. */
  generation = 0;
  #wake: (() => void)[] = [];

  get first(): number {
    return this.messages[0]?.sequence ?? 1;
  }

  get lastSequence(): number {
    return this.messages.at(-1)?.sequence ?? 0;
  }

  /** Compares the sequence only, as NATS does. */
  append(bytes: Uint8Array, id: string, follows: Follows): number {
    const known = this.messages.find((message) => message.id === id);
    if (known !== undefined) return known.sequence;
    if (this.isFull) throw new BusError('handler_failed', 'NATS refused it (insufficient resources).');
    if (this.lastSequence !== follows.sequence) throw new LogConflict(`the log ends at ${this.lastSequence}`);
    const sequence = this.lastSequence + 1;
    this.messages.push({ sequence, bytes, id });
    for (const wake of this.#wake.splice(0)) wake();
    return sequence;
  }

  /** Loses its last messages, as if they had never been accepted. */
  forget(count: number): void {
    this.messages.splice(Math.max(0, this.messages.length - count));
  }

  /** Is created again, without anything that it had. */
  wipe(): void {
    this.messages = [];
    this.restart();
  }

  /** Readers begin again, at the end if that is before the place where they were. */
  restart(): void {
    this.generation++;
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Removes the oldest messages. */
  trim(count: number): void {
    this.messages.splice(0, count);
  }

  changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }
}

/** The log as one replica reaches it. */
export class LogClient implements ReplicatedLog {
  #isCut = false;
  readonly #server: LogServer;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: LogFaults;
  readonly #written = new LastWritten();

  constructor(server: LogServer, clock: Clock, random: Random, faults: LogFaults) {
    this.#server = server;
    this.#clock = clock;
    this.#random = random;
    this.#faults = faults;
  }

  /** From the log, or the log is down. */
  get isCut(): boolean {
    return this.#isCut || this.#server.isDown;
  }

  set isCut(isCut: boolean) {
    this.#isCut = isCut;
  }

  async append(bytes: Uint8Array, id: string, follows: Follows): Promise<number> {
    const { lostRequests, lostAnswers, doubledRequests = 0 } = this.#faults;
    const isEnd = follows.id === undefined || this.#written.isEnd(follows, this.#clock.now());
    if (!isEnd && !endsWith(await this.end(), follows)) throw new LogConflict('the log ends with another message');
    const sentMs = this.#clock.now();
    await this.#pause();
    if (this.isCut || this.#happens('lost request', lostRequests)) return this.#timeOut();
    if (this.#happens('doubled request', doubledRequests)) this.#again(bytes, id, follows);
    const sequence = this.#server.append(bytes, id, follows);
    await this.#pause();
    if (this.isCut || this.#happens('lost answer', lostAnswers)) return this.#timeOut();
    this.#written.wrote(sequence, id, sentMs);
    return sequence;
  }

  #happens(kind: Parameters<NonNullable<LogFaults['onFault']>>[0], chance: number): boolean {
    const happens = this.#random.next() < chance && this.#faults.isOff?.() !== true;
    if (happens) this.#faults.onFault?.(kind);
    return happens;
  }

  #again(bytes: Uint8Array, id: string, follows: Follows): void {
    const server = this.#server;
    this.#clock.setTimeout(
      () => {
        try {
          if (!server.isDown) server.append(bytes, id, follows);
        } catch {
          // Nobody waits for the answer.
        }
      },
      this.#random.integer(1, DOUBLED_AFTER_MS_MAX),
    );
  }

  async end(): Promise<LogEnd> {
    await this.#pause();
    if (this.isCut) return this.#timeOut();
    return { sequence: this.#server.lastSequence, first: this.#server.first, last: this.#server.messages.at(-1) };
  }

  async at(sequence: number): Promise<LogMessage | undefined> {
    await this.#pause();
    if (this.isCut) return this.#timeOut();
    return this.#server.messages.find((message) => message.sequence === sequence);
  }

  read(from: number, reader: LogReader): Detach {
    let isDetached = false;
    const run = async () => {
      let generation = -1;
      for (let next = from; !isDetached; ) {
        await this.#pause();
        if (this.isCut) continue;
        if (generation !== this.#server.generation) next = Math.min(next, this.#server.lastSequence + 1);
        generation = this.#server.generation;
        if (next < this.#server.first && this.#server.messages.length > 0) return reader.removed(this.#server.first);
        const message = this.#server.messages.find(({ sequence }) => sequence === next);
        if (message === undefined) {
          await this.#server.changed();
          continue;
        }
        if (isDetached) return;
        await reader.message(message);
        next++;
      }
    };
    void run();
    return () => {
      isDetached = true;
    };
  }

  #pause(): Promise<void> {
    const delayMs = this.#random.integer(0, this.#faults.delayMsMax);
    return new Promise((resolve) => void this.#clock.setTimeout(() => resolve(), delayMs));
  }

  async #timeOut(): Promise<never> {
    await new Promise<void>((resolve) => void this.#clock.setTimeout(() => resolve(), TIMEOUT_MS));
    throw new BusError('timeout', 'The log did not answer in time.');
  }
}
