// One leg: a connection to a provider, driven by the upstream chart. It owns the wire, the codec's state and the keep-alive;
// it reports to whoever opened it, and leaves turns, audio positions and failover to the session.
import type { Actor } from 'xstate';
import type { Heard, LegCommand, LegReport, OpenLeg } from '../../machines/events.ts';
import type { UpstreamEvent, upstreamMachine } from '../../machines/upstream.ts';
import { providerOf } from '../api/slug.ts';
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
import { startObserved } from '../runtime/observe.ts';
import { Scope } from '../runtime/scope.ts';
import type { LegHandle, UpstreamDependencies } from './dependencies.ts';
import { clogged, closedEarly, lostAudio, ownFault, ownKeyUnavailable, unreachable } from './leg-failures.ts';
import { legRequestOf, NO_ACCESS } from './leg-request.ts';
import { LegTimers } from './leg-timers.ts';
import { Pressure } from './pressure.ts';
import { Scrubber } from './secrets.ts';
import { openWire, type Wire } from './wire.ts';

/** A report before it is addressed and numbered. */
type Report = LegReport extends infer R ? (R extends unknown ? Omit<R, 'generation' | 'sequence'> : never) : never;

/** Made by the upstream host (live.ts), whose chart calls it by the leg's id. */
export class Leg implements LegHandle {
  private readonly legId: string;
  private readonly request: OpenLeg;
  private readonly codec: LiveCodec;
  private readonly dependencies: UpstreamDependencies;
  private readonly sink: (report: LegReport) => void;
  private readonly scope: Scope;
  private readonly timing: LiveTiming;
  private scrubber = new Scrubber(NO_ACCESS);
  private actor: Actor<typeof upstreamMachine> | undefined;
  private wire: Wire | undefined;
  private state: unknown;
  private hello: Outgoing[] = [];
  private readonly timers: LegTimers;
  /** The connection was opened: the provider knows of this leg. */
  private greeted = false;
  private reports = 0;
  private heardFrames = 0;
  private pressure: Pressure | undefined;
  /** Where the leg ended in order: its connection is closed with a handshake then, not dropped. */
  private outcome: 'finished' | 'released' | undefined;

  constructor(
    legId: string,
    request: OpenLeg,
    codec: LiveCodec,
    dependencies: UpstreamDependencies,
    report: (report: LegReport) => void,
    onDispose: () => void,
  ) {
    this.legId = legId;
    this.request = request;
    this.codec = codec;
    this.dependencies = dependencies;
    this.sink = report;
    this.scope = new Scope((error) => dependencies.onEvent?.({ type: 'fault', name: 'dispose', error }));
    this.scope.defer(onDispose);
    this.timers = new LegTimers(dependencies.clock);
    this.scope.defer(() => this.timers.stop());
    this.timing = codec.timing(legRequestOf(request, NO_ACCESS));
  }

  start(machine: typeof upstreamMachine): void {
    const { connectMs, readyMs, drainMs } = this.timing;
    const actor = startObserved(
      machine,
      { legId: this.legId, model: this.request.slug, connectMs, readyMs, drainMs },
      this.dependencies.clock,
      {
        ended: (output) => {
          if (output.failure === null) this.outcome ??= 'released';
          this.dependencies.onEvent?.({
            type: 'leg.ended',
            slug: this.request.slug,
            outcome: output.failure?.reason ?? (this.outcome as string),
          });
          this.dispose();
        },
        failed: (error) => this.fault('chart', error),
      },
    );
    this.actor = actor;
    this.scope.defer(() => actor.stop());
  }

  command(command: LegCommand, bytes?: Uint8Array): void {
    if (this.scope.disposed) return;
    try {
      this.obey(command, bytes);
    } catch (error) {
      this.fault(command.type, error);
    }
  }

  private obey(command: LegCommand, bytes: Uint8Array | undefined): void {
    switch (command.type) {
      case 'leg.audio':
        this.audio(command.sequence, bytes);
        return;
      case 'leg.finalize':
        this.play(this.codec.finalize(this.state));
        return;
      case 'leg.finish':
        this.tell({ type: 'leg.finish' });
        return;
      case 'leg.stalled':
        this.tell({ type: 'provider.stalled' });
        return;
      case 'leg.close':
        this.tell({ type: 'leg.close' });
        this.dispose();
        return;
    }
  }

  report(report: Report): void {
    this.reports++;
    // Noted before it is told: the session lets go of the leg from within.
    if (report.type === 'leg.finished') this.outcome = 'finished';
    this.sink({ ...report, generation: this.request.generation, sequence: this.reports } as LegReport);
  }

  dispose(): void {
    this.scope.dispose();
  }

  /** A fault of our own: the leg is lost, the session hears of it and goes on elsewhere. */
  fault(name: string, error: unknown): void {
    this.dependencies.onEvent?.({ type: 'fault', name, error: this.scrubber.cleanError(error) });
    if (this.scope.disposed) return;
    this.report({ type: 'leg.failed', failure: ownFault });
    this.dispose();
  }

  /** The credential is asked for here, and stays in this connection. The service's is there at once. */
  dial(): void {
    const { slug, credentialId, organisationId } = this.request;
    const access = this.dependencies.access(providerOf(slug), credentialId, organisationId);
    if (access instanceof Promise) {
      access.then(
        // Let go of meanwhile, or out of time: nobody is to be dialled any more.
        (opened) => this.scope.disposed || this.guarded('dial', () => this.connect(opened)),
        () => this.tell({ type: 'wire.failed', failure: ownKeyUnavailable }),
      );
    } else this.connect(access);
  }

  private connect(access: ProviderAccess): void {
    this.scrubber = new Scrubber(access);
    const { state, endpoint, hello } = this.codec.open(legRequestOf(this.request, access));
    this.state = state;
    this.hello = hello;
    const wire = openWire(
      endpoint,
      this.dependencies.engines,
      {
        opened: () => this.tell({ type: 'wire.opened' }),
        message: (message) => this.hear(message),
        drained: () => this.pressure?.relieve(),
        closed: (code, reason) => this.closed(code, reason),
        refused: (refusal) => this.refused(refusal),
        unreachable: (message) => this.tell({ type: 'wire.failed', failure: unreachable(message) }),
      },
      this.dependencies.clock,
      this.dependencies.openSocket,
    );
    this.wire = wire;
    this.pressure = new Pressure(wire, this.dependencies, {
      changed: (high) => this.report({ type: 'leg.pressure', high }),
      clogged: () => this.tell({ type: 'wire.failed', failure: clogged }),
    });
    this.scope.defer(() => this.pressure?.stop());
    this.scope.defer(() => this.leave(wire));
  }

  sendHello(): void {
    this.greeted = true;
    this.sendAll(this.hello);
    this.timers.keepAliveEvery(this.timing.keepAliveMs, () =>
      this.guarded('codec.keepAlive', () => this.sendAll(this.codec.keepAlive(this.state))),
    );
    if (this.codec.opened !== undefined) this.play(this.codec.opened(this.state));
  }

  sendFinish(): void {
    this.play(this.codec.finish(this.state));
  }

  private audio(sequence: number, bytes: Uint8Array | undefined): void {
    this.heardFrames++;
    const { wire } = this;
    if (sequence !== this.heardFrames || bytes === undefined) {
      this.tell({ type: 'wire.failed', failure: lostAudio });
      return;
    }
    if (wire === undefined) return;
    this.timers.touch();
    wire.send(this.codec.audio(this.state, bytes));
    this.pressure?.look();
  }

  private hear(message: Incoming): void {
    if (this.scope.disposed) return;
    this.guarded('codec.read', () => {
      const steps = this.codec.read(this.state, message);
      if (steps.length === 0) this.dependencies.onEvent?.({ type: 'unread', slug: this.request.slug });
      this.play(steps);
    });
  }

  private play(steps: Step[]): void {
    for (const step of steps) this.take(step);
  }

  private take(step: Step): void {
    if (this.scope.disposed) return;
    switch (step.type) {
      case 'send':
        this.sendAll([step.frame]);
        return;
      case 'wake':
        this.timers.wakeAfter(step.afterMs, () =>
          this.guarded('codec.wake', () => this.play(this.codec.wake?.(this.state) ?? [])),
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

  private closed(code: number, reason: string): void {
    if (this.scope.disposed) return;
    this.guarded('codec.closed', () => {
      const meaning: Heard = this.codec.closed(this.state, code, reason);
      if (meaning.type === 'finished') this.tell({ type: 'provider.finished' });
      // A close in order before it was asked for is still the end of a leg that has more to hear.
      const failure = meaning.type === 'failed' ? this.scrubber.cleanFailure(meaning.failure) : closedEarly(code);
      this.tell({ type: 'wire.failed', failure });
    });
  }

  private refused(refusal: ProviderRefusal): void {
    if (this.scope.disposed) return;
    this.guarded('codec.refused', () => {
      const failure = this.codec.refused?.(refusal) ?? failureOfStatus(refusal);
      this.tell({ type: 'wire.failed', failure: this.scrubber.cleanFailure(failure) });
    });
  }

  /** Some providers go on counting until they are told that it is over. */
  private leave(wire: Wire): void {
    if (this.greeted && this.codec.leave !== undefined) {
      this.guarded('codec.leave', () => this.sendAll(this.codec.leave?.(this.state) ?? []));
      wire.close();
    } else if (this.outcome !== undefined) wire.close();
    else wire.terminate();
  }

  /** Runs what may throw; a throw is a fault of our own. */
  private guarded(name: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fault(name, error);
    }
  }

  private sendAll(frames: Outgoing[]): void {
    this.timers.touch();
    for (const frame of frames) this.wire?.send(frame);
  }

  private tell(event: UpstreamEvent): void {
    if (!this.scope.disposed) this.actor?.send(event);
  }
}
