// A database with rows in every table, and a way to read all of it: for tests that damage, copy or migrate one.
import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { createReplicaTables } from '../../../src/store/replica-position.ts';
import { OPERATOR, openTables } from './data-directory.ts';
import type { DirectTables } from './direct-tables.ts';

const sha256 = (text: string): Uint8Array => new Uint8Array(createHash('sha256').update(text).digest());

const price = { unit: 'minute', microUsd: 4300n, minimumMicroUsd: 0n } as const;
const hold = { wantedMicroUsd: 10_000n, leastMicroUsd: 1n, leaseMs: 60_000 };
const sealed = 'v1.0a1b2c3d.wrapped.nonce.text';

/** Rows in every table, made by the store's own calls; several in those that are listed. */
export function fill(tables: DirectTables): void {
  const { organisation, key } = tables.bootstrap()!;
  const organisationId = organisation.id;
  const settings = { models: ['deepgram/*'], origins: ['https://a.example'], dailySpendMicroUsdMax: 10n ** 12n };
  const keys = Array.from({ length: 12 }, (_, index) =>
    tables.createKey(organisationId, { ...settings, name: `key ${index}` }, OPERATOR),
  );
  tables.rollKey(organisationId, keys[0]!.key.id, 1000, OPERATOR);
  tables.revokeKey(null, keys[1]!.key.id, OPERATOR);
  tables.noteKeysUsed(key.organisationId, [{ keyId: key.id, atMs: 60_000 }]);
  tables.setSpendCeilings(organisationId, [{ usd: '1000', period: 'month', provider: 'deepgram' }], OPERATOR);
  tables.redeemToken(organisationId, 'a token', Date.UTC(2100, 0, 1));
  tables.addCredit(
    { organisationId, kind: 'top_up', microUsd: 10n ** 9n, uniqueKey: 'paid', note: 'Invoice 1' },
    OPERATOR,
  );
  for (let index = 0; index < 8; index++) {
    const openedAt = '2026-06-15T12:00:00.000Z';
    const keyId = keys[2]!.key.id;
    const head = {
      id: `ses_${index}`,
      organisationId,
      keyId,
      mode: 'live',
      model: 'deepgram/nova-3',
      openedAt,
      tags: '{"customer":"acme"}',
    } as const;
    const lines = [{ model: head.model, own: false, audioMs: 61_000 + index, price }];
    tables.openSession(head, hold);
    tables.renewHold(head, lines, hold);
    // The last two stay open, with their holds.
    if (index > 5) continue;
    const end = { endedAt: '2026-06-15T12:05:00.000Z', reason: 'client_closed', code: null, audioMs: 70_000, lines };
    const failed = { model: head.model, own: false, reason: 'failed', legs: 1, audioMs: 900 } as const;
    tables.settleSession(head, index === 0 ? { ...end, sentAgain: [failed], redactions: { card: 2 } } : end);
  }
  fillOwn(tables, { organisationId, keyId: keys[2]!.key.id });
  fillFiles(tables, { organisationId, keyId: keys[2]!.key.id });
  fillWebhooks(tables, organisationId);
  tables.keepSessionEvents(organisationId, 'ses_1', '[]');
  fillAccounts(tables);
  tables.saveProviderKey(
    {
      id: 'pk_1',
      organisationId,
      provider: 'deepgram',
      name: 'Ours',
      sealed,
      lastFour: 'abcd',
      fields: {},
      check: 'accepted',
    },
    OPERATOR,
  );
  tables.keepVaultCanary(sealed);
  tables.claimOwnership('0', 1, 'node-1');
  const attempt = { organisationId, keyHash: sha256('idempotency'), attemptId: 'req_1' };
  tables.claimIdempotency(attempt, 60_000);
  tables.finishIdempotency(attempt, sha256('request'), sha256('answer'));
  const job = { organisationId, keyId: key.id, dialect: 'soniox', id: 'job-1', node: 'abc123', nodeName: 'edge-1' };
  tables.createJob({ ...job, stage: 'processing', request: sha256('request') }, 60_000);
  tables.createReportedJob(
    { ...job, id: 'job-2', stage: 'processing', request: sha256('request'), callbacks: 1 },
    60_000,
  );
  tables.createSharedJob(
    { ...job, id: 'job-3', dialect: 'voxgate', stage: 'queued', request: sha256('request') },
    60_000,
  );
  tables.createSharedReportedJob(
    { ...job, id: 'job-4', dialect: 'voxgate', stage: 'queued', request: sha256('request'), callbacks: 1 },
    60_000,
  );
  tables.putPiece(organisationId, 'job job-1', 0, sha256('transcript'));
  tables.markContent('mark-1');
  const note = {
    id: 'operator-call',
    name: 'noteKeysUsed',
    args: [organisationId, [{ keyId: key.id, atMs: 120_000 }]],
  };
  tables.operate(note);
  tables.finishJob(job, { stage: 'done', summary: sha256('summary'), transcript: null, pieces: 1 });
}

/** Two sessions on an own provider key, which count under ceilings; one is open. */
function fillOwn(tables: DirectTables, { organisationId, keyId }: { organisationId: string; keyId: string }): void {
  const openedAt = '2026-06-15T12:00:00.000Z';
  for (const id of ['ses_own1', 'ses_own2']) {
    const model = 'deepgram/nova-3';
    const head = { id, organisationId, keyId, mode: 'live', model, openedAt } as const;
    tables.holdOwn(head, [{ model, own: true, counted: true, audioMs: 61_000, price }], hold);
    const tooMuch = { ...hold, wantedMicroUsd: 10n ** 15n, leastMicroUsd: 10n ** 15n, keepsReached: true } as const;
    tables.openSession({ ...head, id: `${id}_refused` }, tooMuch);
    if (id === 'ses_own1') continue;
    const end = { endedAt: openedAt, reason: 'client_closed', code: null, audioMs: 61_000, lines: [] };
    tables.settleSession(head, end);
  }
}

/** A file, and one that was charged for more than was held, since the ledger did not answer. */
function fillFiles(tables: DirectTables, { organisationId, keyId }: { organisationId: string; keyId: string }): void {
  const openedAt = '2026-06-15T12:00:00.000Z';
  for (const [index, onTrust] of [false, true].entries()) {
    const model = 'deepgram/nova-3';
    const head = { id: `req_${index}`, organisationId, keyId, mode: 'batch', model, openedAt } as const;
    const audioMs = onTrust ? 600_000 : 61_000;
    tables.openSession(head, hold);
    tables.settleSession(head, {
      endedAt: '2026-06-15T12:05:00.000Z',
      reason: 'completed',
      code: null,
      audioMs,
      lines: [{ model, own: false, audioMs, price }],
      file: { audioMs, channels: 1, audioMsMax: audioMs },
      ...(onTrust ? { onTrust } : {}),
    });
  }
}

/** An endpoint, a delivery to it, and a fact. */
function fillWebhooks(tables: DirectTables, organisationId: string): void {
  const events = ['job.completed', 'key.revoked', 'session.ended'] as const;
  const settings = {
    url: 'https://a.example/',
    events,
    description: '',
    balanceLowMicroUsd: 5_000_000n,
    transcripts: true,
  };
  tables.createWebhook(organisationId, { id: 'we_1', ...settings, secret: sha256('secret') }, OPERATOR);
  tables.addWebhookEvent({ organisationId, id: 'msg_1', type: 'job.completed', payload: sha256('payload') });
  tables.keepWebhookTranscript(organisationId, 'ses_1', sha256('transcript'));
  const { key } = tables.createKey(organisationId, {}, OPERATOR);
  tables.revokeKey(organisationId, key.id, OPERATOR);
}

function fillAccounts(tables: DirectTables): void {
  const stranger = { client: '192.0.2.1', clientGroup: '192.0.2.1' };
  for (const name of ['ada', 'bob']) {
    const email = `${name}@example.com`;
    tables.signUp({
      email,
      address: email,
      passwordHash: '$scrypt$1$salt$hash',
      organisationName: name,
      verification: { hash: sha256(`verify ${name}`), sealed },
      reset: { hash: sha256(`reset ${name}`), sealed },
      ...stranger,
      signUpsPerDayMax: 10,
    });
    const { person } = tables.verifyAddress(sha256(`verify ${name}`), '$scrypt$1$salt$hash', 5_000_000n, '192.0.2.1')!;
    tables.requestPasswordReset(email, { hash: sha256(`reset again ${name}`), sealed }, stranger);
    const invited = { email: `by-${email}`, address: `by-${email}`, role: 'developer' } as const;
    tables.invite(person.organisationId, { ...invited, hash: sha256(`invitation ${name}`) }, OPERATOR);
    tables.openConsoleSession({
      hash: sha256(`session ${name}`),
      personId: person.id,
      passwordHash: '$scrypt$1$salt$hash',
      client: '192.0.2.1',
      userAgent: 'a browser',
      sessionsMax: 10,
    });
    tables.beginLogin(email);
    tables.noteRefusedLogin({ address: email, why: 'password', ...stranger });
  }
}

/** The name of every table, with its number of rows; throws when anything cannot be read. */
export function readAll(database: Database, tables: DirectTables): Map<string, number> {
  const names = database
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const counts = new Map(
    names.map((name) => [name, database.prepare(`SELECT * FROM ${name}`).safeIntegers().all().length]),
  );
  tables.listKeys();
  tables.listAudit(null, 1000);
  tables.revokedKeyIds();
  tables.listSealedProviderKeys();
  tables.exportLedger(0, 1000);
  tables.auditLedger();
  for (const { id } of tables.listOrganisations()) {
    tables.balanceOf(id);
    tables.listSessions(id, 100);
    tables.listKeys(id);
    tables.listProviderKeys(id);
    tables.listAudit(id, 1000);
  }
  return counts;
}

/** A closed file with everything in it; `open` leaves it as a killed process would, with its last commits in the log. */
export function fullDatabase(): { file: string; close(): void; counts: Map<string, number> } {
  const { file, database, tables } = openTables();
  fill(tables);
  createReplicaTables({ database }).notePosition(
    { epoch: 1, number: 1, hash: 'hash', sequence: 1, outcome: '' },
    Buffer.from('an entry'),
  );
  return { file, close: () => database.close(), counts: readAll(database, tables) };
}
