// The heartbeat that a node sends every two seconds, and its checks when it is read.

import { ROLES, type Role } from '../../config/schema-cluster.ts';
import { NODE_HEARTBEAT } from '../bus/subjects.ts';
import { readUpstreamState, type UpstreamState } from '../placement/upstream-state.ts';
import { type MissingNode, readMissing } from './missing-nodes.ts';

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
   * Of its connections to providers, if it has that role. Left out of most heartbeats: membership/provider-lists.ts. Absent in
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
