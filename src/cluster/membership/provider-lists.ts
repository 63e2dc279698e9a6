// The lists of providers in heartbeats. A node sends its own lists when they change and when another node joins; every other
// heartbeat only has their revision. Otherwise these lists would be most of the traffic between idle nodes.
import type { UpstreamState } from '../placement/upstream-state.ts';
import type { Heartbeat } from './heartbeat.ts';

/** Stands for lists that have not arrived yet, so that no connection is opened on that node until they have. */
const UNKNOWN: UpstreamState = { providers: [], credentials: [], failing: [], shortOf: null };
/** The revision of a node without lists. */
const NONE = 0;

/** The lists of this node, as it sends them. */
export class OwnLists {
  #text = '';
  #revision = NONE;
  #sentRevision: number | undefined;

  /** Called with the current lists before each heartbeat and each answer. */
  revisionOf(upstream: UpstreamState | undefined): number {
    if (upstream === undefined) return NONE;
    const text = JSON.stringify(upstream);
    if (text !== this.#text) this.#revision++;
    this.#text = text;
    return this.#revision;
  }

  /** Makes the next heartbeat include the lists: a node joined, or messages may have been lost. */
  repeat(): void {
    this.#sentRevision = undefined;
  }

  /** The heartbeat to send: without the lists if all other nodes have them. */
  outgoing(own: Heartbeat, others: readonly Heartbeat[]): Heartbeat {
    const isSent = own.upstreamRevision === this.#sentRevision;
    this.#sentRevision = own.upstreamRevision;
    // Earlier versions treat a heartbeat without lists as one of a node that can open everything.
    if (!isSent || others.some(({ upstreamRevision }) => upstreamRevision === undefined)) return own;
    const { upstream, ...rest } = own;
    return rest;
  }
}

/** Adds the known lists to a heartbeat without lists. `isComplete` is false when the node has to be asked for its lists. */
export function withLists(beat: Heartbeat, known: Heartbeat | undefined): { beat: Heartbeat; isComplete: boolean } {
  const { upstream, upstreamRevision } = beat;
  if (upstream !== undefined || upstreamRevision === undefined || upstreamRevision === NONE)
    return { beat, isComplete: true };
  if (known?.upstreamRevision === upstreamRevision)
    return { beat: known.upstream === undefined ? beat : { ...beat, upstream: known.upstream }, isComplete: true };
  // Has the revision of the lists that it carries, so that the next heartbeat is compared with these.
  return {
    beat: { ...beat, upstream: known?.upstream ?? UNKNOWN, upstreamRevision: known?.upstreamRevision ?? NONE },
    isComplete: false,
  };
}
