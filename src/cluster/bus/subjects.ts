// All names on the bus: services, topics and actor ids.

/** The service that opens a leg: answered by a node with the `upstream` role. */
export const OPEN_LEG = 'upstream.open';

/** The actor id of one leg of a session. A session uses a generation only once. */
export const legActor = (sessionId: string, generation: number): string => `leg.${sessionId}.${generation}`;

/** Whether that address is one of this node's. */
export const isOfNode = (address: string, node: string): boolean =>
  address.length > node.length && address.charCodeAt(node.length) === 47 && address.startsWith(node);

/** Whether it is the address of an actor, not the name of a service or topic. */
export const isAddress = (text: string): boolean => text.includes('/');

/** The node that an address is on. */
export const nodeOf = (address: string): string => address.slice(0, address.indexOf('/'));

/** The topic that tells every node of a revoked key. */
export const KEY_REVOKED = 'key.revoked';

/** The topic that tells every node that a key has changed, so that it forgets what it has cached of it. */
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

/** The topic that tells every node of a breaker that has opened for one organisation. */
export const BREAKER_OPENED_FOR = 'breaker.opened_for';

/**
 * The topic on which edges report how models have been doing. Its name begins like that of breakers, which the users of deployed NATS
 * servers may publish to already.
 */
export const MODELS_MEASURED = 'breaker.measured';

/** The service of the nodes that hold sessions: describes a session, and begins to watch one. */
export const WATCH_SESSION = 'session.watch';

/** The service of the same nodes that lets a simulated provider of a session fail. */
export const BREAK_PROVIDER = 'session.break';

/** The service on which every node says how many actors of it are in which state. */
export const COUNT_MACHINES = 'machines.count';

/** The service on which every node that has sessions says which, for whoever runs the gateway. */
export const LIST_SESSIONS = 'sessions.list';

/** The service on which every node that has sessions gives its metrics of the last hour or day, for whoever runs the gateway. */
export const READ_HISTORY = 'history.read';

/** The service of the nodes that serve clients: answers for files that are on its disk, and jobs that it runs. */
export const KEPT_JOBS = 'session.jobs';

/** The topic of one session's events, while it is watched. */
export const sessionFrames = (sessionId: string): string => `session.frames.${sessionId}`;

/** The service of the nodes that hold legs: tells of the steps of one. */
export const WATCH_LEG = 'leg.watch';

/** The topic of the steps of one session's legs, while it is watched. */
export const legSteps = (sessionId: string): string => `leg.steps.${sessionId}`;

/** The service that counts sessions over all nodes: offered by the node that keeps the accounts. */
export const SESSION_SLOTS = 'limits.places';

/** The topic on which that node asks every node for all its sessions, to count again. */
export const SLOTS_ROLL_CALL = 'limits.roll_call';

/** The topic on which nodes tell each other the requests and tokens of a minute that keys have used. */
export const RATES_TAKEN = 'limits.taken';

/** The actor of every edge that takes the same from another edge which uses the same keys. */
export const RATES_ACTOR = 'limits.rates';

/** The service of the node that keeps the accounts of a shard. */
export const accountsService = (shard: string): string => `accounts.${shard}`;

/**
 * The services for the commands of operators on the nodes that keep the accounts. On NATS, roles that serve clients may not publish to
 * them, neither to a node nor to all.
 */
export const operatorService = (shard: string): string => `operator.${shard}`;

/** The service of every node that keeps the accounts, as the owner or as a standby. Asked of one node. */
export const OPERATOR_REPLICA = 'operator.replica';

/** The service of the same nodes that gives operators a copy of its database. Asked of one node. */
export const OPERATOR_SNAPSHOT = 'operator.snapshot';

/** The topic on which the replicas of the accounts say how far they have come. */
export const REPLICA_POSITION = 'accounts.position';

/** The service of that node that gives copies of its database to replicas. */
export const accountsSnapshots = (shard: string): string => `accounts.snapshots.${shard}`;

/** The topic on which that node announces that it has begun. */
export const ACCOUNTS_OPEN = 'accounts.open';

/** The topic on which it repeats that every second, for nodes that were disconnected from NATS. */
export const ACCOUNTS_OWNED = 'accounts.owned';

export interface AccountsOpen {
  type: typeof ACCOUNTS_OPEN | typeof ACCOUNTS_OWNED;
  shard: string;
  /** Its incarnation. Absent in older versions, like the revision. */
  node?: string;
  revision?: number;
}

/** The topic of every node's heartbeat, with its load. */
export const NODE_HEARTBEAT = 'node.heartbeat';

/** The service on which every node answers with the same content on request. */
export const NODE_STATUS = 'node.status';

/** The topic on which a node asks every other whether it has a call of that name. */
export const CALL_WANTED = 'session.call.wanted';
