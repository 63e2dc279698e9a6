// `voxgate orgs` and `voxgate usage` as an operator meets them: what they do, what they print, what they refuse.
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { voxgate } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

/** The command on a data directory of its own. */
function operator(directory = temporaryDirectory()) {
  const run = (...args: string[]) => voxgate(args, { VOXGATE_DATA_DIRECTORY: directory });
  const good = async (...args: string[]) => {
    const { code, output, errors } = await run(...args);
    expect([args, code, errors]).toEqual([args, 0, errors]);
    return output.trim();
  };
  const json = async (...args: string[]) => JSON.parse(await good(...args, '--json')) as Record<string, unknown>[];
  return { directory, run, good, json };
}

describe('voxgate orgs invite', () => {
  it('prints a link that makes a member where no mail can leave, and mails it where one can', async () => {
    const { directory, good, run } = operator();
    const id = await good('orgs', 'create', 'Team', '--init');
    const link = await good('orgs', 'invite', id, 'Ada@example.com', '--role', 'admin');
    expect(link).toMatch(/^http:\/\/localhost:8080\/join\?token=[\w-]{43}$/);
    const env = { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_SMTP_URL: 'smtp://127.0.0.1:2525' };
    const mailed = await voxgate(['orgs', 'invite', id, 'eva@example.com'], env);
    expect([mailed.code, mailed.output]).toEqual([0, 'eva@example.com is invited by mail, once a gateway runs.\n']);

    const store = await openSqliteStore({ directory });
    const hash = createHash('sha256').update(link.slice(-43)).digest();
    expect(await store.findInvitation(hash)).toMatchObject({
      organisationId: id,
      role: 'admin',
      email: 'Ada@example.com',
    });
    expect(await store.takeOutbox(10, 1)).toMatchObject([
      { type: 'mail.invitation', params: { to: 'eva@example.com' } },
    ]);
    await store.close();

    // Where its gateway listened last, or where the configuration says that people reach it.
    writeFileSync(join(directory, 'address'), 'https://127.0.0.1:9443\n');
    const own = await run('orgs', 'invite', id, 'ben@example.com');
    expect([own.output, own.errors]).toEqual([
      expect.stringMatching(/^https:\/\/127\.0\.0\.1:9443\/join\?token=/),
      expect.stringContaining('VOXGATE_PUBLIC_URL is not set'),
    ]);
    const reached = { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_PUBLIC_URL: 'https://stt.example.com/voice/' };
    const invited = await voxgate(['orgs', 'invite', id, 'cleo@example.com'], reached);
    expect([invited.output, invited.errors]).toEqual([
      expect.stringMatching(/^https:\/\/stt\.example\.com\/voice\/join\?token=[\w-]{43}\n$/),
      '',
    ]);

    expect(await run('orgs', 'invite', id, 'nobody')).toMatchObject({ code: 64 });
    expect(await run('orgs', 'invite', id, 'ada@example.com', '--role', 'king')).toMatchObject({ code: 64 });
    expect(await run('orgs', 'invite', 'org_never', 'ada@example.com')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('org_never'),
    });
  });
});

describe('voxgate orgs', () => {
  it('makes organisations that are prepaid, may owe something, or have no limit', async () => {
    const { good, json } = operator();
    const ids = [
      await good('orgs', 'create', 'Prepaid', '--init'),
      await good('orgs', 'create', 'Owes', '--init', '--credit-limit', '12.5'),
      await good('orgs', 'create', 'Free of limits', '--init', '--credit-limit', 'none'),
    ];
    expect(await json('orgs', 'list')).toMatchObject([
      {
        id: ids[0],
        name: 'Prepaid',
        creditLimitUsd: '0.00',
        balanceUsd: '0.00',
        availableUsd: '0.00',
        suspendedAt: null,
      },
      { id: ids[1], name: 'Owes', creditLimitUsd: '12.50', availableUsd: '12.50' },
      { id: ids[2], name: 'Free of limits', creditLimitUsd: null, availableUsd: null },
    ]);
    expect(await good('orgs', 'limit', ids[2]!, '0')).toContain('is prepaid');
    expect(await good('orgs', 'limit', ids[0]!, 'none')).toContain('has no credit limit');
    expect(await good('orgs', 'ceiling', ids[0]!, '100/day,deepgram:20/month')).toContain(
      'may spend at most 100/day, deepgram:20/month.',
    );
    expect(await good('orgs', 'ceiling', ids[0]!, 'none')).toContain('may spend without a ceiling.');
    const list = await good('orgs', 'list');
    expect(list).toMatch(/^ID +NAME +BALANCE +HELD +CREDIT LIMIT +SUSPENDED\n/);
    expect(list).toMatch(/Prepaid +0\.00 +0\.00 +none +-/);
  });

  it('adds credit once for each key, takes it back, and notes who did it', async () => {
    const { directory, good, run } = operator();
    const id = await good('orgs', 'create', 'Acme', '--init');
    expect(await good('orgs', 'credit', id, '10.000001', '--note', 'invoice 7', '--key', 'inv-7')).toContain(
      '10.000001 USD',
    );
    const again = await run('orgs', 'credit', id, '10.000001', '--key', 'inv-7');
    expect(again).toMatchObject({ code: 0, errors: expect.stringContaining('nothing was added') });
    expect(again.output).toContain('is 10.000001 USD');
    expect(await good('orgs', 'credit', id, '-12')).toContain('is -1.999999 USD');
    expect(await good('orgs', 'credit', '--note', 'paid', id, '+2')).toContain('is 0.000001 USD');

    const store = await openSqliteStore({ directory });
    const entries = await store.listAudit(id, 10);
    await store.close();
    expect(entries.map(({ action }) => action)).toEqual([
      'credit.added',
      'credit.adjusted',
      'credit.added',
      'organisation.created',
    ]);
    for (const { by } of entries) expect(by).toEqual({ type: 'operator', id: userInfo().username });
  });

  it('demands redaction for all requests of an organisation, and takes it back', async () => {
    const { good, run } = operator();
    const id = await good('orgs', 'create', 'Careful', '--init');
    expect(await good('orgs', 'redact', id, 'email,card')).toBe(`The gateway redacts card, email for ${id}.`);
    expect(await good('orgs', 'redact', id, 'none')).toBe(`The gateway redacts nothing of its own for ${id}.`);
    expect(await run('orgs', 'redact', id, 'names')).toMatchObject({ code: 64 });
  });

  it('suspends an organisation and reinstates it', async () => {
    const { good, json } = operator();
    const id = await good('orgs', 'create', 'Acme', '--init');
    expect(await good('orgs', 'suspend', id)).toMatch(/suspended since \d{4}-/);
    expect((await json('orgs', 'list'))[0]).toMatchObject({ suspendedAt: expect.stringMatching(/Z$/) });
    expect(await good('orgs', 'reinstate', id)).toContain('in use');
    expect((await json('orgs', 'list'))[0]).toMatchObject({ suspendedAt: null });
  });

  it('says that there is no such organisation, and ends with 1', async () => {
    const { good, run } = operator();
    await good('orgs', 'create', 'Acme', '--init');
    const lines = [
      ['orgs', 'credit', 'org_none', '1'],
      ['orgs', 'limit', 'org_none', '1'],
      ['orgs', 'suspend', 'org_none'],
      ['usage', 'org_none'],
      ['keys', 'list', '--org', 'org_none'],
      ['keys', 'create', '--org', 'org_none'],
    ];
    for (const args of lines) {
      const { code, errors } = await run(...args);
      expect([args, code]).toEqual([args, 1]);
      expect(errors).toMatch(/^voxgate: [^\n]*org_none[^\n]*\.\n$/);
    }
  });

  it('makes no database where there is none to be read, and names the directory', async () => {
    const { directory, run } = operator();
    const lines = [
      ['orgs', 'list'],
      ['keys', 'list'],
      ['usage', 'org_x'],
      ['ledger', 'audit'],
      ['ledger', 'export'],
    ];
    for (const args of lines) {
      const { code, errors } = await run(...args);
      expect([args, code]).toEqual([args, 1]);
      expect(errors).toMatch(new RegExp(`^voxgate: there is no database in ${directory}[^\n]*\\.\n$`));
    }
    expect(existsSync(join(directory, 'voxgate.db'))).toBe(false);
  });
});

describe('voxgate usage', () => {
  it('shows what was used, by model, provider, day and key', async () => {
    const { directory, good, json } = operator();
    const store = await openSqliteStore({ directory });
    const { key } = (await store.bootstrap())!;
    const { organisationId } = key;
    const price = { unit: 'minute', microUsd: 6_000n, minimumMicroUsd: 0n } as const;
    const lines = [
      { model: 'asr/one', own: false, audioMs: 90_000, price },
      { model: 'asr/two', own: true, audioMs: 30_000, price },
    ];
    const head = { id: 'ses_1', organisationId, keyId: key.id, mode: 'live', model: 'asr/one' } as const;
    const openedAt = '2026-05-31T23:59:59.999Z';
    const end = { endedAt: '2026-06-01T00:02:00.000Z', reason: 'completed', code: null, audioMs: 120_000, lines };
    const redactions = { card: 3, email: 1 };
    await store.settleSession({ ...head, openedAt, tags: '{"customer":"acme"}' }, { ...end, redactions });
    await store.close();

    const may = ['usage', organisationId, '--from', '2026-05-01', '--to', '2026-06-01'];
    expect(await good(...may)).toMatch(
      /^MODEL +OWN KEY +SESSIONS +AUDIO, S +COST, USD\nasr\/one +no +1 +90\.000 +0\.009\nasr\/two +yes +1 +30\.000 +0\.00\nall +120\.000 +0\.009\nRedacted: 3 card, 1 email\.$/,
    );
    const groups = { model: 'asr/one', provider: 'asr', day: '2026-05-31', key: key.id, 'tag:customer': 'acme' };
    for (const [by, group] of Object.entries(groups)) {
      const found = (await json(...may, '--by', by)) as unknown as { rows: unknown[] };
      expect(found).toMatchObject({ organisationId, groupBy: by, from: '2026-05-01T00:00:00.000Z', totalUsd: '0.009' });
      const amounts = { connectionMs: 0, costUsd: '0.009', countedUsd: '0.00' };
      const row = { group, own: false, sessions: 1, audioMs: 90_000, ...amounts };
      expect(found.rows).toContainEqual(row);
    }
    expect(await good(...may, '--group-by', 'tag:project')).toMatch(/^TAG:PROJECT [^\n]*\n\(no tag\) +no +1 /);
    expect(await json(...may, '--tag', 'customer:acme')).toMatchObject({ totalUsd: '0.009', redactions });
    expect(await json(...may, '--tag', 'customer:other')).toMatchObject({ rows: [], redactions: {} });
    expect(await json('usage', organisationId, '--from', '2026-06-01')).toMatchObject({ rows: [], totalUsd: '0.00' });
    expect(
      await json('usage', organisationId, '--from', '2026-05-31T23:59:59.999Z', '--to', '2026-06-01'),
    ).toMatchObject({
      totalUsd: '0.009',
    });
  });
});

describe('voxgate orgs members', () => {
  it('lists members and invitations, assigns roles and removes members, except the last owner', async () => {
    const { directory, good, run, json } = operator();
    const id = await good('orgs', 'create', 'Team', '--init');
    const store = await openSqliteStore({ directory });
    for (const [name, role] of [
      ['ada', 'owner'],
      ['eva', 'developer'],
    ] as const) {
      const email = `${name}@example.com`;
      const hash = createHash('sha256').update(name).digest();
      await store.invite(id, { email, address: email, role, hash }, { type: 'operator', id: 'test' });
      const proof = { passwordHash: '$scrypt$1$salt$hash' };
      await store.join({ hash, email, address: email, proof, welcomeMicroUsd: 0n, client: '192.0.2.1' });
    }
    await store.close();
    await good('orgs', 'invite', id, 'new@example.com', '--role', 'read_only');
    expect(await run('orgs', 'invite', id, 'ada@example.com')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('is a member already'),
    });
    expect(await good('orgs', 'role', id, 'EVA@example.com', 'admin')).toBe(`EVA@example.com is admin of ${id}.`);
    expect(await json('orgs', 'members', id)).toMatchObject({
      members: [
        { email: 'ada@example.com', role: 'owner' },
        { email: 'eva@example.com', role: 'admin' },
      ],
      invitations: [{ email: 'new@example.com', role: 'read_only', state: 'pending' }],
    });
    expect(await good('orgs', 'members', id)).toMatch(/new@example\.com +read_only +invited, pending/);
    expect(await run('orgs', 'remove', id, 'ada@example.com')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('Make another member an owner first'),
    });
    await good('orgs', 'remove', id, 'eva@example.com');
    expect(await run('orgs', 'role', id, 'eva@example.com', 'owner')).toMatchObject({ code: 1 });
    expect(await run('orgs', 'role', id, 'ada@example.com', 'king')).toMatchObject({ code: 64 });
  });
});
