// What a simulated provider says on one connection, on its way to the peer: the faults of frames, of finals and of their
// times. What is heard is hearing.ts's.

import { deflateRawSync } from 'node:zlib';
import type { Clock } from '../../../machines/clock.ts';
import { jsonOf } from '../kit/json.ts';
import type { Outgoing } from '../kit/provider.ts';
import type { ProviderSimulator } from '../kit/simulation.ts';
import { Timers } from '../kit/simulator/session.ts';
import type { FaultName, Faults } from './faults.ts';

/** The network's end of one connection. Every method is safe at any time; none calls back before it returns. */
export interface StagePeer {
  send(frame: Outgoing): void;
  /** Without a code the close frame is empty (1005). */
  close(code?: number, reason?: string): void;
  /** Resets the connection. */
  drop(): void;
  /** Reads nothing any more. */
  freeze(): void;
  /** Bytes below WebSocket frames, in order with what is sent. Faults that need them do nothing where there are none. */
  raw?(bytes: Uint8Array): void;
}

export interface SayingOptions {
  faults: Faults;
  clock: Clock;
  peer: StagePeer;
  simulator: Pick<ProviderSimulator, 'isFinal' | 'keepsOrder' | 'encode'>;
  onPlayed: (fault: FaultName) => void;
}

/** A text, or an object that is sent as the simulator encodes it. */
type Message = string | Readonly<Record<string, unknown>>;

/** Faults that are one frame, said once. */
export type Breach = 'huge-message' | 'invalid-utf8' | 'deflate-bomb';
export const BREACHES: readonly Breach[] = ['huge-message', 'invalid-utf8', 'deflate-bomb'];

/** Messages held back by faults together; a connection that would hold more is reset. */
const WAITING_MAX = 4_096;
const HUGE_CHARACTERS = 5_000_000;
const UNKNOWN = { type: 'unheard_of', message_type: 'unheard_of', event: 'unheard_of', data: { value: 1 } };
const STRANGE_BYTES = Uint8Array.of(0, 1, 2, 255);
const NO_OBJECTS = ['[]', 'null', '7', '"text"', 'true', '{"type":'];

export class Saying {
  readonly #faults: Faults;
  readonly #clock: Clock;
  readonly #peer: StagePeer;
  readonly #simulator: SayingOptions['simulator'];
  readonly #onPlayed: (fault: FaultName) => void;
  readonly #timers: Timers;
  /** What leaves later, in order. */
  #delayed: { dueMs: number; leave: () => void }[] = [];
  /** Finals of `late-finals` that wait for their time. */
  #late: Message[] = [];
  /** Finals of `late-final-after-next`, with the turn that was told of when they were said. */
  #held: { message: Message; turn: number }[] = [];
  #turn = -1;
  #waitingForFinals: (() => void)[] = [];
  /** By how much everything is said later, since the audio has ended. */
  #tailMs = 0;
  #silent = false;
  #closing = false;
  #ended = false;
  #emitted = 0;
  #finals = 0;

  constructor({ faults, clock, peer, simulator, onPlayed }: SayingOptions) {
    this.#faults = faults;
    this.#clock = clock;
    this.#timers = new Timers(clock);
    this.#peer = peer;
    this.#simulator = simulator;
    this.#onPlayed = onPlayed;
  }

  /** The simulator's own messages said so far, and how many of them were finals. */
  get counts(): { messages: number; finals: number } {
    return { messages: this.#emitted, finals: this.#finals };
  }

  /** The provider has closed. */
  get closing(): boolean {
    return this.#closing;
  }

  /** A message of the simulator. */
  say(message: Message): void {
    if (this.#silent) return;
    const isFinal = this.#saysFinal(message);
    const lateMs = this.#faults['late-finals'];
    const waits = isFinal || (this.#simulator.keepsOrder === true && this.#late.length > 0);
    if (isFinal && this.#plays('late-final-after-next')) {
      this.#held.push({ message, turn: this.#turn });
      this.#boundWaiting();
    } else if (waits && lateMs !== undefined && this.#plays('late-finals')) {
      this.#late.push(message);
      this.#boundWaiting();
      this.#after(lateMs, () => this.#sayLate());
    } else {
      this.#emit(message, isFinal);
    }
  }

  /** The simulator closes in order: finals that wait leave before. */
  close(code?: number, reason?: string): void {
    this.#releaseHeld(undefined);
    while (this.#late.length > 0) this.#sayLate();
    this.hangUp(code, reason);
  }

  /** Closes as a provider that fails: finals that wait are never said. */
  hangUp(code?: number, reason?: string): void {
    if (this.#silent) return;
    this.#silent = true;
    this.#closing = true;
    this.#leave(() => this.#peer.close(code, reason));
  }

  /** The client has ended its audio. */
  beginTail(): void {
    if (this.#plays('slow-tail')) this.#tailMs = this.#faults['slow-tail'] as number;
  }

  /** Says one frame that breaks a rule. */
  breach(name: Breach): void {
    if (this.#silent || !this.#plays(name)) return;
    if (name === 'huge-message') this.#send(JSON.stringify({ type: 'huge', filler: 'x'.repeat(HUGE_CHARACTERS) }));
    else this.#raw(name === 'invalid-utf8' ? invalidUtf8() : deflateBomb());
  }

  /** Nothing is said from now on, a close included. */
  silence(): void {
    this.#silent = true;
  }

  /** The simulator is told of a turn: finals held back from others leave behind what it says to that. */
  duringTurn(turn: number, pass: () => void): void {
    this.#turn = turn;
    pass();
    this.#releaseHeld(turn);
  }

  /** Calls back once no final waits any more. Those that wait for a next turn leave now: there is none. */
  whenFinalsAreOut(work: () => void): void {
    this.#releaseHeld(undefined);
    if (this.#late.length === 0) work();
    else this.#waitingForFinals.push(work);
  }

  /** The connection is over: nothing more is said, and no timer is left. */
  end(): void {
    this.#silent = true;
    this.#ended = true;
    this.#timers.clear();
    this.#delayed = [];
    this.#late = [];
    this.#held = [];
    this.#waitingForFinals = [];
  }

  /** Whether a fault was requested; notes that it was played. */
  #plays(name: FaultName): boolean {
    if (this.#faults[name] === undefined) return false;
    this.#onPlayed(name);
    return true;
  }

  #saysFinal(message: Message): boolean {
    const json: unknown = typeof message === 'string' ? jsonOf(message) : message;
    return (
      typeof json === 'object' && json !== null && this.#simulator.isFinal(json as Readonly<Record<string, unknown>>)
    );
  }

  /** Says the finals held back from turns other than this one. */
  #releaseHeld(turn: number | undefined): void {
    const released = this.#held.filter((each) => each.turn !== turn);
    if (released.length === 0) return;
    this.#held = this.#held.filter((each) => each.turn === turn);
    for (const { message } of released) this.#emit(message, true);
  }

  #sayLate(): void {
    const message = this.#late.shift();
    if (message === undefined) return;
    this.#emit(message, this.#saysFinal(message));
    if (this.#late.length > 0) return;
    for (const work of this.#waitingForFinals.splice(0)) work();
  }

  /** Says a message, with those that faults put around it. */
  #emit(message: Message, isFinal: boolean): void {
    if (this.#silent) return;
    const isFirst = this.#emitted === 0;
    if (this.#plays('unknown-messages')) this.#send(this.#encoded(UNKNOWN));
    if (this.#plays('binary-messages')) this.#send(STRANGE_BYTES);
    if (this.#plays('non-object-json')) this.#send(NO_OBJECTS[this.#emitted % NO_OBJECTS.length] as string);
    this.#emitted++;
    if (isFinal) this.#finals++;
    const frame = this.#encoded(message);
    if (isFirst && this.#peer.raw !== undefined && this.#plays('tiny-fragments')) this.#raw(tinyFragments(frame));
    else this.#send(frame);
    if (isFinal && this.#plays('duplicate-finals')) this.#send(frame);
    if (!isFirst) return;
    for (const name of BREACHES) {
      const breach = this.#faults[name];
      if (breach !== undefined && breach.seconds === undefined) this.breach(name);
    }
  }

  #encoded(message: Message): Outgoing {
    return typeof message === 'string' ? message : (this.#simulator.encode?.(message) ?? message);
  }

  #send(frame: Outgoing): void {
    this.#leave(() => this.#peer.send(frame));
  }

  #raw(bytes: Uint8Array): void {
    this.#leave(() => this.#peer.raw?.(bytes));
  }

  /** Everything goes through here, in order: now, or later by the latency. */
  #leave(leave: () => void): void {
    const { latency } = this.#faults;
    if (latency !== undefined) this.#onPlayed('latency');
    const lateMs = (latency ?? 0) + this.#tailMs;
    if (lateMs === 0) {
      leave();
      return;
    }
    this.#delayed.push({ dueMs: this.#clock.now() + lateMs, leave });
    this.#boundWaiting();
    if (this.#delayed.length === 1) this.#after(lateMs, () => this.#leaveDue());
  }

  #leaveDue(): void {
    const nowMs = this.#clock.now();
    const isDue = ({ dueMs }: { dueMs: number }): boolean => dueMs <= nowMs;
    while (this.#delayed[0] !== undefined && isDue(this.#delayed[0])) this.#delayed.shift()?.leave();
    if (this.#delayed[0] !== undefined) this.#after(this.#delayed[0].dueMs - nowMs, () => this.#leaveDue());
  }

  #boundWaiting(): void {
    if (this.#delayed.length + this.#late.length + this.#held.length <= WAITING_MAX) return;
    this.end();
    this.#peer.drop();
  }

  #after(delayMs: number, work: () => void): void {
    if (!this.#ended) this.#timers.after(delayMs, work);
  }
}

const TEXT = 1;
const BINARY = 2;
const CONTINUATION = 0;
const FINAL_BIT = 0x80;
const COMPRESSED_BIT = 0x40;
const BOMB_BYTES = 16 * 1024 * 1024;

function frame(bits: number, payload: Uint8Array): Buffer {
  const length = payload.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = bits;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** A message in fragments of one byte; an object is JSON. */
export function tinyFragments(message: Outgoing): Buffer {
  const isBinary = message instanceof Uint8Array;
  const bytes = isBinary ? message : Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  const opcode = isBinary ? BINARY : TEXT;
  return Buffer.concat(
    Array.from(bytes, (_, at) => {
      const bits = (at === 0 ? opcode : CONTINUATION) | (at === bytes.length - 1 ? FINAL_BIT : 0);
      return frame(bits, bytes.subarray(at, at + 1));
    }),
  );
}

/** A text frame that is not UTF-8. */
export function invalidUtf8(): Buffer {
  return frame(FINAL_BIT | TEXT, Uint8Array.of(0x22, 0xc3, 0x28, 0x22));
}

/** A small compressed frame that unpacks to 16 MiB. */
export function deflateBomb(): Buffer {
  return frame(FINAL_BIT | COMPRESSED_BIT | TEXT, deflateRawSync(Buffer.alloc(BOMB_BYTES, 0x20)));
}
