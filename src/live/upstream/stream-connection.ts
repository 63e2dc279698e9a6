// A leg's connection to a provider that hears a stream: the wire, the codec's state and the keep-alive. Turns, audio positions and
// failover are left to the session.

import type { Clock } from '../../../machines/clock.ts';
import type { DemandedFault, Heard, LegFailure, OpenLeg } from '../../../machines/events.ts';
import { IdleTimer } from '../../runtime/timeouts.ts';
import type {
  Incoming,
  LegRequest,
  LiveCodec,
  LiveTiming,
  Outgoing,
  PlainRequest,
  ProviderAccess,
  ProviderRefusal,
  SocketEndpoint,
  Step,
} from '../../vendors/kit/provider.ts';
import { failureOfStatus } from '../../vendors/kit/refusals.ts';
import { type ConnectionLeg, type LegConnection, legRequestOf, NO_ACCESS } from './leg-connection.ts';
import { closedEarly, LegFailed, tooManyMessages, unreachable } from './leg-failures.ts';
import { Pressure } from './pressure.ts';
import { requestSocket, sendGoodbye } from './requested-socket.ts';
import { openWire, type WireEndpoint } from './wire/open-wire.ts';
import type { Wire } from './wire/wire.ts';

export class StreamConnection implements LegConnection {
  readonly timing: LiveTiming;
  readonly #codec: LiveCodec;
  readonly #leg: ConnectionLeg;
  readonly #timers: LegTimers;
  readonly #allowance: MessageAllowance;
  #wire: Wire | undefined;
  #state: unknown;
  #hello: Outgoing[] = [];
  #access = NO_ACCESS;
  /** The connection was opened: the provider knows of this leg. */
  #greeted = false;
  /** The connection has ended on its own. */
  #lost = false;
  /** Where the provider keeps a session that it was not told to end. */
  #kept: SocketEndpoint | undefined;
  #pressure: Pressure | undefined;
  /** When the message was read that is being taken. */
  #readMs: number | undefined;

  constructor(codec: LiveCodec, leg: ConnectionLeg) {
    this.#codec = codec;
    this.#leg = leg;
    this.timing = codec.timing(legRequestOf(leg.request, NO_ACCESS));
    this.#timers = new LegTimers(leg.dependencies.clock);
    leg.scope.defer(() => this.#timers.stop());
    this.#allowance = new MessageAllowance(leg.request.sampleRate, leg.dependencies.clock.now());
  }

  connect(access: ProviderAccess): void {
    this.#access = access;
    const { state, endpoint, hello } = this.#codec.open(legRequestOf(this.#leg.request, access));
    this.#state = state;
    this.#hello = hello;
    if (endpoint.kind === 'request') this.#ask(endpoint.request);
    else this.#open(endpoint);
  }

  #ask(request: PlainRequest): void {
    const leg = this.#leg;
    requestSocket(this.#codec, this.#state, request, this.timing.connectMs, leg).then(
      (answer) =>
        leg.guarded('connect', () => {
          if ('refused' in answer) {
            this.#refused(answer.refused);
            return;
          }
          this.#kept = answer.socket;
          if (leg.scope.disposed) this.#sendGoodbye();
          else this.#open(answer.socket);
        }),
      (error) => {
        if (leg.scope.disposed) return;
        if (error instanceof LegFailed) this.#failed(error.failure);
        else leg.fault('request', error);
      },
    );
  }

  #open(endpoint: WireEndpoint): void {
    const { request, dependencies, scope, scrubber } = this.#leg;
    if (endpoint.kind === 'websocket') scrubber.conceal(endpoint.secrets ?? []);
    const wire = openWire(
      endpoint,
      dependencies.engines,
      {
        opened: () => this.#leg.tell({ type: 'wire.opened' }),
        simulated: () => this.#leg.simulated(),
        message: (message) => this.#hear(message),
        alive: () => this.#leg.tell({ type: 'wire.alive' }),
        drained: () => this.#pressure?.relieve(),
        closed: (code, reason) => this.#closed(code, reason),
        refused: (refusal) => this.#refused(refusal),
        unreachable: (message, isReached) => this.#failed(unreachable(message, isReached)),
      },
      dependencies.clock,
      request.organisationId,
      dependencies.openSocket,
    );
    this.#wire = wire;
    this.#pressure = new Pressure(
      { unsentBytes: () => wire.bufferedBytes, unconfirmedFrames: this.#unconfirmedFrames() },
      dependencies,
      { changed: (high) => this.#leg.pressed(high), clogged: (failure) => this.#failed(failure) },
    );
    scope.defer(() => this.#pressure?.stop());
    scope.defer(() => this.#leave(wire));
  }

  sendHello(): void {
    this.#greeted = true;
    this.#sendAll(this.#hello);
    this.#timers.keepAliveEvery(this.timing.keepAliveMs, () =>
      this.#leg.guarded('codec.keepAlive', () => this.#sendAll(this.#codec.keepAlive(this.#state))),
    );
    if (this.#codec.opened !== undefined) this.#play(this.#codec.opened(this.#state));
  }

  sendFinish(): void {
    this.#play(this.#codec.finish(this.#state));
  }

  ping(): void {
    this.#wire?.ping();
  }

  finalize(): void {
    this.#play(this.#codec.finalize(this.#state));
  }

  reconfigure(to: OpenLeg): void {
    const leg = this.#leg;
    const [before, after] = [leg.request, to].map((request) => legRequestOf(request, this.#access));
    const steps = this.#codec.reconfigure?.(this.#state, before as LegRequest, after as LegRequest);
    if (steps !== undefined) leg.request = to;
    this.#play(steps ?? [{ type: 'reconfigured', isInForce: false }]);
  }

  breakDown(fault: DemandedFault): void {
    this.#wire?.breakDown(fault);
  }

  audio(bytes: Uint8Array): void {
    const wire = this.#wire;
    if (wire === undefined) return;
    this.#timers.touch();
    this.#allowance.sent(bytes.byteLength);
    const frame = this.#codec.audio(this.#state, bytes);
    if (frame !== undefined) wire.send(frame);
    this.#pressure?.look();
  }

  // Without a closure: this is called for every message of the provider.
  #hear(message: Incoming): void {
    const leg = this.#leg;
    if (leg.scope.disposed) return;
    const readMs = leg.dependencies.clock.now();
    if (!this.#allowance.take(readMs)) {
      this.#failed(tooManyMessages);
      return;
    }
    this.#readMs = readMs;
    try {
      const steps = this.#codec.read(this.#state, message);
      if (steps.length === 0) leg.dependencies.onEvent?.({ type: 'unread', slug: leg.request.slug });
      this.#play(steps);
      this.#pressure?.look();
    } catch (error) {
      leg.fault('codec.read', error);
    } finally {
      this.#readMs = undefined;
    }
  }

  #unconfirmedFrames() {
    const { unconfirmedMax: max } = this.timing;
    const codec = this.#codec;
    if (max === undefined || codec.unconfirmed === undefined) return undefined;
    return { now: () => codec.unconfirmed?.(this.#state) ?? 0, max };
  }

  #play(steps: Step[]): void {
    for (const step of steps) this.#take(step);
  }

  #take(step: Step): void {
    if (this.#leg.scope.disposed) return;
    switch (step.type) {
      case 'send':
        this.#sendAll([step.frame]);
        return;
      case 'wake':
        this.#timers.wakeAfter(step.afterMs, () =>
          this.#leg.guarded('codec.wake', () => this.#play(this.#codec.wake?.(this.#state) ?? [])),
        );
        return;
      case 'confirmed':
        return;
      case 'ready':
        this.#leg.tell({ type: 'provider.ready' });
        return;
      case 'finished':
        this.#finished();
        return;
      case 'failed':
        this.#leg.tell({ type: 'provider.failed', failure: this.#leg.scrubber.cleanFailure(step.failure) });
        return;
      case 'warned':
        this.#leg.heard(this.#leg.scrubber.cleanFailure(step));
        return;
      default:
        this.#leg.heard(step, this.#readMs);
    }
  }

  #closed(code: number, reason: string): void {
    this.#lost = true;
    if (this.#leg.scope.disposed) return;
    this.#leg.guarded('codec.closed', () => {
      const meaning: Heard = this.#codec.closed(this.#state, code, reason);
      if (meaning.type === 'finished') this.#finished();
      // A close in order before it was requested is still the end of a leg that has more to hear.
      const failure = meaning.type === 'failed' ? this.#leg.scrubber.cleanFailure(meaning.failure) : closedEarly(code);
      this.#leg.tell({ type: 'wire.failed', failure });
    });
  }

  #refused(refusal: ProviderRefusal): void {
    if (this.#leg.scope.disposed) return;
    this.#leg.guarded('codec.refused', () => {
      const failure = this.#codec.refused?.(refusal) ?? failureOfStatus(refusal);
      this.#leg.tell({ type: 'wire.failed', failure: this.#leg.scrubber.cleanFailure(failure) });
    });
  }

  #failed(failure: LegFailure): void {
    this.#leg.tell({ type: 'wire.failed', failure: this.#leg.scrubber.cleanFailure(failure) });
  }

  #finished(): void {
    this.#kept = undefined;
    this.#leg.tell({ type: 'provider.finished' });
  }

  /** Some providers continue counting until they are told that it is over. */
  #leave(wire: Wire): void {
    const isOpen = this.#greeted && !this.#lost;
    if (this.#greeted && this.#codec.leave !== undefined) {
      this.#sendAll(this.#leaving());
      wire.close();
    } else if (this.#leg.endedInOrder) wire.close();
    else wire.terminate();
    if (!isOpen) this.#sendGoodbye();
  }

  #leaving(): readonly Outgoing[] {
    let frames: readonly Outgoing[] = [];
    this.#leg.guarded('codec.leave', () => {
      frames = this.#codec.leave?.(this.#state) ?? [];
    });
    return frames;
  }

  #sendGoodbye(): void {
    if (this.#kept !== undefined) sendGoodbye(this.#kept, this.#leaving(), this.#leg);
    this.#kept = undefined;
  }

  #sendAll(frames: readonly Outgoing[]): void {
    this.#timers.touch();
    for (const frame of frames) this.#wire?.send(frame);
  }
}

/** The timers of a leg: its keep-alive, and the call that its codec requested. */
class LegTimers {
  readonly #clock: Clock;
  #keepAlive: IdleTimer | undefined;
  #wakeTimer: unknown;
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `send` whenever nothing was sent for so long. */
  keepAliveEvery(periodMs: number | undefined, send: () => void): void {
    if (periodMs === undefined || this.#stopped) return;
    this.#keepAlive = new IdleTimer(this.#clock, periodMs, () => {
      send();
      this.keepAliveEvery(periodMs, send);
    });
  }

  /** Something was sent. */
  touch(): void {
    this.#keepAlive?.touch();
  }

  /** One at a time: a later one replaces it. */
  wakeAfter(afterMs: number, wake: () => void): void {
    this.#clock.clearTimeout(this.#wakeTimer);
    if (!this.#stopped) this.#wakeTimer = this.#clock.setTimeout(wake, afterMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#keepAlive?.stop();
    this.#clock.clearTimeout(this.#wakeTimer);
  }
}

const BURST = 4_000;
/** Several times what any provider says of a second of audio. */
const PER_AUDIO_SECOND = 200;
const PER_SECOND = 50;

/**
 * How many messages a provider may send on one leg: many for the audio it is sent, some while it is sent none. One that continues
 * without end is work for the whole process, and costs other sessions their places.
 */
export class MessageAllowance {
  readonly #bytesPerSecond: number;
  #left = BURST;
  #atMs: number;

  /** @param sampleRate of the leg; encodings of one byte a sample are allowed half as much */
  constructor(sampleRate: number, nowMs: number) {
    this.#bytesPerSecond = 2 * sampleRate;
    this.#atMs = nowMs;
  }

  /** So many bytes of audio were sent: what is said of them may come much later, and all at once. */
  sent(bytes: number): void {
    this.#left += (PER_AUDIO_SECOND * bytes) / this.#bytesPerSecond;
  }

  /** Counts a message, and says whether it is within what is allowed. */
  take(nowMs: number): boolean {
    // What nobody sent for is not saved up.
    if (this.#left < BURST) this.#left = Math.min(BURST, this.#left + ((nowMs - this.#atMs) * PER_SECOND) / 1000);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
