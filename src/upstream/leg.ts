// A leg on a connection to a provider that hears a stream. It owns the wire, the codec's state and the keep-alive; it reports
// to whoever opened it, and leaves turns, audio positions and failover to the session.
import type { Heard, LegReport, OpenLeg } from '../../machines/events.ts';
import type {
  Incoming,
  LiveCodec,
  LiveTiming,
  Outgoing,
  ProviderAccess,
  ProviderRefusal,
  Step,
} from '../providers/provider.ts';
import { failureOfStatus } from '../providers/refusals.ts';
import { ChartedLeg } from './charted-leg.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import { clogged, closedEarly, lostAudio, unreachable } from './leg-failures.ts';
import { legRequestOf, NO_ACCESS } from './leg-request.ts';
import { LegTimers } from './leg-timers.ts';
import { Pressure } from './pressure.ts';
import { openWire, type Wire } from './wire.ts';

/** A leg whose provider hears a stream. */
export class Leg extends ChartedLeg {
  protected readonly timing: LiveTiming;
  readonly #codec: LiveCodec;
  #wire: Wire | undefined;
  #state: unknown;
  #hello: Outgoing[] = [];
  readonly #timers: LegTimers;
  /** The connection was opened: the provider knows of this leg. */
  #greeted = false;
  #pressure: Pressure | undefined;

  constructor(
    legId: string,
    request: OpenLeg,
    codec: LiveCodec,
    dependencies: UpstreamDependencies,
    report: (report: LegReport) => void,
    onDispose: () => void,
  ) {
    super(legId, request, dependencies, report, onDispose);
    this.#codec = codec;
    this.#timers = new LegTimers(dependencies.clock);
    this.scope.defer(() => this.#timers.stop());
    this.timing = codec.timing(legRequestOf(request, NO_ACCESS));
  }

  protected connect(access: ProviderAccess): void {
    const { state, endpoint, hello } = this.#codec.open(legRequestOf(this.request, access));
    this.#state = state;
    this.#hello = hello;
    const wire = openWire(
      endpoint,
      this.dependencies.engines,
      {
        opened: () => this.tell({ type: 'wire.opened' }),
        message: (message) => this.#hear(message),
        drained: () => this.#pressure?.relieve(),
        closed: (code, reason) => this.#closed(code, reason),
        refused: (refusal) => this.#refused(refusal),
        unreachable: (message) => this.tell({ type: 'wire.failed', failure: unreachable(message) }),
      },
      this.dependencies.clock,
      this.request.organisationId,
      this.dependencies.openSocket,
    );
    this.#wire = wire;
    this.#pressure = new Pressure(wire, this.dependencies, {
      changed: (high) => this.report({ type: 'leg.pressure', high }),
      clogged: () => this.tell({ type: 'wire.failed', failure: clogged }),
    });
    this.scope.defer(() => this.#pressure?.stop());
    this.scope.defer(() => this.#leave(wire));
  }

  sendHello(): void {
    this.#greeted = true;
    this.#sendAll(this.#hello);
    this.#timers.keepAliveEvery(this.timing.keepAliveMs, () =>
      this.guarded('codec.keepAlive', () => this.#sendAll(this.#codec.keepAlive(this.#state))),
    );
    if (this.#codec.opened !== undefined) this.#play(this.#codec.opened(this.#state));
  }

  sendFinish(): void {
    this.#play(this.#codec.finish(this.#state));
  }

  protected finalize(): void {
    this.#play(this.#codec.finalize(this.#state));
  }

  protected audio(bytes: Uint8Array | undefined): void {
    const wire = this.#wire;
    if (bytes === undefined) {
      this.tell({ type: 'wire.failed', failure: lostAudio });
      return;
    }
    if (wire === undefined) return;
    this.#timers.touch();
    wire.send(this.#codec.audio(this.#state, bytes));
    this.#pressure?.look();
  }

  #hear(message: Incoming): void {
    if (this.scope.disposed) return;
    this.guarded('codec.read', () => {
      const steps = this.#codec.read(this.#state, message);
      if (steps.length === 0) this.dependencies.onEvent?.({ type: 'unread', slug: this.request.slug });
      this.#play(steps);
    });
  }

  #play(steps: Step[]): void {
    for (const step of steps) this.#take(step);
  }

  #take(step: Step): void {
    if (this.scope.disposed) return;
    switch (step.type) {
      case 'send':
        this.#sendAll([step.frame]);
        return;
      case 'wake':
        this.#timers.wakeAfter(step.afterMs, () =>
          this.guarded('codec.wake', () => this.#play(this.#codec.wake?.(this.#state) ?? [])),
        );
        return;
      case 'ready':
        this.tell({ type: 'provider.ready' });
        return;
      case 'finished':
        this.tell({ type: 'provider.finished' });
        return;
      case 'failed':
        this.tell({ type: 'provider.failed', failure: this.scrubber.cleanFailure(step.failure) });
        return;
      case 'warned':
        this.report({ type: 'leg.heard', heard: this.scrubber.cleanFailure(step) });
        return;
      default:
        this.report({ type: 'leg.heard', heard: step });
    }
  }

  #closed(code: number, reason: string): void {
    if (this.scope.disposed) return;
    this.guarded('codec.closed', () => {
      const meaning: Heard = this.#codec.closed(this.#state, code, reason);
      if (meaning.type === 'finished') this.tell({ type: 'provider.finished' });
      // A close in order before it was asked for is still the end of a leg that has more to hear.
      const failure = meaning.type === 'failed' ? this.scrubber.cleanFailure(meaning.failure) : closedEarly(code);
      this.tell({ type: 'wire.failed', failure });
    });
  }

  #refused(refusal: ProviderRefusal): void {
    if (this.scope.disposed) return;
    this.guarded('codec.refused', () => {
      const failure = this.#codec.refused?.(refusal) ?? failureOfStatus(refusal);
      this.tell({ type: 'wire.failed', failure: this.scrubber.cleanFailure(failure) });
    });
  }

  /** Some providers go on counting until they are told that it is over. */
  #leave(wire: Wire): void {
    if (this.#greeted && this.#codec.leave !== undefined) {
      this.guarded('codec.leave', () => this.#sendAll(this.#codec.leave?.(this.#state) ?? []));
      wire.close();
    } else if (this.outcome !== undefined) wire.close();
    else wire.terminate();
  }

  #sendAll(frames: Outgoing[]): void {
    this.#timers.touch();
    for (const frame of frames) this.#wire?.send(frame);
  }
}
