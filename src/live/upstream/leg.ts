// A leg: one connection of a session to a model. It runs the upstream chart, numbers what is reported to its owner, and
// releases everything at its end. How the provider is reached is decided by its connection.
import type { Actor } from 'xstate';
import type { Heard, LegCommand, LegFailure, LegReport, OpenLeg } from '../../../machines/events.ts';
import type { UpstreamEvent, upstreamMachine } from '../../../machines/upstream.ts';
import { providerOf } from '../../api/slug.ts';
import { startObserved } from '../../runtime/actors.ts';
import { DisposerStack } from '../../runtime/disposer-stack.ts';
import type { ProviderAccess } from '../../vendors/kit/provider.ts';
import type { ConnectionLeg, LegConnection, LegHandle, UpstreamDependencies } from './leg-connection.ts';
import { accessWithin, NO_ACCESS } from './leg-connection.ts';
import { lostAudio, ownFault, ownKeyUnavailable, placeNotKept } from './leg-failures.ts';
import { Scrubber } from './secrets.ts';

/** A report before it is addressed and numbered. */
type Report = LegReport extends infer R ? (R extends unknown ? Omit<R, 'generation' | 'sequence'> : never) : never;

/** Who has opened a leg. */
export interface LegOwner {
  report(report: LegReport): void;
  /** The provider took the leg, or it failed before that: told before it is reported. */
  dialled(failure: LegFailure | undefined): void;
  /** Its chart is about to start. */
  starting?(leg: Leg, chart: Actor<typeof upstreamMachine>): void;
  /** The leg holds nothing any more. Called once. */
  gone(): void;
}

/** Made by the upstream host, whose chart calls it by the leg's id. */
export class Leg implements LegHandle, ConnectionLeg {
  request: OpenLeg;
  readonly dependencies: UpstreamDependencies;
  readonly scope: DisposerStack;
  readonly connection: LegConnection;
  scrubber = new Scrubber(NO_ACCESS);
  readonly #legId: string;
  readonly #owner: LegOwner;
  #outcome: 'finished' | 'released' | undefined;
  #actor: Actor<typeof upstreamMachine> | undefined;
  #isReady = false;
  #reports = 0;
  #audioFrames = 0;
  /** The latest report that the chart has told, by its number. */
  chartReport = 0;

  constructor(
    legId: string,
    request: OpenLeg,
    dependencies: UpstreamDependencies,
    owner: LegOwner,
    connectionOf: (leg: ConnectionLeg) => LegConnection,
  ) {
    this.#legId = legId;
    this.request = request;
    this.dependencies = dependencies;
    this.#owner = owner;
    this.scope = new DisposerStack((error) => dependencies.onEvent?.({ type: 'fault', name: 'dispose', error }));
    this.scope.defer(() => owner.gone());
    this.connection = connectionOf(this);
  }

  start(machine: typeof upstreamMachine): void {
    const { connectMs, readyMs, drainMs } = this.connection.timing;
    const actor = startObserved(
      machine,
      { legId: this.#legId, model: this.request.slug, connectMs, readyMs, drainMs },
      this.dependencies.clock,
      {
        starting: (chart) => this.#owner.starting?.(this, chart),
        ended: (output) => {
          if (output.failure === null) this.#outcome ??= 'released';
          this.dependencies.onEvent?.({
            type: 'leg.ended',
            slug: this.request.slug,
            outcome: output.failure?.reason ?? (this.#outcome as string),
          });
          this.dispose();
        },
        failed: (error) => this.fault('chart', error),
      },
    );
    this.#actor = actor;
    this.scope.defer(() => actor.stop());
  }

  // Without a closure: this is called for every frame of audio.
  command(command: LegCommand, bytes?: Uint8Array): void {
    if (this.scope.disposed) return;
    try {
      this.#obey(command, bytes);
    } catch (error) {
      this.fault(command.type, error);
    }
  }

  #obey(command: LegCommand, bytes: Uint8Array | undefined): void {
    switch (command.type) {
      case 'leg.audio':
        this.#audioFrames++;
        if (command.sequence === this.#audioFrames && bytes !== undefined) this.connection.audio(bytes);
        else this.tell({ type: 'wire.failed', failure: lostAudio });
        return;
      case 'leg.finalize':
        this.connection.finalize();
        return;
      case 'leg.reconfigure': {
        const { language, diarization, params } = command;
        this.connection.reconfigure({ ...this.request, language, diarization, params });
        return;
      }
      case 'leg.finish':
        this.tell(command);
        return;
      case 'leg.stalled':
        this.tell({ type: 'provider.stalled' });
        return;
      case 'leg.break':
        this.connection.breakDown(command.fault);
        return;
      case 'leg.close':
        this.tell({ type: 'leg.close' });
        this.dispose();
        return;
    }
  }

  /** The credential is requested here, and stays in this connection. The service's is there at once. */
  dial(): void {
    const { slug, credentialId, organisationId } = this.request;
    const access = this.dependencies.access(providerOf(slug), credentialId, organisationId);
    if (access instanceof Promise) {
      access.then(
        // Closed meanwhile, or out of time: then the provider is not dialled.
        (opened) => this.scope.disposed || this.guarded('dial', () => this.#connect(opened)),
        () => this.tell({ type: 'wire.failed', failure: ownKeyUnavailable }),
      );
    } else this.#connect(access);
  }

  #connect(opened: ProviderAccess): void {
    const access = accessWithin(this.request, opened, this.dependencies.providers);
    if (access === undefined) {
      // Later: where the access is there at once, the chart is about to start.
      queueMicrotask(() => this.tell({ type: 'wire.failed', failure: placeNotKept }));
      return;
    }
    this.scrubber = new Scrubber(access);
    this.connection.connect(access);
  }

  ready(): void {
    this.#isReady = true;
    this.#owner.dialled(undefined);
    this.#boundary({ type: 'leg.ready' });
  }

  simulated(): void {
    if (!this.scope.disposed) this.report({ type: 'leg.simulated' });
  }

  heard(heard: Heard, readMs = this.dependencies.clock.now()): void {
    if (!this.scope.disposed) this.report({ type: 'leg.heard', heard, readMs });
  }

  pressed(high: boolean): void {
    if (!this.scope.disposed) this.report({ type: 'leg.pressure', high });
  }

  overdue(): void {
    this.#boundary({ type: 'leg.overdue' });
  }

  finished(): void {
    // Noted before it is told: the session releases the leg from within.
    this.#outcome = 'finished';
    this.#boundary({ type: 'leg.finished' });
  }

  failed(failure: LegFailure): void {
    if (!this.#isReady) this.#owner.dialled(failure);
    this.#boundary({ type: 'leg.failed', failure });
  }

  #boundary(report: Report): void {
    this.chartReport = this.#reports + 1;
    this.report(report);
  }

  /** Its chart, to be looked at. Undefined before it has begun. */
  get chart(): Actor<typeof upstreamMachine> | undefined {
    return this.#actor;
  }

  report(report: Report): void {
    this.#reports++;
    const numbered = report as LegReport;
    numbered.generation = this.request.generation;
    numbered.sequence = this.#reports;
    this.#owner.report(numbered);
  }

  get endedInOrder(): boolean {
    return this.#outcome !== undefined;
  }

  dispose(): void {
    this.scope.dispose();
  }

  /** A fault of our own: the leg is lost, the session hears of it and continues elsewhere. */
  fault(name: string, error: unknown): void {
    this.dependencies.onEvent?.({ type: 'fault', name, error: this.scrubber.cleanError(error) });
    if (this.scope.disposed) return;
    this.failed(ownFault);
    this.dispose();
  }

  guarded(name: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fault(name, error);
    }
  }

  tell(event: UpstreamEvent): void {
    if (!this.scope.disposed) this.#actor?.send(event);
  }
}
