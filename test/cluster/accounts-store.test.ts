// The store from afar: every call that an edge may make gives what the store itself gives, and every other is refused on both
// sides.
import { describe, expect, test } from 'vitest';
import { answerStoreCalls, createRemoteStore } from '../../src/node/store/remote-store.ts';
import {
  type AsynchronousCalls,
  CALL_NAMES,
  type CallName,
  type RemoteCallName,
  remoteCall,
  type StoreCalls,
} from '../../src/node/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { endOf, headOf, holdOf, lineOf, OPERATOR } from '../fakes/store/ledger.ts';
import { accountsRig, reasonOf } from './accounts-rig.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text.padEnd(32, '.')));
const HASH = '$scrypt$1$salt$hash';
const token = (name: string) => ({ hash: bytes(name), sealed: `sealed ${name}` });
const stranger = { client: '192.0.2.1', clientGroup: '192.0.2.1' };
const sessionOf = (personId: string) => ({
  personId,
  hash: bytes('console'),
  passwordHash: HASH,
  client: '192.0.2.1',
  userAgent: 'x',
  sessionsMax: 10,
});
const INVITED = { email: 'Ada@example.com', address: 'ada@example.com' };
const LIMITS = { idleMs: 1_000_000, absoluteMs: 10_000_000 };

type World = { who: { organisationId: string; keyId: string }; personId: string };
type Samples = { [Name in RemoteCallName]: (world: World) => Parameters<StoreCalls[Name]> };

/** One call of each, in an order in which each finds something to do. */
const SAMPLES: Samples = {
  signUp: () => [
    {
      email: 'Ada@example.com',
      address: 'ada@example.com',
      passwordHash: HASH,
      organisationName: 'Ada',
      verification: token('verification'),
      reset: token('unused'),
      ...stranger,
      signUpsPerDayMax: 5,
    },
  ],
  isVerificationToken: () => [bytes('verification')],
  beginVerification: () => [bytes('verification')],
  verifyAddress: () => [bytes('verification'), HASH, 5_000_000n, '192.0.2.1'],
  findPerson: ({ personId }) => [personId],
  beginLogin: () => ['ada@example.com'],
  noteRefusedLogin: () => [{ address: 'ada@example.com', why: 'password', ...stranger }],
  openConsoleSession: ({ personId }) => [sessionOf(personId)],
  findConsoleSession: () => [bytes('console'), LIMITS],
  enterOrganisation: () => [bytes('console'), 'org_none'],
  listMemberships: ({ personId }) => [personId],
  noteConsoleSession: () => [bytes('console')],
  beginConfirmation: () => [bytes('console')],
  confirmConsoleSession: () => [bytes('console'), HASH],
  renameConsoleSession: () => [bytes('console'), bytes('renamed')],
  listConsoleSessions: ({ personId }) => [personId, LIMITS],
  changePassword: ({ personId }) => [{ ...sessionOf(personId), hash: bytes('second') }, `${HASH}2`],
  endConsoleSession: ({ personId }) => [personId, 'con_none', '192.0.2.1'],
  requestAddressChange: ({ personId }) => [personId, 'B@example.com', 'b@example.com', token('change'), '192.0.2.1'],
  resendVerification: ({ personId }) => [personId, token('again')],
  requestPasswordReset: () => ['ada@example.com', token('reset'), stranger],
  isResetToken: () => [bytes('reset')],
  resetPassword: () => [bytes('reset'), `${HASH}3`, '192.0.2.1'],
  foundOrganisation: ({ personId }) => [personId, 'Second', OPERATOR],
  invite: ({ who }) => [who.organisationId, { ...INVITED, role: 'developer', ...token('invitation') }, OPERATOR],
  listInvitations: ({ who }) => [who.organisationId],
  renewInvitation: ({ who }) => [who.organisationId, 'inv_never', token('again'), OPERATOR],
  withdrawInvitation: ({ who }) => [who.organisationId, 'inv_never', OPERATOR],
  findInvitation: () => [bytes('invitation')],
  beginJoining: () => [bytes('invitation'), 'ada@example.com'],
  join: () => [
    {
      hash: bytes('invitation'),
      ...INVITED,
      proof: { passwordHash: `${HASH}3` },
      welcomeMicroUsd: 0n,
      client: '192.0.2.1',
    },
  ],
  listMembers: ({ who }) => [who.organisationId],
  changeRole: ({ who, personId }) => [who.organisationId, personId, 'admin', OPERATOR],
  removeMember: ({ who, personId }) => [who.organisationId, personId, OPERATOR],
  findOrganisation: ({ who }) => [who.organisationId],
  isOperator: ({ who }) => [who.organisationId],
  createKey: ({ who }) => [who.organisationId, { name: 'far', dailySpendMicroUsdMax: 2n ** 60n + 1n }, OPERATOR, 50],
  findKeyByHash: () => [bytes('nobody')],
  findKey: ({ who }) => [who.organisationId, who.keyId],
  listKeys: ({ who }) => [who.organisationId],
  setPlaceRule: ({ who }) => [who.organisationId, { regions: ['eu'], retention: null }, OPERATOR],
  setRedactionRule: ({ who }) => [who.organisationId, { redact: ['card'] }, OPERATOR],
  setAliases: ({ who }) => [who.organisationId, { best: [{ model: 'deepgram/nova-3' }] }, OPERATOR],
  setShowTranscripts: ({ who }) => [who.organisationId, true, OPERATOR],
  setSpendCeilings: ({ who }) => [who.organisationId, [{ usd: '10', period: 'day', provider: 'deepgram' }], OPERATOR],
  changeKey: ({ who }) => [who.organisationId, who.keyId, { name: 'changed' }, OPERATOR],
  redeemToken: ({ who }) => [who.organisationId, 'token', 400_000],
  noteKeysUsed: ({ who }) => [who.organisationId, [{ keyId: who.keyId, atMs: 120_000 }]],
  openSession: ({ who }) => [headOf(who, 'ses_1'), holdOf(600n)],
  renewHold: ({ who }) => [headOf(who, 'ses_1'), [lineOf(1_000)], holdOf(600n)],
  holdOwn: ({ who }) => [
    headOf(who, 'ses_own'),
    [lineOf(1_000, undefined, { own: true, counted: true })],
    holdOf(600n),
  ],
  settleSession: ({ who }) => [headOf(who, 'ses_1'), endOf([lineOf(2_000)])],
  balanceOf: ({ who }) => [who.organisationId],
  findSession: ({ who }) => [who.organisationId, 'ses_1'],
  keepSessionEvents: ({ who }) => [who.organisationId, 'ses_1', '[]'],
  findSessionEvents: ({ who }) => [who.organisationId, 'ses_1'],
  listFailovers: ({ who }) => [who.organisationId, '2026-11-01T00:00:00.000Z', 5],
  listSessions: ({ who }) => [who.organisationId, 10],
  searchSessions: ({ who }) => [who.organisationId, { limit: 10, model: 'deepgram' }],
  countLiveSessions: ({ who }) => [who.organisationId, '2026-11-01T00:00:00.000Z'],
  usageOf: ({ who: { organisationId } }) => [
    { organisationId, from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z', groupBy: 'model' },
  ],
  redactionsOf: ({ who: { organisationId } }) => [
    { organisationId, from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
  ],
  billOf: ({ who }) => [who.organisationId, '2026-11'],
  rollKey: ({ who }) => [who.organisationId, who.keyId, 1_000, OPERATOR],
  revokeKey: ({ who }) => [who.organisationId, who.keyId, OPERATOR],
  listAudit: ({ who }) => [who.organisationId, 10],
  listProviderKeys: ({ who }) => [who.organisationId],
  findProviderKey: ({ who }) => [who.organisationId, 'deepgram'],
  claimIdempotency: ({ who }) => [attemptOf(who), 60_000],
  renewIdempotency: ({ who }) => [attemptOf(who), 60_000],
  finishIdempotency: ({ who }) => [attemptOf(who), bytes('print'), bytes('answer')],
  releaseIdempotency: ({ who }) => [attemptOf(who)],
  putPiece: ({ who }) => [who.organisationId, 'answer req_1', 0, bytes('piece')],
  findPiece: ({ who }) => [who.organisationId, 'answer req_1', 0],
  finishIdempotencyInPieces: ({ who }) => [attemptOf(who), bytes('print'), 1],
  createJob: ({ who }) => [jobOf(who), 60_000],
  findJobShortage: ({ who }) => [who.organisationId],
  createReportedJob: ({ who }) => [{ ...jobOf(who), id: 'job-2', callbacks: 1 }, 60_000],
  startJob: ({ who }) => [jobOf(who)],
  renewJobs: () => ['abc123', 60_000],
  failEarlierJobs: () => ['edge-2', 'def456'],
  adoptJobs: () => ['edge-2', 'def456', 60_000, 10],
  finishJob: ({ who }) => [
    jobOf(who),
    { stage: 'done', summary: bytes('summary'), transcript: bytes('transcript'), pieces: 0 },
  ],
  listJobs: ({ who }) => [jobOf(who), undefined, 10],
  findJob: ({ who }) => [jobOf(who), 'job-1'],
  failJobsOf: () => ['abc123'],
  removeJob: ({ who }) => [jobOf(who), 'job-1'],
  createSharedJob: ({ who }) => [{ ...jobOf(who), dialect: 'voxgate', id: 'job-2' }, 0],
  createSharedReportedJob: ({ who }) => [{ ...jobOf(who), dialect: 'voxgate', id: 'job-3', callbacks: 1 }, 0],
  startSharedJob: ({ who }) => [{ ...jobOf(who), id: 'job-2' }, 'abc123'],
  hasLostSharedJobs: () => ['def456', ['key_none']],
  adoptLostJobs: () => ['def456', 'edge-2', 60_000, 10, ['key_none']],
  adoptLostJob: ({ who }) => [{ ...jobOf(who), id: 'job-2' }, 'abc123', 'edge-1', 60_000],
  jobsNotOn: () => ['def456', ['job-1', 'job-2']],
  finishSharedJob: ({ who }) => [
    { ...jobOf(who), id: 'job-2' },
    'def456',
    { stage: 'done', summary: bytes('summary'), transcript: bytes('transcript'), pieces: 0 },
  ],
  createWebhook: ({ who }) => [who.organisationId, { id: 'we_1', ...webhook, secret: bytes('secret') }, OPERATOR],
  changeWebhook: ({ who }) => [who.organisationId, 'we_1', { balanceLowMicroUsd: 2n, state: 'enabled' }, OPERATOR],
  rollWebhookSecret: ({ who }) => [who.organisationId, 'we_1', bytes('next'), 60_000, OPERATOR],
  findWebhook: ({ who }) => [who.organisationId, 'we_1'],
  listWebhooks: ({ who }) => [who.organisationId],
  addWebhookEvent: ({ who }) => [webhookEvent(who, 'msg_1')],
  addWebhookTest: ({ who }) => [webhookEvent(who, 'msg_2'), 'we_1'],
  listWebhookDeliveries: ({ who }) => [who.organisationId, 'we_1', 10, 'msg_2'],
  resendWebhookDelivery: ({ who }) => [who.organisationId, 'we_1', 'msg_1'],
  wantsTranscripts: ({ who }) => [who.organisationId],
  keepWebhookTranscript: ({ who }) => [who.organisationId, 'ses_1', bytes('transcript')],
  removeWebhook: ({ who }) => [who.organisationId, 'we_1', OPERATOR],
};

const webhook = {
  ...{ url: 'https://a.example/', events: ['job.completed'] as const, description: '' },
  balanceLowMicroUsd: 1n,
  transcripts: true,
};

const webhookEvent = ({ organisationId }: World['who'], id: string) =>
  ({ organisationId, id, type: 'job.completed', payload: bytes('payload') }) as const;

const jobOf = (who: World['who']) => ({
  ...{ ...who, dialect: 'soniox', id: 'job-1', node: 'abc123', nodeName: 'edge-1' },
  ...{ stage: 'queued' as const, request: bytes('request') },
});

const attemptOf = ({ organisationId }: World['who']) => ({
  organisationId,
  keyHash: bytes('idempotency'),
  attemptId: 'req_1',
});

/** Ids are made at random, and secrets: all that is compared is what they are, not which. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? 'undefined', (_, each: unknown) =>
      typeof each === 'bigint' ? `${each}n` : each instanceof Uint8Array ? [...each] : each,
    ).replace(/(key|org|per|con|inv)_[\w-]+|sk_vox[\w.-]+/g, '$1'),
  );

describe('every call that an edge may make', () => {
  test('returns the same remotely as where the database is', async () => {
    const [far, near] = [accountsRig(), accountsRig()];
    const worlds = [far, near].map(({ direct }) => ({ who: direct.customer({ limit: 10_000n }), personId: '' }));
    const given: string[] = [];
    for (const [name, argumentsOf] of Object.entries(SAMPLES)) {
      const answers = await Promise.all(
        [far.store, near.direct.store].map(async (store, index) => {
          const world = worlds[index]!;
          const args = (argumentsOf as (world: World) => unknown[])(world);
          const call = store[name as CallName] as (...args: unknown[]) => Promise<unknown>;
          const answer = await call(...args);
          if (name === 'verifyAddress') world.personId = (answer as { person: { id: string } }).person.id;
          return answer;
        }),
      );
      expect([name, plain(answers[0])]).toEqual([name, plain(answers[1])]);
      given.push(typeof answers[0]);
    }
    // Had each of them found nothing, they would agree as well.
    expect(given.filter((type) => type === 'object').length).toBeGreaterThan(20);
    expect([far.faults, far.refused.filter((reason) => reason !== 'epoch')]).toEqual([[], []]);
  });

  test('changes nothing twice', async () => {
    const { store, direct } = accountsRig();
    const { organisationId } = direct.customer();
    await Promise.all(
      Array.from({ length: 20 }, (_, each) => store.createKey(organisationId, { name: `${each}` }, OPERATOR)),
    );
    expect(direct.ledger.listKeys(organisationId)).toHaveLength(21);
  });
});

describe('calls that are forbidden remotely', () => {
  const near = CALL_NAMES.filter((name) => remoteCall(name) === undefined);

  test.each(near)('fail for %s, before sending and on arrival', async (name) => {
    const asked: string[] = [];
    const store = createRemoteStore(async (_, __, call) => asked.push(call));
    expect(await reasonOf((store[name] as () => Promise<unknown>)())).toBe('invalid');
    const answer = answerStoreCalls(new Proxy({}, { get: () => () => asked.push('done') }) as AsynchronousCalls);
    expect(await reasonOf(answer({ organisationId: null, call: name, args: [] }))).toBe('invalid');
    expect(asked).toEqual([]);
  });

  test('include names that every object has', async () => {
    const answer = answerStoreCalls({} as AsynchronousCalls);
    for (const call of ['constructor', '__proto__', 'toString', 'close', 'onOutbox', '']) {
      expect(await reasonOf(answer({ organisationId: null, call, args: [] }))).toBe('invalid');
    }
  });

  test.each([
    ['another organisation than the request', 'org_b', 'findKey', ['org_a', 'key_1']],
    ['none where one is to be named', null, 'findKey', [null, 'key_1']],
    ['none in what it is about', null, 'openSession', [{}, {}]],
    ['one where none is named', 'org_a', 'findPerson', ['per_1']],
    ['arguments of another kind', 'org_a', 'findKey', ['org_a', 7]],
    ['too few arguments', 'org_a', 'findKey', ['org_a']],
    ['too many arguments', 'org_a', 'balanceOf', ['org_a', 1]],
  ] as const)('include a call that names %s', async (_, organisationId, call, args) => {
    let calls = 0;
    const answer = answerStoreCalls(new Proxy({}, { get: () => () => calls++ }) as AsynchronousCalls);
    expect(await reasonOf(answer({ organisationId, call, args }))).toBe('invalid');
    expect(calls).toBe(0);
  });
});

test('returns a StoreError with its reason and message', async () => {
  const { store, direct } = accountsRig();
  const who = direct.customer();
  const error = await store.openSession(headOf(who, 'ses_1'), holdOf(100n, 100n)).catch((each: unknown) => each);
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ reason: 'insufficient_credit', message: expect.stringContaining('too little credit') });
});

test('another organisation’s session cannot be renewed, nor its key be found', async () => {
  const { store, direct } = accountsRig();
  const [ours, theirs] = [direct.customer({ credit: 1_000n }), direct.customer({ credit: 1_000n })];
  await store.openSession(headOf(ours, 'ses_1'), holdOf(100n));
  expect(await reasonOf(store.renewHold(headOf(theirs, 'ses_1'), [], holdOf(100n)))).toBe('not_found');
  expect(await store.findKey(theirs.organisationId, ours.keyId)).toBeUndefined();
});
