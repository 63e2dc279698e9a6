// All live legs of this node: gives the upstream chart its actions, once, knows every leg by its id, and makes the connection that
// its model needs.
import type { LegFailure, LegReport, OpenLeg } from '../../../machines/events.ts';
import { upstreamMachine } from '../../../machines/upstream.ts';
import { modelOf, providerOf } from '../../api/slug.ts';
import { guardActions } from '../../runtime/actors.ts';
import { hearsUtterances } from '../../vendors/kit/live-turns.ts';
import type { ModelCard } from '../../vendors/kit/provider.ts';
import { gatedConnection } from './gated-connection.ts';
import { Leg, type LegOwner } from './leg.ts';
import type { ConnectionLeg, LegConnection, LegHandle, UpstreamDependencies } from './leg-connection.ts';
import { SegmentedConnection } from './segmented-connection.ts';
import { StreamConnection } from './stream-connection.ts';

export type { LegHandle, UpstreamDependencies };

/** All live legs of this node. `provide` happens here, once. */
export class UpstreamHost {
  readonly #dependencies: UpstreamDependencies;
  readonly #legs = new Map<string, Leg>();
  readonly #machine;

  constructor(dependencies: UpstreamDependencies) {
    this.#dependencies = dependencies;
    const leg = (args: { context: { legId: string } }) => this.#legs.get(args.context.legId);
    this.#machine = upstreamMachine.provide({
      actions: guardActions(
        {
          dial: (args: { context: { legId: string } }) => leg(args)?.dial(),
          sendHello: (args: { context: { legId: string } }) => leg(args)?.connection.sendHello(),
          tellReady: (args: { context: { legId: string } }) => leg(args)?.ready(),
          sendFinish: (args: { context: { legId: string } }) => leg(args)?.connection.sendFinish(),
          askForSign: (args: { context: { legId: string } }) => leg(args)?.connection.ping(),
          tellOverdue: (args: { context: { legId: string } }) => leg(args)?.overdue(),
          tellFinished: (args: { context: { legId: string } }) => leg(args)?.finished(),
          tellFailed: (args: { context: { legId: string; failure: LegFailure | null } }) => {
            const { failure } = args.context;
            if (failure !== null) leg(args)?.failed(failure);
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

  /** Whether this node has the model: another one may have servers of its own. */
  knows(slug: string): boolean {
    return this.#cardOf(slug) !== undefined;
  }

  /** A leg of this node, to be watched. */
  find(legId: string): Pick<Leg, 'chart' | 'chartReport'> | undefined {
    return this.#legs.get(legId);
  }

  /** The clock that legs live by. */
  get clock(): UpstreamDependencies['clock'] {
    return this.#dependencies.clock;
  }

  /** What a connection of this node's is made with; for one that is not a leg. Its secrets stay in that connection. */
  access(...args: Parameters<UpstreamDependencies['access']>): ReturnType<UpstreamDependencies['access']> {
    return this.#dependencies.access(...args);
  }

  /**
   * Opens a leg. Reports come to `report`, maybe before this returns; after `leg.failed` or `leg.finished` nothing follows.
   * Throws when the model is unknown here.
   */
  open(
    legId: string,
    request: OpenLeg,
    report: (report: LegReport) => void,
    { dialled, starting, gone }: Partial<Omit<LegOwner, 'report'>> = {},
  ): LegHandle {
    const owner: LegOwner = {
      report,
      dialled: (failure) => dialled?.(failure),
      starting: (leg, chart) => starting?.(leg, chart),
      gone: () => {
        this.#legs.delete(legId);
        gone?.();
      },
    };
    const connectionOf = (leg: ConnectionLeg): LegConnection => this.#connectionOf(leg);
    const leg = new Leg(legId, request, this.#dependencies, owner, (leg) =>
      request.speechGate === undefined ? connectionOf(leg) : gatedConnection(leg, request.speechGate, connectionOf),
    );
    this.#legs.set(legId, leg);
    leg.start(this.#machine);
    return leg;
  }

  #cardOf(slug: string): ModelCard | undefined {
    return this.#dependencies.providers.get(providerOf(slug))?.models.find(({ id }) => id === slug);
  }

  #connectionOf(leg: ConnectionLeg): LegConnection {
    const { providers, http } = this.#dependencies;
    const { slug } = leg.request;
    const provider = providers.get(providerOf(slug));
    const card = this.#cardOf(slug);
    if (card !== undefined && hearsUtterances(card)) {
      if (provider?.batch?.kind === 'http' && http !== undefined)
        return new SegmentedConnection(provider, provider.batch, http, leg);
      throw new Error(`This node sends no files, so it cannot open a leg of "${slug}".`);
    }
    if (provider?.live === undefined) throw new Error(`No provider of this node has the live model "${slug}".`);
    return new StreamConnection(provider.live(modelOf(slug)), leg);
  }

  /** Drops every leg; their sessions hear nothing more of them. */
  close(): void {
    for (const leg of [...this.#legs.values()]) leg.dispose();
  }
}
