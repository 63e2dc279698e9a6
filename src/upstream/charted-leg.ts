// What all legs have in common: the upstream chart, the numbered reports to the session, and an end at which everything is
// let go of. How a leg reaches its provider is that of leg.ts and segmented-leg.ts.
import type { Actor } from 'xstate';
import type { LegCommand, LegReport, OpenLeg } from '../../machines/events.ts';
import type { UpstreamEvent, upstreamMachine } from '../../machines/upstream.ts';
import { providerOf } from '../api/slug.ts';
import type { LiveTiming, ProviderAccess } from '../providers/provider.ts';
import { startObserved } from '../runtime/observe.ts';
import { Scope } from '../runtime/scope.ts';
import type { LegHandle, UpstreamDependencies } from './dependencies.ts';
import { ownFault, ownKeyUnavailable } from './leg-failures.ts';
import { NO_ACCESS } from './leg-request.ts';
import { Scrubber } from './secrets.ts';

/** A report before it is addressed and numbered. */
export type Report = LegReport extends infer R
  ? R extends unknown
    ? Omit<R, 'generation' | 'sequence'>
    : never
  : never;

/** Made by the upstream host (upstream-host.ts), whose chart calls it by the leg's id. */
export abstract class ChartedLeg implements LegHandle {
  protected readonly request: OpenLeg;
  protected readonly dependencies: UpstreamDependencies;
  protected readonly scope: Scope;
  protected abstract readonly timing: LiveTiming;
  protected scrubber = new Scrubber(NO_ACCESS);
  /** Where the leg ended in order. */
  protected outcome: 'finished' | 'released' | undefined;
  readonly #legId: string;
  readonly #sink: (report: LegReport) => void;
  #actor: Actor<typeof upstreamMachine> | undefined;
  #reports = 0;
  #audioFrames = 0;

  constructor(
    legId: string,
    request: OpenLeg,
    dependencies: UpstreamDependencies,
    report: (report: LegReport) => void,
    onDispose: () => void,
  ) {
    this.#legId = legId;
    this.request = request;
    this.dependencies = dependencies;
    this.#sink = report;
    this.scope = new Scope((error) => dependencies.onEvent?.({ type: 'fault', name: 'dispose', error }));
    this.scope.defer(onDispose);
  }

  start(machine: typeof upstreamMachine): void {
    const { connectMs, readyMs, drainMs } = this.timing;
    const actor = startObserved(
      machine,
      { legId: this.#legId, model: this.request.slug, connectMs, readyMs, drainMs },
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
    this.#actor = actor;
    this.scope.defer(() => actor.stop());
  }

  command(command: LegCommand, bytes?: Uint8Array): void {
    if (!this.scope.disposed) this.guarded(command.type, () => this.#obey(command, bytes));
  }

  #obey(command: LegCommand, bytes: Uint8Array | undefined): void {
    switch (command.type) {
      case 'leg.audio':
        this.#audioFrames++;
        this.audio(command.sequence === this.#audioFrames ? bytes : undefined);
        return;
      case 'leg.finalize':
        this.finalize();
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
    this.#reports++;
    // Noted before it is told: the session lets go of the leg from within.
    if (report.type === 'leg.finished') this.outcome = 'finished';
    this.#sink({ ...report, generation: this.request.generation, sequence: this.#reports } as LegReport);
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
        (opened) => this.scope.disposed || this.guarded('dial', () => this.#connectWith(opened)),
        () => this.tell({ type: 'wire.failed', failure: ownKeyUnavailable }),
      );
    } else this.#connectWith(access);
  }

  #connectWith(access: ProviderAccess): void {
    this.scrubber = new Scrubber(access);
    this.connect(access);
  }

  /** Reaches the provider. */
  protected abstract connect(access: ProviderAccess): void;
  /** The connection is open. */
  abstract sendHello(): void;
  /** No more audio follows: what is left is to be said. */
  abstract sendFinish(): void;
  /** A frame of audio, valid during the call; undefined where one was lost on its way. */
  protected abstract audio(bytes: Uint8Array | undefined): void;
  /** Ends the current turn now. */
  protected abstract finalize(): void;

  /** Runs what may throw; a throw is a fault of our own. */
  protected guarded(name: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fault(name, error);
    }
  }

  protected tell(event: UpstreamEvent): void {
    if (!this.scope.disposed) this.#actor?.send(event);
  }
}
