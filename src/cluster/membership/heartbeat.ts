// What a node says of itself every two seconds, and what of it is believed: whatever else comes on the topic is no heartbeat.
import { NODE_HEARTBEAT } from '../../bus/subjects.ts';
import { ROLES, type Role } from '../../config/schema-cluster.ts';
import { readUpstreamState, type UpstreamState } from '../placement/upstream-state.ts';

export const HEARTBEAT_MS = 2000;
/** Three heartbeats that did not come. */
export const GONE_MS = 3 * HEARTBEAT_MS;

/** How much a node has to do. */
export interface NodeLoad {
  /** Sessions of its clients. */
  sessions: number;
  /** Connections to providers. */
  legs: number;
  /** Sessions that it takes at most; null where it sets no limit. */
  sessionsMax: number | null;
  /** Of its connections to providers, where it has the role; a node of an earlier version does not say. */
  upstream?: UpstreamState | undefined;
}

export interface Heartbeat extends NodeLoad {
  type: typeof NODE_HEARTBEAT;
  /** Its incarnation: the node part of addresses. */
  node: string;
  /** How its operator calls it; it stays over restarts. */
  id: string;
  roles: Role[];
  version: string;
  /** It takes nothing new, and ends soon. */
  draining: boolean;
  /** This is its last one. */
  leaving: boolean;
  /** Its wall clock, in epoch milliseconds. */
  wallMs: number;
}

const NODE = /^[a-zA-Z0-9_-]{1,32}$/;
/** No spaces and nothing that moves a cursor: it is shown to people. */
const TEXT = /^[\x21-\x7e]{1,64}$/;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string' && TEXT.test(value);

/** The heartbeat in what came; undefined when it is none. Roles that are not known here are left out. */
export function readHeartbeat(body: unknown): Heartbeat | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { type, node, id, roles, version, sessions, legs, sessionsMax, upstream, draining, leaving, wallMs } =
    body as Partial<Record<keyof Heartbeat, unknown>>;
  if (type !== NODE_HEARTBEAT || !isText(node) || !NODE.test(node) || !isText(id) || !isText(version)) return undefined;
  if (!Array.isArray(roles) || roles.length > 16) return undefined;
  if (!isCount(sessions) || !isCount(legs) || !(sessionsMax === null || isCount(sessionsMax))) return undefined;
  const state = readUpstreamState(upstream);
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
    ...(state !== undefined && { upstream: state }),
    draining,
    leaving,
    wallMs,
  };
}
