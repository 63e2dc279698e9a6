// The heartbeat that a node sends every two seconds, and its checks when it is read.
import { ROLES, type Role } from '../../config/schema-cluster.ts';
import { NODE_HEARTBEAT } from '../bus/subjects.ts';

export const HEARTBEAT_MS = 2000;
/** A node counts as silent after three missed heartbeats. */
export const GONE_MS = 3 * HEARTBEAT_MS;

/** The load of a node. */
export interface NodeLoad {
  /** Sessions of its clients. */
  sessions: number;
  /** Connections to providers. */
  legs: number;
  /** The most sessions that it accepts; null without a limit. */
  sessionsMax: number | null;
  /** Where its clients and the console reach it, if it serves them; absent in heartbeats of earlier versions. */
  url?: string | undefined;
  /**
   * Of its connections to providers, if it has that role. Left out of most heartbeats: see `OwnLists`. Absent in
   * heartbeats of the first versions.
   */
  upstream?: UpstreamState | undefined;
}

export interface Heartbeat extends NodeLoad {
  /** Grows when `upstream` changes; 0 without it. Absent in heartbeats of earlier versions, which always include `upstream`. */
  upstreamRevision?: number | undefined;
  type: typeof NODE_HEARTBEAT;
  /** Its incarnation: the node part of addresses. */
  node: string;
  /** The name that its operator gave it; the same after a restart. */
  id: string;
  roles: Role[];
  version: string;
  /** It drains: accepts nothing new, and ends soon. */
  draining: boolean;
  /** It leaves: this is its last heartbeat. */
  leaving: boolean;
  /** Its wall clock, in epoch milliseconds. */
  wallMs: number;
  /** Nodes that it does not hear any more: in answers to a request for the status only. Absent in those of earlier versions. */
  missing?: MissingNode[] | undefined;
}

const NODE = /^[a-zA-Z0-9_-]{1,32}$/;
/** No spaces and no control characters: it is printed in a terminal. */
const TEXT = /^[\x21-\x7e]{1,64}$/;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
/** Printed in a terminal and a mail, too. */
const URL_TEXT = /^https?:\/\/[\x21-\x7e]{1,240}$/;

const isUrl = (value: unknown): value is string =>
  typeof value === 'string' && URL_TEXT.test(value) && URL.canParse(value);
const isText = (value: unknown): value is string => typeof value === 'string' && TEXT.test(value);
const isName = (id: unknown, node: unknown): boolean => isText(id) && isText(node) && NODE.test(node);

/** Undefined when it is not a heartbeat. Drops roles that this version does not know. */
export function readHeartbeat(body: unknown): Heartbeat | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const fields = body as Partial<Record<keyof Heartbeat, unknown>>;
  const { type, node, id, roles, version, sessions, legs, sessionsMax, url, draining, leaving, wallMs } = fields;
  if (type !== NODE_HEARTBEAT || !isText(node) || !NODE.test(node) || !isText(id) || !isText(version)) return undefined;
  if (!Array.isArray(roles) || roles.length > 16) return undefined;
  if (!isCount(sessions) || !isCount(legs) || !(sessionsMax === null || isCount(sessionsMax))) return undefined;
  const upstream = readUpstreamState(fields.upstream);
  const { upstreamRevision } = fields;
  const missing = readMissing(fields.missing, isName);
  if (typeof draining !== 'boolean' || typeof leaving !== 'boolean' || !isCount(wallMs)) return undefined;
  return {
    type,
    node,
    id,
    roles: ROLES.filter((role) => roles.includes(role)),
    version,
    sessions,
    legs,
    sessionsMax,
    ...(isUrl(url) && { url }),
    ...(upstream !== undefined && { upstream }),
    ...(isCount(upstreamRevision) && { upstreamRevision }),
    draining,
    leaving,
    wallMs,
    ...(missing !== undefined && { missing }),
  };
}

export type ShortOf = 'time' | 'memory' | 'legs';

/** The part of a heartbeat about connections to providers. */
export interface UpstreamState {
  /** Providers that it knows: a customer's own key can be used there. */
  providers: readonly string[];
  /** Providers for which it has the service's credential, and those that need none. */
  credentials: readonly string[];
  /** Providers that it could not reach lately. */
  failing: readonly string[];
  /** The resource that it lacks for more legs. */
  shortOf: ShortOf | null;
}

const NAMES_MAX = 192;
/** A provider, or a model on an operator's own server. */
const NAME = /^[a-z0-9-]{1,32}(?:\/[\w.:-]{1,96})?$/;
const SHORT: readonly unknown[] = ['time', 'memory', 'legs', null];

const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= NAMES_MAX &&
  value.every((name) => typeof name === 'string' && NAME.test(name));

/** Undefined when it is absent or malformed: a node of an earlier version counts as able to open everything. */
function readUpstreamState(value: unknown): UpstreamState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { providers, credentials, failing, shortOf } = value as Partial<Record<keyof UpstreamState, unknown>>;
  if (!areNames(providers) || !areNames(credentials) || !areNames(failing) || !SHORT.includes(shortOf))
    return undefined;
  return { providers, credentials, failing, shortOf: shortOf as ShortOf | null };
}

/** Stands for lists that have not arrived yet, so that no connection is opened on that node until they have. */
const UNKNOWN: UpstreamState = { providers: [], credentials: [], failing: [], shortOf: null };
/** The revision of a node without lists. */
const NONE = 0;

/**
 * The lists of this node, as it sends them: when they change and when another node joins. Every other heartbeat only has their
 * revision; otherwise these lists would be most of the traffic between idle nodes.
 */
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

/** Nodes to remember; beyond, the one that was heard longest ago is forgotten. */
const MISSING_MAX = 32;
/** Time after which nobody looks for a node any more. */
const FORGOTTEN_MS = 3_600_000;

export interface MissingNode {
  /** The name that its operator gave it. */
  id: string;
  /** Its incarnation. */
  node: string;
  roles: Role[];
  /** Time since its last heartbeat. */
  heardMsAgo: number;
}

/** Of a heartbeat. */
type Known = Pick<MissingNode, 'id' | 'node' | 'roles'>;

/** Nodes that went silent without leaving, for the operator: killed or frozen ones, whose names expire with their leases. */
export class MissingNodes {
  readonly #max: number;
  /** By id, the one that was heard longest ago first. */
  readonly #missing = new Map<string, Known & { heardAtMs: number }>();

  constructor(max = MISSING_MAX) {
    this.#max = max;
  }

  add({ id, node, roles }: Known, heardAtMs: number): void {
    this.#missing.delete(id);
    this.#missing.set(id, { id, node, roles, heardAtMs });
    const [oldest] = this.#missing.keys();
    if (this.#missing.size > this.#max && oldest !== undefined) this.#missing.delete(oldest);
  }

  /** A node with that name was heard, or it left. */
  remove(id: string): void {
    this.#missing.delete(id);
  }

  list(nowMs: number): MissingNode[] {
    for (const [id, { heardAtMs }] of this.#missing) if (nowMs - heardAtMs >= FORGOTTEN_MS) this.#missing.delete(id);
    return [...this.#missing.values()].map(({ heardAtMs, ...known }) => ({ ...known, heardMsAgo: nowMs - heardAtMs }));
  }
}

/** From another node. Undefined when it is not such a list; drops roles that this version does not know. */
function readMissing(value: unknown, isName: (id: unknown, node: unknown) => boolean): MissingNode[] | undefined {
  if (!Array.isArray(value) || value.length > MISSING_MAX) return undefined;
  const read = value.flatMap((each: Partial<Record<keyof MissingNode, unknown>> | null): MissingNode[] => {
    const { id, node, roles, heardMsAgo } = each ?? {};
    if (!isName(id, node) || !Array.isArray(roles) || typeof heardMsAgo !== 'number' || !(heardMsAgo >= 0)) return [];
    const known = ROLES.filter((role) => roles.includes(role));
    return [{ id: id as string, node: node as string, roles: known, heardMsAgo }];
  });
  return read;
}
