// All live legs of this node: gives the upstream chart its actions, once, and knows every leg by its id. What a leg does
// with its connection is in leg.ts; where it has none, in segmented-leg.ts.
import type { LegFailure, LegReport, OpenLeg } from '../../machines/events.ts';
import { upstreamMachine } from '../../machines/upstream.ts';
import { providerOf } from '../api/slug.ts';
import { hearsUtterances } from '../providers/live-turns.ts';
import { guardActions } from '../runtime/observe.ts';
import type { ChartedLeg } from './charted-leg.ts';
import type { LegHandle, UpstreamDependencies } from './dependencies.ts';
import { Leg } from './leg.ts';
import { SegmentedLeg } from './segmented/segmented-leg.ts';

export type { LegHandle, UpstreamDependencies };

/** All live legs of this node. `provide` happens here, once. */
export class UpstreamHost {
  readonly #dependencies: UpstreamDependencies;
  readonly #legs = new Map<string, ChartedLeg>();
  readonly #machine;

  constructor(dependencies: UpstreamDependencies) {
    this.#dependencies = dependencies;
    const leg = (args: { context: { legId: string } }) => this.#legs.get(args.context.legId);
    this.#machine = upstreamMachine.provide({
      actions: guardActions(
        {
          dial: (args: { context: { legId: string } }) => leg(args)?.dial(),
          sendHello: (args: { context: { legId: string } }) => leg(args)?.sendHello(),
          tellReady: (args: { context: { legId: string } }) => leg(args)?.report({ type: 'leg.ready' }),
          sendFinish: (args: { context: { legId: string } }) => leg(args)?.sendFinish(),
          tellFinished: (args: { context: { legId: string } }) => leg(args)?.report({ type: 'leg.finished' }),
          tellFailed: (args: { context: { legId: string; failure: LegFailure | null } }) => {
            const { failure } = args.context;
            if (failure !== null) leg(args)?.report({ type: 'leg.failed', failure });
          },
        },
        (name, args, error) => leg(args)?.fault(name, error),
      ),
    });
  }

  /** Legs that are open now. */
  get size(): number {
    return this.#legs.size;
  }

  /** The clock that legs live by. */
  get clock(): UpstreamDependencies['clock'] {
    return this.#dependencies.clock;
  }

  /** What a connection of this node's is made with; for one that is no leg. Its secrets stay in that connection. */
  access(...args: Parameters<UpstreamDependencies['access']>): ReturnType<UpstreamDependencies['access']> {
    return this.#dependencies.access(...args);
  }

  /**
   * Opens a leg. Reports come to `report`, maybe before this returns; after `leg.failed` or `leg.finished` nothing follows.
   * `onGone` is called once, when the leg holds nothing any more. Throws when the model is unknown here.
   */
  open(legId: string, request: OpenLeg, report: (report: LegReport) => void, onGone: () => void = () => {}): LegHandle {
    const leg = this.#legOf(legId, request, report, () => {
      this.#legs.delete(legId);
      onGone();
    });
    this.#legs.set(legId, leg);
    leg.start(this.#machine);
    return leg;
  }

  #legOf(legId: string, request: OpenLeg, report: (report: LegReport) => void, onDispose: () => void): ChartedLeg {
    const dependencies = this.#dependencies;
    const { http } = dependencies;
    const provider = dependencies.providers.get(providerOf(request.slug));
    const card = provider?.models.find(({ id }) => id === request.slug);
    if (card !== undefined && hearsUtterances(card)) {
      if (provider?.batch?.kind === 'http' && http !== undefined)
        return new SegmentedLeg(legId, request, provider, provider.batch, { ...dependencies, http }, report, onDispose);
      throw new Error(`This node sends no files, so it cannot open a leg of "${request.slug}".`);
    }
    if (provider?.live === undefined) throw new Error(`No provider of this node has the live model "${request.slug}".`);
    return new Leg(legId, request, provider.live, dependencies, report, onDispose);
  }

  /** Drops every leg; their sessions hear nothing more of them. */
  close(): void {
    for (const leg of [...this.#legs.values()]) leg.dispose();
  }
}
