// One leg: a connection to a provider, driven by the upstream chart. It owns the wire, the codec's state and the keep-alive;
// it reports to whoever opened it, and leaves turns, audio positions and failover to the session.
import type { Actor } from 'xstate';
import type { Heard, LegCommand, LegReport, OpenLeg } from '../../machines/events.ts';
import type { UpstreamEvent, upstreamMachine } from '../../machines/upstream.ts';
import type { Incoming, LegRequest, LiveCodec, LiveTiming, Outgoing } from '../providers/provider.ts';
import { Deadline } from '../runtime/deadline.ts';
import { startObserved } from '../runtime/observe.ts';
import { Scope } from '../runtime/scope.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import { clogged, closedEarly, lostAudio } from './leg-failures.ts';
import { openWire, type Wire } from './wire.ts';

/** A report before it is addressed and numbered. */
type Report = LegReport extends infer R ? (R extends unknown ? Omit<R, 'generation' | 'sequence'> : never) : never;

const PRESSURE_BYTES = { high: 262_144, max: 1_048_576 };

/** What the opener of a leg holds. */
export interface LegHandle {
  /** Takes a command; `bytes` is the audio of `leg.audio`, valid during the call. Harmless after the leg's end. */
  command(command: LegCommand, bytes?: Uint8Array): void;
  dispose(): void;
}

/** Made by the upstream host (live.ts), whose chart calls it by the leg's id. */
export class Leg implements LegHandle {
  private readonly legId: string;
  private readonly request: OpenLeg;
  private readonly codec: LiveCodec;
  private readonly dependencies: UpstreamDependencies;
  private readonly sink: (report: LegReport) => void;
  private readonly scope: Scope;
  private readonly timing: LiveTiming;
  private readonly legRequest: LegRequest;
  private actor: Actor<typeof upstreamMachine> | undefined;
  private wire: Wire | undefined;
  private state: unknown;
  private hello: Outgoing[] = [];
  private keepAlive: Deadline | undefined;
  private reports = 0;
  private heardFrames = 0;
  private pressed = false;
  /** The leg ended in order: its connection is closed with a handshake, not dropped. */
  private inOrder = false;

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
    const slash = request.slug.indexOf('/');
    this.legRequest = {
      model: request.slug.slice(slash + 1),
      sampleRate: request.sampleRate,
      language: request.language ?? undefined,
      interimResults: request.interimResults,
      diarization: request.diarization,
      params: request.params,
      access: dependencies.access(request.slug.slice(0, slash)),
    };
    this.timing = codec.timing(this.legRequest);
  }

  start(machine: typeof upstreamMachine): void {
    const { connectMs, readyMs, drainMs } = this.timing;
    const actor = startObserved(
      machine,
      { legId: this.legId, model: this.request.slug, connectMs, readyMs, drainMs },
      this.dependencies.clock,
      {
        ended: (output) => {
          this.inOrder = output.failure === null;
          this.dependencies.onEvent?.({
            type: 'leg.ended',
            slug: this.request.slug,
            outcome: output.failure?.reason ?? 'finished',
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
        this.sendAll(this.codec.finalize(this.state));
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
    if (report.type === 'leg.finished') this.inOrder = true;
    this.sink({ ...report, generation: this.request.generation, sequence: this.reports } as LegReport);
  }

  dispose(): void {
    this.scope.dispose();
  }

  /** A fault of our own: the leg is lost, the session hears of it and goes on elsewhere. */
  fault(name: string, error: unknown): void {
    this.dependencies.onEvent?.({ type: 'fault', name, error });
    if (this.scope.disposed) return;
    this.report({
      type: 'leg.failed',
      failure: {
        kind: 'next',
        reason: 'upstream_error',
        code: 'internal_fault',
        message: 'The gateway lost its connection to the provider.',
      },
    });
    this.dispose();
  }

  dial(): void {
    const { state, endpoint, hello } = this.codec.open(this.legRequest);
    this.state = state;
    this.hello = hello;
    const wire = openWire(
      endpoint,
      this.dependencies.engines,
      {
        opened: () => this.tell({ type: 'wire.opened' }),
        message: (message) => this.hear(message),
        drained: () => this.relieve(),
        closed: (code, reason) => this.closed(code, reason),
        failed: (message, status) => this.unreachable(message, status),
      },
      this.dependencies.clock,
    );
    this.wire = wire;
    this.scope.defer(() => (this.inOrder ? wire.close() : wire.terminate()));
  }

  sendHello(): void {
    this.sendAll(this.hello);
    const { keepAliveMs } = this.timing;
    if (keepAliveMs === undefined) return;
    const rearm = (): void => {
      this.keepAlive = new Deadline(this.dependencies.clock, keepAliveMs, () => {
        try {
          this.sendAll(this.codec.keepAlive(this.state));
          rearm();
        } catch (error) {
          this.fault('codec.keepAlive', error);
        }
      });
    };
    rearm();
    this.scope.defer(() => this.keepAlive?.stop());
  }

  sendFinish(): void {
    this.sendAll(this.codec.finish(this.state));
  }

  private audio(sequence: number, bytes: Uint8Array | undefined): void {
    this.heardFrames++;
    const { wire } = this;
    if (sequence !== this.heardFrames || bytes === undefined) {
      this.tell({ type: 'wire.failed', failure: lostAudio });
      return;
    }
    if (wire === undefined) return;
    this.keepAlive?.touch();
    wire.send(this.codec.audio(this.state, bytes));
    const { high, max } = this.dependencies.pressureBytes ?? PRESSURE_BYTES;
    if (wire.bufferedBytes > max) this.tell({ type: 'wire.failed', failure: clogged });
    else if (!this.pressed && wire.bufferedBytes > high) {
      this.pressed = true;
      this.report({ type: 'leg.pressure', high: true });
    }
  }

  private relieve(): void {
    if (!this.pressed || this.scope.disposed) return;
    this.pressed = false;
    this.report({ type: 'leg.pressure', high: false });
  }

  private hear(message: Incoming): void {
    if (this.scope.disposed) return;
    let heard: Heard[];
    try {
      heard = this.codec.read(this.state, message);
    } catch (error) {
      this.fault('codec.read', error);
      return;
    }
    for (const each of heard) this.take(each);
  }

  private take(heard: Heard): void {
    if (this.scope.disposed) return;
    switch (heard.type) {
      case 'ready':
        this.tell({ type: 'provider.ready' });
        return;
      case 'finished':
        this.tell({ type: 'provider.finished' });
        return;
      case 'failed':
        this.tell({ type: 'provider.failed', failure: heard.failure });
        return;
      default:
        this.report({ type: 'leg.heard', heard });
    }
  }

  private closed(code: number, reason: string): void {
    if (this.scope.disposed) return;
    let meaning: Heard;
    try {
      meaning = this.codec.closed(this.state, code, reason);
    } catch (error) {
      this.fault('codec.closed', error);
      return;
    }
    if (meaning.type === 'finished') this.tell({ type: 'provider.finished' });
    // A close in order before it was asked for is still the end of a leg that has more to hear.
    const failure = meaning.type === 'failed' ? meaning.failure : closedEarly(code);
    this.tell({ type: 'wire.failed', failure });
  }

  private unreachable(message: string, status: number | undefined): void {
    if (this.scope.disposed) return;
    const account = status === 401 || status === 402 || status === 403;
    this.tell({
      type: 'wire.failed',
      failure: {
        kind: account ? 'account' : 'next',
        reason: 'connect_failed',
        code: status === undefined ? 'unreachable' : `http_${status}`,
        message,
      },
    });
  }

  private sendAll(frames: Outgoing[]): void {
    this.keepAlive?.touch();
    for (const frame of frames) this.wire?.send(frame);
  }

  private tell(event: UpstreamEvent): void {
    if (!this.scope.disposed) this.actor?.send(event);
  }
}
