// One made-up message for each name on the bus, as somebody would send it who can connect to NATS and has read the source: what
// each would do if it were believed.
import * as names from '../../../src/cluster/bus/subjects.ts';

export interface Forgery {
  /** Behind `<prefix>.v1.`. */
  subject: string;
  body: Record<string, unknown>;
  reply?: string;
}

export interface Targets {
  /** Incarnations. */
  edge: string;
  upstream: string;
  sessionId: string;
  keyId: string;
  organisationId: string;
}

/** By the name of what `src/cluster/bus/subjects.ts` exports; `null`: no name of a message. */
export const FORGERIES: Readonly<Record<keyof typeof names, ((targets: Targets) => Forgery[]) | null>> = {
  OPEN_LEG: ({ edge, upstream, sessionId }) =>
    [`s.${names.OPEN_LEG}`, `n.${upstream}.s.${names.OPEN_LEG}`].map((subject) => ({
      subject,
      body: ask({ type: 'leg.open', sessionId, generation: 9, session: `${edge}/${sessionId}`, credential: 'service' }),
      reply: `n.${edge}.r.1`,
    })),
  legActor: ({ upstream, edge, sessionId }) => [
    { subject: `n.${upstream}.a.${names.legActor(sessionId, 1)}`, body: { type: 'leg.close' } },
    {
      subject: `n.${edge}.a.${sessionId}`,
      body: { type: 'leg.failed', generation: 1, sequence: 1, failure: { kind: 'caller', reason: 'forged' } },
    },
  ],
  KEY_REVOKED: ({ keyId }) => topic(names.KEY_REVOKED, { type: names.KEY_REVOKED, keyId }),
  KEY_CHANGED: ({ keyId }) => topic(names.KEY_CHANGED, { type: names.KEY_CHANGED, keyId }),
  SUSPENSION: ({ organisationId }) =>
    topic(names.SUSPENSION, { type: names.SUSPENSION, organisationId, suspended: true }),
  BREAKER_OPENED: () =>
    topic(names.BREAKER_OPENED, { type: names.BREAKER_OPENED, slug: 'loopback/numbered', openMs: 600_000 }),
  BREAKER_OPENED_FOR: ({ organisationId }) =>
    topic(names.BREAKER_OPENED_FOR, {
      ...{ type: names.BREAKER_OPENED, node: 'forged', model: 'loopback/numbered', credentialId: 'service' },
      ...{ openMs: 600_000, organisationId },
    }),
  MODELS_MEASURED: () =>
    topic(names.MODELS_MEASURED, {
      ...{ type: names.MODELS_MEASURED, node: 'forged' },
      models: [
        {
          mode: 'live',
          model: 'loopback/numbered',
          attempts: 10_000,
          errors: 10_000,
          empties: 0,
          delays: [[0, 10_000]],
        },
      ],
    }),
  WATCH_SESSION: ({ edge, sessionId }) => [
    { subject: `s.${names.WATCH_SESSION}`, body: ask({ type: 'watch', sessionId }), reply: `n.${edge}.r.1` },
  ],
  BREAK_PROVIDER: ({ edge, sessionId }) => [
    {
      subject: `n.${edge}.s.${names.BREAK_PROVIDER}`,
      body: ask({ type: names.BREAK_PROVIDER, sessionId, organisationId: 'org', personId: 'per', fault: 'drop' }),
      reply: `n.${edge}.r.1`,
    },
  ],
  sessionFrames: ({ sessionId }) => topic(names.sessionFrames(sessionId), { type: 'frame', text: 'forged' }),
  COUNT_MACHINES: ({ edge }) => [
    { subject: `s.${names.COUNT_MACHINES}`, body: ask({ type: 'machines.count' }), reply: `n.${edge}.r.1` },
  ],
  LIST_SESSIONS: ({ edge }) => [
    { subject: `s.${names.LIST_SESSIONS}`, body: ask({ type: 'sessions.list' }), reply: `n.${edge}.r.1` },
  ],
  KEPT_JOBS: ({ edge }) => [
    {
      subject: `n.${edge}.s.${names.KEPT_JOBS}`,
      body: ask({ type: 'session.jobs', content: '' }),
      reply: `n.${edge}.r.1`,
    },
  ],
  READ_HISTORY: ({ edge }) => [
    { subject: `s.${names.READ_HISTORY}`, body: ask({ type: 'history.read', window: 'hour' }), reply: `n.${edge}.r.1` },
  ],
  WATCH_LEG: ({ edge, upstream, sessionId }) => [
    {
      subject: `n.${upstream}.s.${names.WATCH_LEG}`,
      body: ask({ type: 'leg.watch', sessionId, generation: 1, on: true }),
      reply: `n.${edge}.r.1`,
    },
  ],
  legSteps: ({ sessionId }) => topic(names.legSteps(sessionId), { type: 'leg.step', generation: 1, value: 'forged' }),
  SESSION_SLOTS: ({ edge }) => [
    {
      subject: `s.${names.SESSION_SLOTS}`,
      body: ask({ type: 'limits.ask', text: '{}', mark: '' }),
      reply: `n.${edge}.r.1`,
    },
  ],
  SLOTS_ROLL_CALL: () => topic(names.SLOTS_ROLL_CALL, { type: names.SLOTS_ROLL_CALL }),
  RATES_TAKEN: ({ keyId }) =>
    topic(names.RATES_TAKEN, {
      type: names.RATES_TAKEN,
      text: `{"taken":[["requests","${keyId}",1000000,1]]}`,
      mark: '',
    }),
  RATES_ACTOR: ({ edge, keyId }) => [
    {
      subject: `n.${edge}.a.${names.RATES_ACTOR}`,
      body: { type: names.RATES_TAKEN, text: `{"taken":[["requests","${keyId}",1000000,1]]}`, mark: '' },
    },
  ],
  accountsService: ({ edge }) => [
    { subject: `s.${names.accountsService('0')}`, body: ask({ type: 'accounts.ask', v: 1 }), reply: `n.${edge}.r.1` },
  ],
  accountsSnapshots: ({ edge }) => [
    {
      subject: `s.${names.accountsSnapshots('0')}`,
      body: ask({ type: 'accounts.snapshot', v: 1, id: 'aaaaaaaaaaaaaaaa', offset: 0 }),
      reply: `n.${edge}.r.1`,
    },
  ],
  operatorService: ({ edge }) => [
    { subject: `s.${names.operatorService('0')}`, body: ask({ type: 'accounts.ask', v: 1 }), reply: `n.${edge}.r.1` },
  ],
  OPERATOR_REPLICA: ({ edge, upstream }) => [
    {
      subject: `n.${upstream}.s.${names.OPERATOR_REPLICA}`,
      body: ask({ type: names.OPERATOR_REPLICA, want: 'state' }),
      reply: `n.${edge}.r.1`,
    },
  ],
  OPERATOR_SNAPSHOT: ({ edge, upstream }) => [
    {
      subject: `n.${upstream}.s.${names.OPERATOR_SNAPSHOT}`,
      body: ask({ type: 'accounts.snapshot', v: 1, id: 'aaaaaaaaaaaaaaaa', offset: 0 }),
      reply: `n.${edge}.r.1`,
    },
  ],
  REPLICA_POSITION: () => topic(names.REPLICA_POSITION, { type: names.REPLICA_POSITION, number: 1_000_000_000 }),
  ACCOUNTS_OPEN: () => topic(names.ACCOUNTS_OPEN, { type: names.ACCOUNTS_OPEN, shard: '0' }),
  ACCOUNTS_OWNED: () =>
    topic(names.ACCOUNTS_OWNED, { type: names.ACCOUNTS_OWNED, shard: '0', node: 'forged', revision: 1e9 }),
  NODE_HEARTBEAT: ({ upstream }) => [
    ...topic(names.NODE_HEARTBEAT, beat('forged')),
    ...topic(names.NODE_HEARTBEAT, { ...beat(upstream), draining: true, leaving: true }),
  ],
  NODE_STATUS: ({ edge }) => [
    { subject: `n.${edge}.s.${names.NODE_STATUS}`, body: ask({ type: names.NODE_STATUS }), reply: `n.${edge}.r.1` },
  ],
  CALL_WANTED: ({ edge, organisationId }) =>
    topic(names.CALL_WANTED, {
      type: names.CALL_WANTED,
      ...{ organisationId, name: 'support', asker: `${edge}/call.wanted.1` },
    }),
  isOfNode: null,
  isAddress: null,
  nodeOf: null,
};

const topic = (name: string, body: Record<string, unknown>): Forgery[] => [{ subject: `t.${name}`, body }];
const ask = (body: Record<string, unknown>) => ({ type: 'ask', timeoutMs: 5_000, body });
const beat = (node: string) => ({
  ...{ type: names.NODE_HEARTBEAT, node, id: node, roles: ['upstream'], version: '1', sessions: 0, legs: 0 },
  ...{ sessionsMax: null, draining: false, leaving: false, wallMs: 0 },
});
