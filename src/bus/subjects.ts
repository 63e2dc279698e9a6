// Every name on the bus, in one place: services, topics and actor ids.

/** The service that opens a leg: answered by a node with the `upstream` role. */
export const OPEN_LEG = 'upstream.open';

/** The actor id of one leg of a session. A generation is never used twice by a session. */
export const legActor = (sessionId: string, generation: number): string => `leg.${sessionId}.${generation}`;

/** Whether that address is one of this node's. */
export const isOfNode = (address: string, node: string): boolean =>
  address.length > node.length && address.charCodeAt(node.length) === 47 && address.startsWith(node);

/** Whether that is an actor's address, and no name of a service or topic. */
export const isAddress = (text: string): boolean => text.includes('/');

/** The node that an address is on. */
export const nodeOf = (address: string): string => address.slice(0, address.indexOf('/'));

/** The topic that tells every node of a revoked key. */
export const KEY_REVOKED = 'key.revoked';

/** The topic that tells every node of a key that is not what it was: nothing that is remembered of it holds. */
export const KEY_CHANGED = 'key.changed';

/** The topic that tells every node of an organisation that was suspended, or reinstated. */
export const SUSPENSION = 'organisation.suspension';

export interface Suspension {
  type: typeof SUSPENSION;
  organisationId: string;
  suspended: boolean;
}

export interface KeyChange {
  type: typeof KEY_REVOKED | typeof KEY_CHANGED;
  keyId: string;
}

/** The topic that tells every node of a breaker that has opened. */
export const BREAKER_OPENED = 'breaker.opened';

/** The service of the nodes that hold sessions: what one is doing, and watching it. */
export const WATCH_SESSION = 'session.watch';

/** The topic on which one session is seen, as long as somebody watches it. */
export const sessionFrames = (sessionId: string): string => `session.frames.${sessionId}`;

/** The service that counts sessions over all nodes: answered by the node that keeps the accounts. */
export const SESSION_PLACES = 'limits.places';

/** The topic on which that node asks every node for the sessions it has: it counts anew. */
export const PLACES_ROLL_CALL = 'limits.roll_call';

/** The topic on which nodes tell each other what keys have taken of their requests and tokens of a minute. */
export const RATES_TAKEN = 'limits.taken';

/** The service of the node that keeps the accounts of a shard. */
export const accountsService = (shard: string): string => `accounts.${shard}`;

/** The topic on which that node tells everybody that it begins to. */
export const ACCOUNTS_OPEN = 'accounts.open';

/** The topic on which every node says that it is there, and how much it has to do. */
export const NODE_HEARTBEAT = 'node.heartbeat';

/** The service of every node that answers with the same, when it is asked. */
export const NODE_STATUS = 'node.status';
