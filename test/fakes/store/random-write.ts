// Random calls on few people, keys and sessions, so that most of them meet rows of earlier calls. Some change rows, some are
// refused.
import type { KeySettings, Scope } from '../../../src/accounts/keys/calls.ts';
import type { SpendCeiling } from '../../../src/api/spend-ceilings.ts';
import type { Call } from '../../../src/node/store/protocol.ts';
import type { CallName, StoreCalls } from '../../../src/node/store/store.ts';
import type { Actor } from '../../../src/store/audit-log.ts';
import { type Random, seeded } from '../random.ts';
import { BY, PASSWORD, type Period, PRICE, sealedBy, sha256 } from './every-write.ts';
import { callOf } from './replay.ts';

type Arguments = { [Name in CallName]: Parameters<StoreCalls[Name]> };
type Arguable = { readonly [Name in CallName]?: (draw: Draw) => Arguments[Name] };

const NAMES = ['ada', 'bob', 'eve'];
const MODELS = ['deepgram/nova-3', 'gladia/solaria', 'loopback/script'];
const STRANGER = { client: '192.0.2.1', clientGroup: '192.0.2.0/24' };
const SPAN_MS = 3 * 86_400_000;
const START_MS = Date.UTC(2026, 10, 21, 12);
const LEDGER = `led_${'a'.repeat(24)}`;

/** Ids of rows that calls have made. Later calls take their arguments from them. */
export class World {
  readonly made = { org: ['org_none'], key: ['key_none'], per: ['per_none'], con: ['con_none'], inv: ['inv_none'] };
  nowMs = START_MS;

  /** Keys with their organisations. */
  readonly customers = [{ organisationId: 'org_none', keyId: 'key_none' }];
  /** Makes organisations with keys and credit, and people. */
  readonly beginning: Period = { nowMs: START_MS, calls: [] };

  constructor() {
    for (const limit of [0n, 20_000n]) {
      const [id] = this.#begin('createOrganisation', 'Acme', limit, BY);
      const organisationId = `org_${id}`;
      for (const name of ['live', 'files']) this.#begin('createKey', organisationId, { name }, BY);
      const credit = {
        organisationId,
        kind: 'top_up',
        microUsd: 100_000n,
        uniqueKey: organisationId,
        note: '',
      } as const;
      this.#begin('addCredit', credit, BY);
    }
    for (const [index, name] of NAMES.entries()) {
      const address = `${name}@example.com`;
      const token = (each: number) => ({ hash: sha256(`token ${each}`), sealed: 'sealed' });
      const tokens = { verification: token(index), reset: token(index + 3) };
      const person = { email: address, address, passwordHash: PASSWORD, organisationName: name, signUpsPerDayMax: 9 };
      this.#begin('signUp', { ...person, ...tokens, ...STRANGER });
    }
  }

  #begin<Name extends CallName>(name: Name, ...args: Arguments[Name]): readonly string[] {
    const { calls } = this.beginning;
    const call = callOf(name, args, START_MS, calls.length);
    calls.push(call);
    const ids = call.drawn?.ids ?? [];
    this.note(name, args, ids);
    return ids;
  }

  note(name: CallName, [first]: readonly unknown[], ids: readonly string[]): void {
    if (name === 'createKey') this.customers.push({ organisationId: `${first}`, keyId: `key_${ids[0]}` });
    const prefixes = MAKES[name] ?? [];
    for (const [index, prefix] of prefixes.entries()) {
      const id = ids[index];
      if (id !== undefined) this.made[prefix].push(`${prefix}_${id}`);
    }
  }
}

type Prefix = keyof World['made'];

/** In the order in which the operations take the ids drawn for them. */
const MAKES: { readonly [Name in CallName]?: readonly Prefix[] } = {
  bootstrap: ['org', 'key'],
  createOrganisation: ['org'],
  createKey: ['key'],
  rollKey: ['key'],
  signUp: ['per', 'org'],
  foundOrganisation: ['org'],
  removeMember: ['org'],
  inviteFirstOwner: ['inv'],
  invite: ['inv'],
  join: ['per'],
  openConsoleSession: ['con'],
  changePassword: ['con'],
};

/** Arguments of one call. */
class Draw {
  readonly #random: Random;
  readonly #world: World;

  constructor(random: Random, world: World) {
    this.#random = random;
    this.#world = world;
  }

  /** Mostly one of the last few. */
  id(prefix: Prefix): string {
    const made = this.#world.made[prefix];
    return this.pick(this.chance(0.9) && made.length > 1 ? made.slice(1).slice(-4) : made);
  }

  pick<T>(from: readonly T[]): T {
    return this.#random.pick(from);
  }

  integer(min: number, max: number): number {
    return this.#random.integer(min, max);
  }

  chance(part: number): boolean {
    return this.#random.next() < part;
  }

  money(max: number): bigint {
    return BigInt(this.integer(0, max));
  }

  hash(): Uint8Array {
    return sha256(`token ${this.integer(0, 5)}`);
  }

  token() {
    return { hash: this.hash(), sealed: `sealed ${this.integer(0, 9)}` };
  }

  address(): string {
    return `${this.pick(NAMES)}@example.com`;
  }

  passwordHash(): string {
    return this.chance(0.9) ? PASSWORD : '$scrypt$9$other$hash';
  }

  by(): Actor {
    return this.chance(0.3) ? { type: 'person', id: this.id('per'), address: STRANGER.client } : BY;
  }

  at(): string {
    return new Date(this.#world.nowMs - this.integer(0, 100_000)).toISOString();
  }

  untilMs(): number {
    return this.#world.nowMs - this.integer(-10, 100_000);
  }

  name(): string {
    return this.pick(['Acme', 'Überraschung 🎙', "O'Hara", 'a\nb', '']);
  }

  head() {
    const { customers } = this.#world;
    const number = this.chance(0.9) ? this.integer(Math.max(0, customers.length - 3), customers.length - 1) : 0;
    const customer = customers[number]!;
    const mode = this.chance(0.7) ? ('live' as const) : ('batch' as const);
    const prefix = mode === 'live' ? `ses_${this.chance(0.8) ? 'abc123' : 'zzz999'}` : 'req_';
    const id = `${prefix}${this.chance(0.9) ? number : 2}`;
    return { ...customer, id, mode, model: this.pick(MODELS), openedAt: this.at() };
  }

  job() {
    const customer = this.pick(this.#world.customers.slice(-3));
    const node = this.pick(['abc123', 'def456']);
    return {
      ...{
        ...customer,
        dialect: this.pick(['soniox', 'voxgate']),
        id: this.pick(['a', 'b', 'c']),
        node,
        nodeName: this.pick(['edge-1', 'edge-2']),
      },
      ...{ stage: this.pick(['queued', 'processing'] as const), request: new Uint8Array([1, 2]) },
    };
  }

  webhook() {
    return {
      url: this.pick(['https://a.example/', 'nowhere']),
      events: this.pick([
        ['job.completed'],
        ['session.ended', 'usage.recorded', 'key.revoked', 'balance.low'],
        [],
      ] as const),
      description: this.name(),
      balanceLowMicroUsd: this.money(120_000) - 10_000n,
      transcripts: this.chance(0.5),
    };
  }

  webhookEvent() {
    const payload = new Uint8Array(this.integer(0, 40)).fill(7);
    return { organisationId: this.id('org'), id: `msg_${this.integer(0, 3)}`, type: 'job.completed' as const, payload };
  }

  hold() {
    const wantedMicroUsd = this.chance(0.2) ? 10n ** 10n : this.money(60_000);
    const keeps = this.chance(0.5) ? { keepsReached: true as const } : {};
    const minute = this.chance(0.5) ? { minuteMicroUsd: BigInt(this.integer(0, 20_000)) } : {};
    return {
      ...{ wantedMicroUsd, leastMicroUsd: wantedMicroUsd / 2n, leaseMs: this.integer(1, 120_000) },
      ...keeps,
      ...minute,
    };
  }

  lines() {
    return MODELS.slice(0, this.integer(0, 3)).map((model) => ({
      model,
      ...(this.chance(0.2) ? { own: true, ...(this.chance(0.7) ? { counted: true as const } : {}) } : { own: false }),
      audioMs: this.integer(0, 100_000),
      ...(this.chance(0.3) ? { rate: this.integer(0, 1), connectionMs: this.integer(0, 9_000) } : {}),
      price: PRICE,
    }));
  }

  sentAgain() {
    const reason = this.pick(['replayed', 'failed', 'attempt', 'standby', 'probe'] as const);
    return [
      {
        model: this.pick(MODELS),
        own: this.chance(0.2),
        reason,
        legs: this.integer(0, 3),
        audioMs: this.integer(0, 90_000),
        ...(this.chance(0.2) ? { connectionMs: this.integer(0, 90_000) } : {}),
      },
    ];
  }

  end() {
    const lines = this.lines();
    const audioMs = this.integer(0, 100_000);
    const file = { audioMs, channels: this.integer(1, 2), audioMsMax: audioMs };
    return {
      endedAt: this.at(),
      reason: this.pick(['client_closed', 'credit']),
      code: this.pick([null, 'idle_timeout']),
      audioMs,
      lines,
      ...(this.chance(0.3) ? { onTrust: true } : {}),
      ...(this.chance(0.2) ? { file } : {}),
      ...(this.chance(0.5) ? { sentAgain: this.sentAgain() } : {}),
      ...(this.chance(0.3) ? { redactions: { [this.pick(['card', 'email', 'No class'])]: this.integer(0, 5) } } : {}),
    };
  }

  settings(): Partial<KeySettings> {
    return {
      ...(this.chance(0.7) ? { name: this.name() } : {}),
      ...(this.chance(0.3) ? { dailySpendMicroUsdMax: this.pick([null, this.money(200_000)]) } : {}),
      ...(this.chance(0.2)
        ? { expiresAt: new Date(this.#world.nowMs + this.integer(-10, SPAN_MS)).toISOString() }
        : {}),
      ...(this.chance(0.2) ? { models: this.pick([null, MODELS, ['gladia/*'], ['?']]) } : {}),
      ...(this.chance(0.2) ? { scopes: ['listen', 'tokens'] as Scope[] } : {}),
      ...(this.chance(0.2) ? ({ regions: undefined, latency: 'low' as const } as object) : {}),
      ...(this.chance(0.2) ? { spendCeilings: this.pick([null, this.ceilings()]) } : {}),
      ...(this.chance(0.2) ? { replace: this.pick([null, [], [{ from: 'um', to: '' }]]) } : {}),
    };
  }

  ceilings(): SpendCeiling[] {
    const periods = ['hour', 'day', 'month'] as const;
    return Array.from({ length: this.integer(0, 3) }, () => ({
      usd: `0.${this.integer(1, 99)}`,
      period: this.pick(periods),
      ...(this.chance(0.5) ? { provider: this.pick(['deepgram', 'gladia', '?']) } : {}),
      ...(this.chance(0.3) ? { only_up_to: this.pick(['0', '0.01', '-1']) } : {}),
    }));
  }

  session() {
    return {
      personId: this.id('per'),
      hash: this.hash(),
      passwordHash: this.passwordHash(),
      ...(this.chance(0.3) ? { replaces: this.hash() } : {}),
      ...(this.chance(0.3) ? { organisationId: this.id('org') } : {}),
      client: STRANGER.client,
      userAgent: 'a browser',
      sessionsMax: this.integer(1, 3),
    };
  }

  attempt() {
    const keyHash = sha256(`key ${this.integer(0, 1)}`);
    return { organisationId: this.id('org'), keyHash, attemptId: `req_${this.integer(0, 1)}` };
  }
}

/** Arguments for every operation that writes; some are valid. */
export const ARGUMENTS: Arguable = {
  bootstrap: () => [],
  createOrganisation: (draw) => [draw.name(), draw.pick([null, 0n, 50_000n]), draw.by()],
  setCreditLimit: (draw) => [draw.id('org'), draw.pick([null, 0n, 90_000n, -1n]), draw.by()],
  setSuspended: (draw) => [draw.id('org'), draw.chance(0.5), draw.by()],
  setPlaceRule: (draw) => [
    draw.id('org'),
    {
      regions: draw.pick([null, ['eu'] as const, ['uk', 'eu'] as const]),
      retention: draw.pick([null, 'none'] as const),
    } as never,
    draw.by(),
  ],
  setRedactionRule: (draw) => [draw.id('org'), { redact: draw.pick([null, ['card'] as const]) } as never, draw.by()],
  setAliases: (draw) => [
    draw.id('org'),
    { [draw.pick(['best', '2', '10', 'a/b'])]: [{ model: draw.pick(MODELS) }], '1': [{ model: MODELS[0]! }] },
    draw.by(),
  ],
  setShowTranscripts: (draw) => [draw.id('org'), draw.chance(0.5), draw.by()],
  setSpendCeilings: (draw) => [draw.id('org'), draw.ceilings(), draw.by()],
  setGatewayCeilings: (draw) => [draw.ceilings()],
  createKey: (draw) => [draw.id('org'), draw.settings(), draw.by(), draw.pick([undefined, 2, 20])],
  changeKey: (draw) => [draw.id('org'), draw.id('key'), draw.settings(), draw.by(), draw.pick([undefined, 2])],
  rollKey: (draw) => [draw.id('org'), draw.id('key'), draw.integer(-1, 100_000), draw.by()],
  revokeKey: (draw) => [draw.chance(0.5) ? null : draw.id('org'), draw.id('key'), draw.by()],
  noteKeysUsed: (draw) => [
    draw.id('org'),
    [{ keyId: draw.id('key'), atMs: draw.untilMs(), ...(draw.chance(0.5) ? { tokens: draw.integer(-1, 5) } : {}) }],
  ],
  redeemToken: (draw) => [draw.id('org'), `token ${draw.integer(0, 9)}`, draw.untilMs()],
  recordAudit: (draw) => [
    {
      by: draw.by(),
      organisationId: draw.pick([null, draw.id('org')]),
      action: 'test.done',
      target: null,
      detail: { a: [draw.name()] },
    },
  ],
  notePrices: (draw) => [draw.pick(['v1', 'v2'])],
  takeOutbox: (draw) => [draw.integer(0, 3), draw.integer(0, 60_000)],
  endOutbox: (draw) => [draw.integer(1, 6), draw.pick([null, 0, 60_000])],
  openSession: (draw) => [draw.head(), draw.hold()],
  renewHold: (draw) => [draw.head(), draw.lines(), draw.hold()],
  holdOwn: (draw) => [draw.head(), draw.lines(), draw.hold()],
  settleSession: (draw) => [draw.head(), draw.end()],
  closeLost: (draw) => [draw.pick(['abc123', 'zzz999', 'no']), draw.at(), draw.pick([undefined, true, false])],
  closeLostFiles: (draw) => [draw.untilMs(), draw.integer(1, 1000)],
  expireHolds: () => [],
  endHolds: (draw) => [draw.untilMs()],
  addCredit: (draw) => [
    {
      organisationId: draw.id('org'),
      kind: draw.pick(['welcome', 'top_up', 'adjustment'] as const),
      microUsd: draw.money(500_000) - 50_000n,
      uniqueKey: `key ${draw.integer(0, 20)}`,
      note: draw.name(),
    },
    draw.by(),
  ],
  keepSessionEvents: (draw) => [draw.id('org'), `ses_${draw.integer(0, 5)}`, '[]'],
  saveProviderKey: (draw) => [
    {
      id: `pk_${draw.integer(0, 5)}`,
      organisationId: draw.id('org'),
      provider: draw.pick(['deepgram', 'gladia']),
      name: draw.name(),
      sealed: sealedBy('0a1b2c3d', `${draw.integer(0, 9)}`),
      lastFour: 'abcd',
      fields: {},
      check: draw.pick(['accepted', 'unanswered'] as const),
    },
    draw.by(),
  ],
  noteProviderKeyCheck: (draw) => [
    draw.id('org'),
    `pk_${draw.integer(0, 5)}`,
    draw.pick(['accepted', 'refused', 'unanswered'] as const),
    draw.by(),
  ],
  noteProviderKeyUse: (draw) => [`pk_${draw.integer(0, 5)}`, draw.pick(['accepted', 'refused'] as const)],
  removeProviderKey: (draw) => [draw.id('org'), `pk_${draw.integer(0, 5)}`, draw.by()],
  keepVaultCanary: (draw) => [sealedBy('0a1b2c3d', `canary ${draw.integer(0, 2)}`)],
  resealVault: (draw) => [draw.pick(['0a1b2c3d', '4e5f6a7b']), [], draw.by()],
  claimIdempotency: (draw) => [draw.attempt(), draw.integer(1, 100_000)],
  renewIdempotency: (draw) => [draw.attempt(), draw.integer(1, 100_000)],
  finishIdempotency: (draw) => [draw.attempt(), sha256('request'), new Uint8Array(draw.integer(0, 40)).fill(255)],
  releaseIdempotency: (draw) => [draw.attempt()],
  finishIdempotencyInPieces: (draw) => [draw.attempt(), sha256('request'), draw.integer(0, 2)],
  putPiece: (draw) => [
    draw.job().organisationId,
    draw.pick(['job a', 'job b', 'job a abc123', 'answer req_1', '\n']),
    draw.integer(0, 1),
    new Uint8Array(draw.integer(1, 40)).fill(7),
  ],
  createJob: (draw) => [draw.job(), draw.integer(1, 100_000)],
  createReportedJob: (draw) => [{ ...draw.job(), callbacks: draw.integer(0, 4) }, draw.integer(1, 100_000)],
  takeCallback: (draw) => [draw.integer(1, 4), draw.integer(1, 60_000)],
  recordCallback: (draw) => [
    {
      ...{ number: draw.integer(1, 4), endedAtMs: draw.untilMs(), status: draw.pick([null, 200, 500]) },
      ...{ retryAfterMs: draw.pick([null, 5_000]), isForgotten: draw.chance(0.5) },
    },
  ],
  startJob: (draw) => [draw.job()],
  renewJobs: (draw) => [draw.pick(['abc123', 'def456']), draw.integer(1, 100_000)],
  finishJob: (draw) => [
    draw.job(),
    {
      stage: draw.pick(['done', 'failed']),
      summary: new Uint8Array(draw.integer(1, 40)),
      transcript: draw.chance(0.5) ? null : new Uint8Array(draw.integer(1, 40)),
      pieces: draw.chance(0.7) ? 0 : draw.integer(1, 2),
    },
  ],
  removeJob: (draw) => [draw.job(), draw.pick(['a', 'b'])],
  failJobsOf: (draw) => [draw.pick(['abc123', 'def456'])],
  failEarlierJobs: (draw) => [draw.pick(['edge-1', 'edge-2']), draw.pick(['abc123', 'def456'])],
  adoptJobs: (draw) => [
    draw.pick(['edge-1', 'edge-2', '*']),
    draw.pick(['abc123', 'def456']),
    60_000,
    draw.integer(1, 3),
  ],
  createSharedJob: (draw) => [{ ...draw.job(), dialect: 'voxgate' }, draw.integer(1, 100_000)],
  createSharedReportedJob: (draw) => [
    { ...draw.job(), dialect: 'voxgate', callbacks: draw.integer(0, 4) },
    draw.integer(1, 100_000),
  ],
  startSharedJob: (draw) => [draw.job(), draw.pick(['abc123', 'def456'])],
  finishSharedJob: (draw) => [
    draw.job(),
    draw.pick(['abc123', 'def456']),
    {
      stage: draw.pick(['done', 'failed']),
      summary: new Uint8Array(draw.integer(1, 40)),
      transcript: draw.chance(0.5) ? null : new Uint8Array(draw.integer(1, 40)),
      pieces: draw.chance(0.7) ? 0 : 1,
    },
  ],
  adoptLostJobs: (draw) => [
    draw.pick(['abc123', 'def456']),
    draw.pick(['edge-1', 'edge-2']),
    60_000,
    draw.integer(1, 3),
    draw.chance(0.7) ? [] : [draw.job().keyId],
  ],
  adoptLostJob: (draw) => [draw.job(), draw.pick(['abc123', 'def456']), draw.pick(['edge-1', 'edge-2']), 60_000],
  failLostJobs: () => [],
  createWebhook: (draw) => [
    draw.id('org'),
    {
      ...{ ...draw.webhook(), id: `we_${draw.integer(0, 3)}`, secret: new Uint8Array([draw.integer(0, 2)]) },
      format: draw.pick(['standard', 'cloudevents'] as const),
    },
    draw.by(),
  ],
  changeWebhook: (draw) => [
    draw.id('org'),
    `we_${draw.integer(0, 3)}`,
    { ...(draw.chance(0.5) ? draw.webhook() : {}), state: draw.pick(['enabled', 'disabled'] as const) },
    draw.by(),
  ],
  rollWebhookSecret: (draw) => [
    draw.id('org'),
    `we_${draw.integer(0, 3)}`,
    new Uint8Array([draw.integer(0, 2)]),
    draw.integer(-1, 100_000),
    draw.by(),
  ],
  removeWebhook: (draw) => [draw.id('org'), `we_${draw.integer(0, 3)}`, draw.by()],
  addWebhookEvent: (draw) => [draw.webhookEvent()],
  addWebhookTest: (draw) => [draw.webhookEvent(), `we_${draw.integer(0, 3)}`],
  resendWebhookDelivery: (draw) => [draw.id('org'), `we_${draw.integer(0, 3)}`, `msg_${draw.integer(0, 3)}`],
  takeWebhookDelivery: (draw) => [draw.integer(1, 6), draw.integer(0, 30_000)],
  recordWebhookAttempt: (draw) => [
    {
      number: draw.integer(1, 6),
      attempt: { atMs: draw.untilMs(), status: draw.pick([null, 204, 500]), error: null, durationMs: 5 },
      outcome: draw.pick(['delivered', 'retry', 'failed', 'gone'] as const),
      retryAfterMs: draw.pick([null, 5_000]),
    },
  ],
  addWebhookDeliveries: (draw) => [
    [{ fact: draw.integer(1, 6), id: `msg_${draw.integer(4, 9)}`, payload: draw.pick([undefined, new Uint8Array(4)]) }],
  ],
  addWebhookBatches: (draw) => [
    [{ facts: [draw.integer(1, 6), draw.integer(1, 6)], id: `msg_${draw.integer(4, 9)}`, payload: new Uint8Array(4) }],
  ],
  keepWebhookTranscript: (draw) => [draw.id('org'), `ses_${draw.integer(0, 3)}`, new Uint8Array(draw.integer(1, 40))],
  expireWebhookDeliveries: (draw) => [draw.integer(0, 3)],
  resealWebhookSecrets: (draw) => [
    [{ id: `we_${draw.integer(0, 3)}`, from: new Uint8Array([draw.integer(0, 2)]), to: new Uint8Array([9]) }],
  ],
  expireJobs: (draw) => [draw.integer(0, 3)],
  endIdempotency: (draw) => [draw.untilMs()],
  claimOwnership: (draw) => [draw.pick(['0', '1']), draw.integer(1, 9), draw.pick(['node-1', 'node-2'])],
  noteLedger: () => [],
  operate: (draw) => [
    {
      id: draw.pick(['call-1', 'call-2', 'call-3']),
      name: draw.pick(['createOrganisation', 'listOrganisations']),
      args: ['Acme', draw.pick([null, 5n]), BY],
      drawn: { ids: [draw.pick(['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'])] },
    },
  ],
  markContent: (draw) => [draw.pick(['mark-1', 'mark-2'])],
  acceptLedger: (draw) => [draw.pick([LEDGER, 'led_wrong'])],
  signUp: (draw) => {
    const address = draw.address();
    return [
      {
        email: address.toUpperCase(),
        address,
        passwordHash: draw.passwordHash(),
        organisationName: draw.name(),
        verification: draw.token(),
        reset: draw.token(),
        ...STRANGER,
        signUpsPerDayMax: draw.integer(1, 9),
      },
    ];
  },
  beginVerification: (draw) => [draw.hash()],
  verifyAddress: (draw) => [draw.hash(), draw.passwordHash(), draw.money(100_000), STRANGER.client],
  resendVerification: (draw) => [draw.id('per'), draw.token()],
  requestPasswordReset: (draw) => [draw.address(), draw.token(), STRANGER],
  resetPassword: (draw) => [draw.hash(), draw.passwordHash(), STRANGER.client],
  changePassword: (draw) => [draw.session(), draw.passwordHash()],
  requestAddressChange: (draw) => [draw.id('per'), draw.address(), draw.address(), draw.token(), STRANGER.client],
  moveAccount: (draw) => [draw.id('per'), draw.pick(['account.suspend', 'account.reinstate'] as const), draw.by()],
  deletePerson: (draw) => [draw.id('per'), draw.by()],
  beginLogin: (draw) => [draw.address()],
  noteRefusedLogin: (draw) => [
    { address: draw.address(), why: draw.pick(['password', 'suspended', 'confirmation'] as const), ...STRANGER },
  ],
  openConsoleSession: (draw) => [draw.session()],
  enterOrganisation: (draw) => [draw.hash(), draw.id('org')],
  noteConsoleSession: (draw) => [draw.hash()],
  beginConfirmation: (draw) => [draw.hash()],
  confirmConsoleSession: (draw) => [draw.hash(), draw.passwordHash()],
  renameConsoleSession: (draw) => [draw.hash(), draw.hash()],
  endConsoleSession: (draw) => [draw.id('per'), draw.id('con'), STRANGER.client],
  foundOrganisation: (draw) => [draw.id('per'), draw.name(), draw.by()],
  changeRole: (draw) => [
    draw.id('org'),
    draw.id('per'),
    draw.pick(['owner', 'admin', 'read_only'] as const),
    draw.by(),
  ],
  removeMember: (draw) => [draw.id('org'), draw.id('per'), draw.by()],
  inviteFirstOwner: (draw) => [draw.hash()],
  invite: (draw) => {
    const address = draw.address();
    const role = draw.pick(['owner', 'developer'] as const);
    return [draw.id('org'), { email: address, address, role, ...draw.token() }, draw.by()];
  },
  renewInvitation: (draw) => [draw.id('org'), draw.id('inv'), draw.token(), draw.by()],
  withdrawInvitation: (draw) => [draw.id('org'), draw.id('inv'), draw.by()],
  beginJoining: (draw) => [draw.hash(), draw.address()],
  join: (draw) => {
    const address = draw.address();
    const proof = draw.chance(0.5) ? { passwordHash: draw.passwordHash() } : { loggedInAs: draw.id('per') };
    return [{ hash: draw.hash(), email: address, address, proof, welcomeMicroUsd: 5n, client: STRANGER.client }];
  },
};

/** A call with valid or invalid arguments, chosen by the seed. */
export function randomCall(name: CallName, seed: number, world: World, id: number): Call {
  const args = ARGUMENTS[name]!(new Draw(seeded(seed), world));
  const call = callOf(name, args, world.nowMs, id);
  world.note(name, args, call.drawn?.ids ?? []);
  return call;
}
