// At least one call of every operation that writes, in an order in which each changes rows; and some calls that are refused.
import { createHash } from 'node:crypto';
import type { JobEnd, NewJob } from '../../../src/jobs/calls.ts';
import type { Call } from '../../../src/node/store/protocol.ts';
import type { CallName, StoreCalls } from '../../../src/node/store/store.ts';
import type { Actor } from '../../../src/store/audit-log.ts';
import { callOf } from './replay.ts';

export const sha256 = (text: string): Uint8Array => new Uint8Array(createHash('sha256').update(text).digest());

function jobs(script: Script, organisationId: string, keyId: string): void {
  const job = (id: string, nodeName = 'edge-1') => ({
    ...{ organisationId, keyId, dialect: 'soniox', id, node: nodeName === 'edge-1' ? 'abc123' : 'def456', nodeName },
    ...{ stage: 'queued' as const, request: new Uint8Array([1]) },
  });
  const end = { stage: 'done', summary: new Uint8Array([2]), transcript: new Uint8Array([3, 4]), pieces: 0 } as const;
  for (const id of ['a', 'b', 'c', 'd']) script.call('createJob', job(id), 60_000);
  script.call('createJob', job('a'), 60_000);
  script.call('createJob', job('e', 'edge-2'), 60_000);
  script.call('createJob', job('f', 'edge-3'), 60_000);
  callbacks(script, job('g'), end);
  script.call('startJob', job('a'));
  script.call('renewJobs', 'abc123', 90_000);
  script.call('finishJob', job('a'), end);
  script.call('putPiece', organisationId, 'job b', 0, new Uint8Array([5]));
  script.call('finishJob', job('b'), { ...end, transcript: null, pieces: 2 });
  script.call('finishJob', job('b'), { ...end, transcript: null, pieces: 1 });
  script.call('finishJob', job('none'), end);
  script.call('removeJob', job('b'), 'b');
  script.call('failEarlierJobs', 'edge-2', 'new123');
  script.call('createJob', { ...job('own', 'edge-2'), dialect: 'voxgate' }, 60_000);
  script.call('adoptJobs', 'edge-2', 'new123', 60_000, 10);
  sharedJobs(script, (id) => ({ ...job(id, 'edge-4'), dialect: 'voxgate', node: 'lost12' }), end);
  script.call('failJobsOf', 'abc123');
  script.call('putPiece', organisationId, 'job nobody', 0, new Uint8Array([5]));
}

/** Addresses that are told of the end of a job. */
function callbacks(script: Script, job: NewJob, end: JobEnd): void {
  for (const count of [2, 2, 9]) script.call('createReportedJob', { ...job, callbacks: count }, 60_000);
  script.call('takeCallback', 1, 30_000);
  script.call('finishJob', job, end);
  const endedAtMs = script.periods.at(-1)?.nowMs ?? START_MS;
  for (const number of [1, 2, 3]) {
    script.call('takeCallback', number, 30_000);
    for (const retryAfterMs of [5_000, null])
      script.call('recordCallback', { number, endedAtMs, status: 500, retryAfterMs, isForgotten: true });
  }
}

/** Ceilings on spend, with sessions that are held and charged under them. */
function ceilings(script: Script, organisationId: string, keyId: string): void {
  const day = { usd: '0.02', period: 'day' } as const;
  script.call('changeKey', organisationId, keyId, { spendCeilings: [day, { ...day, provider: 'deepgram' }] }, BY);
  script.call('setSpendCeilings', organisationId, [{ usd: '100', period: 'month' }], BY);
  script.call('setSpendCeilings', 'org_none', [], BY);
  script.call('setGatewayCeilings', [{ usd: '1000', period: 'hour' }]);
  script.call('setGatewayCeilings', [{ usd: '1000', period: 'hour' }]);
  const head = (id: string) => ({ id, organisationId, keyId, mode: 'live', model: MODEL, openedAt: at(0) }) as const;
  for (const id of ['ses_bound1', 'ses_bound2', 'ses_bound3']) script.call('openSession', head(id), HOLD);
  const line = { model: MODEL, own: false, audioMs: 60_000, price: PRICE };
  script.call('renewHold', head('ses_bound1'), [line], { ...HOLD, providers: ['deepgram', 'openai'] });
  const kept = { ...HOLD, keepsReached: true } as const;
  script.call('openSession', head('ses_bound4'), { ...kept, wantedMicroUsd: 10n ** 9n, leastMicroUsd: 10n ** 9n });
  script.call('renewHold', head('ses_bound2'), [], { ...kept, wantedMicroUsd: 12_000n });
  const own = { ...line, own: true, counted: true } as const;
  for (const id of ['ses_own1', 'ses_own2', 'ses_zzz999own']) script.call('holdOwn', head(id), [], HOLD);
  script.call('holdOwn', head('ses_own1'), [own], { ...HOLD, providers: ['deepgram', 'openai'] });
  script.call('holdOwn', head('ses_own1'), [{ ...own, own: false }], HOLD);
  script.call('holdOwn', head('ses_own3'), [], { ...HOLD, wantedMicroUsd: 10n ** 9n, leastMicroUsd: 10n ** 9n });
  script.call('holdOwn', { ...head('ses_own4'), keyId: 'key_none' }, [], HOLD);
  script.call('renewHold', head('ses_own1'), [{ ...own, audioMs: 70_000 }], HOLD);
  const end = { endedAt: at(0), reason: 'client_closed', code: null, audioMs: 80_000 };
  script.call('settleSession', head('ses_own1'), { ...end, lines: [{ ...own, audioMs: 80_000 }] });
  script.call('settleSession', head('ses_own2'), { ...end, lines: [] });
  script.call('closeLost', 'zzz999', at(0), true);
  script.call('settleSession', head('ses_zzz999own'), { ...end, lines: [own] });
  script.call('setSpendCeilings', organisationId, [], BY);
  script.call('changeKey', organisationId, keyId, { spendCeilings: null }, BY);
}

/** Jobs of a node whose lease is over at once. */
function sharedJobs(script: Script, job: (id: string) => NewJob, end: JobEnd): void {
  for (const id of ['shared', 'other', 'third']) script.call('createSharedJob', job(id), 0);
  for (const callbacks of [1, 9]) script.call('createSharedReportedJob', { ...job('reported'), callbacks }, 0);
  script.call('startSharedJob', job('shared'), 'lost12');
  script.call('startSharedJob', job('shared'), 'abc123');
  script.call('adoptLostJobs', 'abc123', 'edge-1', 60_000, 1, ['key_none']);
  script.call('adoptLostJobs', 'abc123', 'edge-1', 60_000, 9, [job('other').keyId]);
  script.call('adoptLostJob', job('other'), 'abc123', 'edge-1', 60_000);
  script.call('finishSharedJob', job('shared'), 'lost12', end);
  script.call('finishSharedJob', job('shared'), 'abc123', end);
  script.call('putPiece', job('other').organisationId, 'job other abc123', 0, new Uint8Array([5]));
  script.call('finishSharedJob', job('other'), 'abc123', { ...end, transcript: null, pieces: 1 });
}

/** Endpoints with all that becomes of deliveries. */
function webhooks(script: Script, organisationId: string): void {
  const bytes = (each: number) => new Uint8Array([each]);
  const events = ['job.completed', 'session.ended', 'usage.recorded', 'key.revoked', 'balance.low'] as const;
  const settings = {
    url: 'https://a.example/x?y',
    events,
    description: 'ours',
    balanceLowMicroUsd: 2n ** 62n,
    transcripts: true,
  };
  const event = (id: string) =>
    ({ organisationId, id: `msg_${id}`, type: 'job.completed', payload: bytes(3) }) as const;
  const attempt = { atMs: START_MS, status: 500, error: null, durationMs: 5 };
  const attempted = (number: number, outcome: 'delivered' | 'retry' | 'failed' | 'gone') =>
    script.call('recordWebhookAttempt', { number, attempt, outcome, retryAfterMs: outcome === 'retry' ? 5_000 : null });
  for (const id of ['we_1', 'we_2', 'we_1'])
    script.call('createWebhook', organisationId, { ...settings, id, secret: bytes(1) }, BY);
  const asCloudEvents = { ...settings, events: ['usage.recorded'] as const, format: 'cloudevents' as const };
  script.call('createWebhook', organisationId, { ...asCloudEvents, id: 'we_5', secret: bytes(1) }, BY);
  script.call(
    'createWebhook',
    organisationId,
    { ...asCloudEvents, format: 'xml' as never, id: 'we_6', secret: bytes(1) },
    BY,
  );
  script.call('createWebhook', 'org_none', { ...settings, id: 'we_3', secret: bytes(1) }, BY);
  script.call('createWebhook', organisationId, { ...settings, id: 'nothing', secret: bytes(1) }, BY);
  script.call('changeWebhook', organisationId, 'we_1', { description: 'changed', url: undefined } as object, BY);
  script.call('changeWebhook', organisationId, 'we_1', { events: [] }, BY);
  script.call('rollWebhookSecret', organisationId, 'we_1', bytes(2), 60_000, BY);
  script.call('rollWebhookSecret', organisationId, 'we_1', bytes(2), -1, BY);
  script.call('resealWebhookSecrets', [{ id: 'we_1', from: bytes(2), to: bytes(4) }]);
  for (const id of ['a', 'b', 'a']) script.call('addWebhookEvent', event(id));
  script.call('addWebhookEvent', { ...event('c'), payload: new Uint8Array(330_000) });
  script.call('addWebhookTest', { ...event('test'), type: 'webhook.test' }, 'we_1');
  script.call('takeWebhookDelivery', 1, 30_000);
  script.call('takeWebhookDelivery', 1, 30_000);
  attempted(1, 'retry');
  attempted(2, 'delivered');
  attempted(3, 'gone');
  attempted(99, 'failed');
  script.call('resendWebhookDelivery', organisationId, 'we_2', 'msg_a');
  script.call('resendWebhookDelivery', organisationId, 'we_1', 'msg_a');
  script.call('addWebhookTest', { ...event('test'), type: 'webhook.test' }, 'we_2');
}

/** Calls with the same time. */
export interface Period {
  nowMs: number;
  calls: Call[];
}

export const BY: Actor = { type: 'operator', id: 'test' };
export const PASSWORD = '$scrypt$1$salt$hash';
export const sealedBy = (kek: string, text: string): string => `v1.${kek}.wrapped.nonce.${text}`;
export const PRICE = { unit: 'minute', microUsd: 4300n, minimumMicroUsd: 0n } as const;
const STRANGER = { client: '192.0.2.1', clientGroup: '192.0.2.0/24' };
const MODEL = 'deepgram/nova-3';
const HOLD = { wantedMicroUsd: 10_000n, leastMicroUsd: 1n, leaseMs: 60_000 };
const START_MS = Date.UTC(2026, 10, 21, 23, 59, 59, 900);
const KEKS = ['0a1b2c3d', '4e5f6a7b'] as const;

class Script {
  readonly periods: Period[] = [];

  at(offsetMs: number): void {
    this.periods.push({ nowMs: START_MS + offsetMs, calls: [] });
  }

  /** The ids that are drawn for the call. */
  call<Name extends CallName>(name: Name, ...args: Parameters<StoreCalls[Name]>): readonly string[] {
    const { nowMs, calls } = this.periods.at(-1)!;
    const call = callOf(name, args, nowMs, calls.length);
    calls.push(call);
    return call.drawn?.ids ?? [];
  }
}

export function everyWrite(): Period[] {
  const script = new Script();
  script.at(0);
  const { organisationId, keyId, rolledId } = organisations(script);
  webhooks(script, organisationId);
  money(script, organisationId, keyId);
  const people = accounts(script);
  vault(script, organisationId);
  rest(script, organisationId, keyId);
  // The next day, after every lease.
  script.at(3_600_000);
  script.call('expireHolds');
  script.call('closeLost', 'abc123', at(3_600_000));
  script.call('closeLostFiles', START_MS + 3_600_000, 1000);
  const late = {
    id: 'ses_abc123z',
    organisationId,
    keyId,
    mode: 'live',
    model: MODEL,
    openedAt: at(3_600_000),
  } as const;
  script.call('openSession', late, HOLD);
  script.call('endHolds', START_MS + 3_600_000);
  script.call('endIdempotency', START_MS + 3_600_000);
  script.call('failLostJobs');
  script.call('expireJobs', 10);
  script.call('noteKeysUsed', organisationId, [{ keyId, atMs: START_MS + 3_600_000, tokens: 3 }]);
  for (const id of ['one', 'one', 'two']) script.call('redeemToken', organisationId, id, START_MS + 300_000);
  script.call('redeemToken', organisationId, '', START_MS + 10 * 86_400_000);
  script.call('revokeKey', null, rolledId, BY);
  script.call('noteLedger');
  const [, member] = people;
  script.call('deletePerson', member!, BY);
  script.call('moveAccount', people[0]!, 'account.suspend', BY);
  script.call('moveAccount', people[0]!, 'account.reinstate', BY);
  script.call('takeOutbox', 2, 30_000);
  script.call('endOutbox', 1, null);
  script.call('endOutbox', 2, 60_000);
  script.call('noteLedger');
  // Facts of what came before.
  const facts = [1, 2, 3, 99].map((fact) => ({ fact, id: `msg_${fact}`, payload: new Uint8Array([fact]) }));
  script.call('addWebhookDeliveries', [...facts, { fact: 4, id: 'msg_4', payload: undefined }]);
  for (const facts of [
    [5, 6, 99],
    [5, 7],
    [5, 6],
  ])
    script.call('addWebhookBatches', [{ facts, id: `msg_batch_${facts[1]}`, payload: new Uint8Array([5]) }]);
  script.call('keepWebhookTranscript', organisationId, 'ses_1', new Uint8Array([1]));
  script.call('keepWebhookTranscript', organisationId, 'ses_1', new Uint8Array([2]));
  script.call('removeWebhook', organisationId, 'we_2', BY);
  // A week later, when much is swept.
  script.at(8 * 86_400_000);
  script.call('expireWebhookDeliveries', 1);
  script.call('beginLogin', 'new@example.com');
  script.call('keepSessionEvents', organisationId, 'ses_abc123_late', '[]');
  script.call('claimIdempotency', attemptOf(organisationId, 'late'), 1000);
  script.call('inviteFirstOwner', sha256('first owner again'));
  script.call('requestPasswordReset', 'ada@example.com', tokenOf('reset later'), STRANGER);
  return script.periods;
}

const at = (offsetMs: number): string => new Date(START_MS + offsetMs).toISOString();
const tokenOf = (text: string) => ({ hash: sha256(text), sealed: `sealed ${text}` });
const attemptOf = (organisationId: string, key: string, attemptId = 'req_1') => ({
  organisationId,
  keyHash: sha256(key),
  attemptId,
});

function organisations(script: Script) {
  const [first, firstKey] = script.call('bootstrap');
  script.call('bootstrap');
  script.call('inviteFirstOwner', sha256('first owner'));
  const [id] = script.call('createOrganisation', 'Acme', 0n, BY);
  const organisationId = `org_${id}`;
  const settings = {
    name: 'live',
    models: ['deepgram/*'],
    origins: ['https://a.example'],
    dailySpendMicroUsdMax: 10n ** 12n,
    expiresAt: undefined,
    tags: { customer: 'acme', '2': 'x' },
    replace: [{ from: 'vox gate', to: 'Voxgate', language: 'en' }],
    aliases: { '2': [{ model: MODEL }], best: [{ model: MODEL, provider_params: { a: null, z: [1, -0] } }] },
  };
  const [key] = script.call('createKey', organisationId, settings as object, BY, 20);
  const keyId = `key_${key}`;
  script.call('createKey', organisationId, { name: '' }, BY);
  script.call('createKey', 'org_none', {}, BY);
  script.call('changeKey', organisationId, keyId, { name: 'renamed', dailySpendMicroUsdMax: 10n ** 11n }, BY);
  const [old] = script.call('createKey', organisationId, {}, { type: 'person', id: 'per_gone', address: '192.0.2.7' });
  script.call('rollKey', organisationId, `key_${old}`, 60_000, BY);
  script.call('rollKey', organisationId, `key_${old}`, 60_000, BY);
  script.call('revokeKey', `org_${first}`, `key_${firstKey}`, BY);
  script.call('noteKeysUsed', organisationId, [{ keyId, atMs: START_MS, tokens: 2 }]);
  ceilings(script, organisationId, keyId);
  script.call('setCreditLimit', organisationId, 1_000n, BY);
  script.call('setSuspended', organisationId, true, BY);
  script.call('setSuspended', organisationId, false, BY);
  script.call('setPlaceRule', organisationId, { regions: ['eu'], retention: 'none' }, BY);
  script.call('setPlaceRule', organisationId, { regions: null, retention: null }, BY);
  script.call('setRedactionRule', organisationId, { redact: ['email', 'card'] }, BY);
  script.call('setRedactionRule', organisationId, { redact: null }, BY);
  script.call('setAliases', organisationId, { fast: [{ model: MODEL }] }, BY);
  script.call('setShowTranscripts', organisationId, true, BY);
  return { organisationId, keyId, rolledId: `key_${old}` };
}

function money(script: Script, organisationId: string, keyId: string): void {
  const credit = { organisationId, kind: 'top_up', microUsd: 10n ** 9n, uniqueKey: 'paid', note: 'Invoice 1' } as const;
  script.call('addCredit', credit, BY);
  script.call('addCredit', credit, BY);
  script.call('addCredit', { ...credit, kind: 'adjustment', microUsd: -5n, uniqueKey: 'less' }, BY);
  const headOf = (id: string, mode: 'live' | 'batch' = 'live') =>
    ({ id, organisationId, keyId, mode, model: MODEL, openedAt: at(0) }) as const;
  const line = (audioMs: number) => ({ model: MODEL, own: false, audioMs, price: PRICE });
  const endOf = (audioMs: number) => ({
    endedAt: at(0),
    reason: 'client_closed',
    code: null,
    audioMs,
    lines: [line(audioMs), { ...line(audioMs), own: true, rate: 1, connectionMs: audioMs + 5 }],
  });
  const tags = '{"customer":"acme"}';
  for (const id of ['ses_abc123a', 'ses_abc123b', 'ses_abc123c', 'ses_zzz999d', 'ses_zzz999e']) {
    script.call('openSession', id === 'ses_abc123a' ? { ...headOf(id), tags } : headOf(id), HOLD);
  }
  script.call('openSession', headOf('ses_abc123a'), HOLD);
  script.call('openSession', { ...headOf('ses_poor'), keyId: 'key_none' }, HOLD);
  script.call('openSession', headOf('ses_poor'), { ...HOLD, wantedMicroUsd: 10n ** 12n, leastMicroUsd: 10n ** 12n });
  script.call('renewHold', headOf('ses_abc123a'), [line(61_000)], HOLD);
  script.call('renewHold', headOf('ses_abc123a'), [line(60_000)], HOLD);
  script.call('renewHold', headOf('ses_none'), [], HOLD);
  script.call('settleSession', { ...headOf('ses_abc123a'), tags: '{"customer":"acme","project":"x"}' }, endOf(62_000));
  script.call('settleSession', headOf('ses_abc123a'), endOf(70_000));
  const failed = { model: 'loopback/script', own: false, reason: 'failed', legs: 2, audioMs: 5_000 } as const;
  script.call('settleSession', headOf('ses_abc123b'), {
    ...{ ...endOf(600_000), onTrust: true, sentAgain: [failed] },
    redactions: { card: 2, email: 1 },
  });
  script.call('openSession', headOf('req_1', 'batch'), HOLD);
  script.call('openSession', headOf('req_2', 'batch'), { ...HOLD, leaseMs: 1 });
  const file = { audioMs: 61_000, channels: 1, audioMsMax: 61_000, claimedMs: 70_000 };
  script.call('settleSession', headOf('req_1', 'batch'), { ...endOf(61_000), file });
  script.call('closeLost', 'zzz999', at(0), true);
  script.call('settleSession', headOf('ses_zzz999d'), endOf(5_000));
  script.call('closeLost', 'Not a node', at(0));
  script.call('closeLostFiles', 1.5, 10);
}

/** The ids of two people. */
function accounts(script: Script): string[] {
  const people = ['ada', 'bob'].map((name) => {
    const email = `${name}@example.com`;
    const [id] = script.call('signUp', {
      email,
      address: email,
      passwordHash: PASSWORD,
      organisationName: name,
      verification: tokenOf(`verify ${name}`),
      reset: tokenOf(`reset ${name}`),
      ...STRANGER,
      signUpsPerDayMax: 10,
    });
    script.call('resendVerification', `per_${id}`, tokenOf(`verify again ${name}`));
    script.call('beginVerification', sha256(`verify ${name}`));
    script.call('verifyAddress', sha256(`verify ${name}`), PASSWORD, 5_000_000n, STRANGER.client);
    script.call('verifyAddress', sha256(`verify ${name}`), PASSWORD, 5_000_000n, STRANGER.client);
    return `per_${id}`;
  });
  const [ada, bob] = people as [string, string];
  const byAda: Actor = { type: 'person', id: ada, address: STRANGER.client };
  script.call('beginLogin', 'ada@example.com');
  script.call('beginLogin', 'unknown@example.com');
  script.call('noteRefusedLogin', { address: 'ada@example.com', why: 'password', ...STRANGER });
  script.call('noteRefusedLogin', { address: 'ada@example.com', why: 'password', ...STRANGER });
  const session = { personId: ada, passwordHash: PASSWORD, ...STRANGER, userAgent: 'a browser', sessionsMax: 2 };
  const [named] = script.call('openConsoleSession', { ...session, hash: sha256('session 1'), rehashed: PASSWORD });
  script.call('openConsoleSession', { ...session, hash: sha256('session 2'), replaces: sha256('session 0') });
  script.call('openConsoleSession', { ...session, hash: sha256('session 3'), passwordHash: '$other$1$salt$hash' });
  script.call('noteConsoleSession', sha256('session 1'));
  script.call('beginConfirmation', sha256('session 1'));
  script.call('confirmConsoleSession', sha256('session 1'), PASSWORD);
  script.call('renameConsoleSession', sha256('session 2'), sha256('session 2 renamed'));
  script.call('endConsoleSession', ada, `con_${named}`, STRANGER.client);
  const [founded] = script.call('foundOrganisation', ada, 'Second', byAda);
  const team = `org_${founded}`;
  script.call('enterOrganisation', sha256('session 2 renamed'), team);
  script.call('changePassword', { ...session, hash: sha256('session 4') }, '$scrypt$2$salt$hash');
  const invited = { email: 'bob@example.com', address: 'bob@example.com', role: 'developer' } as const;
  const [invitation] = script.call('invite', team, { ...invited, ...tokenOf('invitation') }, byAda);
  script.call('renewInvitation', team, `inv_${invitation}`, tokenOf('invitation renewed'), byAda);
  script.call('beginJoining', sha256('invitation renewed'), 'bob@example.com');
  const joining = { hash: sha256('invitation renewed'), welcomeMicroUsd: 0n, client: STRANGER.client };
  script.call('join', { ...joining, ...invited, proof: { loggedInAs: bob } });
  script.call('changeRole', team, bob, 'admin', byAda);
  const eve = { email: 'eve@example.com', address: 'eve@example.com', role: 'read_only' } as const;
  script.call('invite', team, { ...eve, hash: sha256('to eve') }, { type: 'person', id: bob });
  script.call('join', { ...joining, ...eve, hash: sha256('to eve'), proof: { passwordHash: PASSWORD } });
  const [third] = script.call('invite', team, { ...eve, address: 'x@example.com', hash: sha256('to x') }, byAda);
  script.call('withdrawInvitation', team, `inv_${third}`, byAda);
  script.call('invite', 'org_none', { ...eve, hash: sha256('nowhere') }, BY);
  script.call('removeMember', team, bob, byAda);
  script.call('removeMember', team, ada, byAda);
  script.call('requestAddressChange', ada, 'Ada@example.org', 'ada@example.org', tokenOf('move'), STRANGER.client);
  script.call('requestPasswordReset', 'bob@example.com', tokenOf('reset bob now'), STRANGER);
  script.call('resetPassword', sha256('reset bob now'), '$scrypt$3$salt$hash', STRANGER.client);
  return people;
}

function vault(script: Script, organisationId: string): void {
  const [kek, nextKek] = KEKS;
  const key = {
    id: 'pk_1',
    organisationId,
    provider: 'deepgram',
    name: 'Ours',
    sealed: sealedBy(kek, 'one'),
    lastFour: 'abcd',
    fields: { region: 'eu' },
    check: 'accepted',
  } as const;
  script.call('saveProviderKey', key, BY);
  script.call('saveProviderKey', { ...key, id: 'pk_2', sealed: sealedBy(kek, 'two'), check: 'unanswered' }, BY);
  script.call('saveProviderKey', { ...key, organisationId: 'org_none' }, BY);
  script.call('saveProviderKey', { ...key, id: 'pk_3', provider: 'gladia' }, BY);
  script.call('noteProviderKeyCheck', organisationId, 'pk_2', 'refused', BY);
  script.call('noteProviderKeyUse', 'pk_2', 'accepted');
  script.call('removeProviderKey', organisationId, 'pk_3', BY);
  script.call('keepVaultCanary', sealedBy(kek, 'canary'));
  script.call('resealVault', nextKek, [], BY);
  const texts = [
    { id: null, from: sealedBy(kek, 'canary'), to: sealedBy(nextKek, 'canary') },
    { id: 'pk_2', from: sealedBy(kek, 'two'), to: sealedBy(nextKek, 'two') },
  ];
  script.call('resealVault', nextKek, texts, BY);
}

function rest(script: Script, organisationId: string, keyId: string): void {
  script.call('recordAudit', { by: BY, organisationId, action: 'test.done', target: keyId, detail: { a: 1 } });
  script.call('notePrices', 'v1');
  script.call('notePrices', 'v2');
  script.call('keepSessionEvents', organisationId, 'ses_abc123a', '[{"mark":"failover"}]');
  script.call('claimIdempotency', attemptOf(organisationId, 'a'), 60_000);
  script.call('claimIdempotency', attemptOf(organisationId, 'a', 'req_2'), 60_000);
  script.call('renewIdempotency', attemptOf(organisationId, 'a'), 90_000);
  script.call('finishIdempotency', attemptOf(organisationId, 'a'), sha256('request'), new Uint8Array([0, 255, 7]));
  script.call('claimIdempotency', attemptOf(organisationId, 'b'), 60_000);
  script.call('releaseIdempotency', attemptOf(organisationId, 'b'));
  script.call('claimIdempotency', attemptOf(organisationId, 'c'), 86_000_000);
  script.call('claimIdempotency', attemptOf('org_none', 'c'), 1);
  script.call('claimIdempotency', attemptOf(organisationId, 'd', 'req_3'), 60_000);
  script.call('putPiece', organisationId, 'answer req_3', 0, new Uint8Array([1, 2]));
  script.call('putPiece', organisationId, 'answer req_3', 1, new Uint8Array([3]));
  script.call('putPiece', organisationId, 'answer req_3', -1, new Uint8Array([3]));
  script.call('finishIdempotencyInPieces', attemptOf(organisationId, 'd', 'req_3'), sha256('request'), 3);
  script.call('finishIdempotencyInPieces', attemptOf(organisationId, 'd', 'req_3'), sha256('request'), 2);
  jobs(script, organisationId, keyId);
  const twice = {
    id: 'call-1',
    name: 'createOrganisation',
    args: ['Acme', null, BY],
    drawn: { ids: ['01890a5d-ac96-774b-bcce-b302099a8057'] },
  };
  script.call('operate', twice);
  script.call('operate', twice);
  script.call('operate', { id: 'call-2', name: 'noteLedger', args: [] });
  script.call('markContent', 'mark-1');
  script.call('claimOwnership', '0', 7, 'node-1');
  script.call('claimOwnership', '0', 6, 'node-2');
  script.call('claimOwnership', '1', 8, 'node-1');
  script.call('acceptLedger', `led_${'0'.repeat(24)}`);
  script.call('acceptLedger', 'led_wrong');
  script.call('noteLedger');
}
