// Keys, balance, usage, sessions and audit log at the console: what is shown, and that nobody sees or moves what is another's.
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Browser,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
} from '../../accounts/people/console-rig.ts';
import { headOf, lineOf, OPERATOR } from '../../fakes/store/ledger.ts';

let rig: ConsoleRig;
let ada: Browser;
let bob: Browser;
beforeAll(async () => {
  rig = await openConsoleRig();
  ada = await openAccount(rig, 'ada@example.com');
  bob = await openAccount(rig, 'bob@example.com');
});

interface Key {
  id: string;
  name: string;
  status: string;
}
const members = <Shape>(answer: { json(): unknown }): Shape => answer.json() as Shape;
const keysOf = async (browser: Browser) => members<{ data: Key[] }>(await browser.get('/console/api/keys')).data;
const mint = async (browser: Browser, body: object = {}) =>
  members<{ key: Key; secret: string }>(await browser.call('POST', 'keys', body));

const DEEP = `${'['.repeat(20)}${']'.repeat(20)}`;

describe('a key', () => {
  test('gets minted with its settings, shown once, and found by its secret', async () => {
    const settings = {
      name: 'web',
      expires_at: '2030-01-31T12:00:00.000Z',
      scopes: ['listen', 'tokens'],
      models: ['deepgram/*'],
      origins: ['https://app.example.com'],
      requests_per_minute_max: 60,
      sessions_max: 5,
      tokens_per_minute_max: 30,
      daily_spend_usd_max: '12.50',
      aliases: { 'nova-3': [{ model: 'deepgram/nova-3', provider_params: { punctuate: true } }, { model: 'a/b' }] },
      tags: { customer: 'acme' },
    };
    const { key, secret } = await mint(ada, settings);
    expect(key).toMatchObject({ ...settings, status: 'active', revoked_at: null, last_used_at: null });
    expect(secret).toMatch(/^sk_vox_[0-9A-Za-z]{38}$/);
    const found = (await keysOf(ada)).find(({ id }) => id === key.id);
    expect(found).toEqual(key);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  test('can be changed, rolled with a grace period, and revoked', async () => {
    const { key } = await mint(ada, { name: 'server' });
    const changed = await ada.call('PATCH', `keys/${key.id}`, {
      name: 'renamed',
      daily_spend_usd_max: null,
      aliases: {},
    });
    expect(members<{ key: Key }>(changed).key).toMatchObject({
      id: key.id,
      name: 'renamed',
      aliases: null,
      scopes: expect.any(Array),
    });
    const rolled = members<{ key: Key; old: Key; secret: string }>(
      await ada.call('POST', `keys/${key.id}/roll`, { grace_seconds: 60 }),
    );
    expect(rolled).toMatchObject({ key: { status: 'active', name: 'renamed' }, old: { id: key.id, status: 'rolled' } });
    rig.pass(60_000);
    expect((await keysOf(ada)).find(({ id }) => id === key.id)?.status).toBe('revoked');
    expect((await ada.call('POST', `keys/${key.id}/roll`)).status).toBe(400);
    expect((await ada.call('POST', 'keys/key_of_nobody/roll')).status).toBe(404);
    const revoked = await ada.call('DELETE', `keys/${rolled.key.id}`);
    expect(members<{ key: Key }>(revoked).key.status).toBe('revoked');
  });

  test.each([
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'in the future'],
    [{ models: ['no slug'] }, 'deepgram'],
    [
      { models: ['deepgram/*', 'local/comands-en'] },
      'There is no model local/comands-en. The nearest is local/commands-en.',
    ],
    [{ models: ['deepgrm/*'] }, 'There is no model deepgrm/*. The nearest is deepgram/*.'],
    [{ origins: ['https://app.example.com/path'] }, 'origin'],
    [{ aliases: { 'a/b': [{ model: 'deepgram/nova-3' }] } }, 'always means that model'],
    [{ aliases: { best: [{ model: 'nova-3' }] } }, 'a model is a slug'],
    [{ aliases: { best: ['deepgram/nova-3'] } }, 'an object of `model`'],
    [{ aliases: { best: [{ model: 'a/b', provider_params: { deep: JSON.parse(DEEP) } }] } }, 'levels deep'],
    [{ aliases: 'best' }, 'an object of names'],
    [{ tags: 'customer:acme' }, 'an object of strings'],
    [{ tags: { Customer: 'acme' } }, 'the key \\"Customer\\"'],
    [{ tags: { customer: JSON.parse(DEEP) } }, 'a string of 1 to 100'],
    [{ aliases: { best: [{ model: 'a/b' }, { model: 'local/nope' }] } }, 'The nearest is local/commands-en.'],
  ])('fails with meaningless settings: %j', async (body, why) => {
    const before = await keysOf(ada);
    const answer = await ada.call('POST', 'keys', body);
    expect([answer.status, answer.code, answer.text.includes(why)]).toEqual([400, 'invalid_request', true]);
    expect(await keysOf(ada)).toEqual(before);
  });

  test('keeps a model that is no longer listed when another setting is changed, and takes no other unknown one', async () => {
    const { key } = await mint(ada, { name: 'older' });
    const { organisation } = members<{ organisation: { id: string } }>(await ada.get('/console/api/me'));
    await rig.store.changeKey(organisation.id, key.id, { models: ['a/gone'] }, OPERATOR);
    const change = async (models: string[]) =>
      (await ada.call('PATCH', `keys/${key.id}`, { name: 'old', models })).status;
    expect([await change(['a/gone', 'a/b']), await change(['a/gone', 'a/never'])]).toEqual([200, 400]);
  });

  test('keeps its aliases when a new one names an unknown model, and reports the field', async () => {
    const { key } = await mint(ada, { name: 'aliased', aliases: { best: [{ model: 'a/b' }] } });
    const answer = await ada.call('PATCH', `keys/${key.id}`, { aliases: { best: [{ model: 'deepgram/nova3' }] } });
    expect([answer.status, members<{ error: object }>(answer).error]).toMatchObject([400, { param: 'aliases' }]);
    expect(answer.text).toContain('The nearest is deepgram/nova-3.');
    expect((await keysOf(ada)).find(({ id }) => id === key.id)).toMatchObject({
      aliases: { best: [{ model: 'a/b' }] },
    });
  });

  test('past the hundredth in use is not minted', async () => {
    const many = await openAccount(rig, 'many@example.com');
    const { organisation } = members<{ organisation: { id: string } }>(await many.get('/console/api/me'));
    for (let count = 0; count < 100; count++) rig.ledger.createKey(organisation.id, {}, OPERATOR);
    expect((await many.call('POST', 'keys')).status).toBe(400);
    const [first] = await keysOf(many);
    await many.call('DELETE', `keys/${first!.id}`);
    expect((await many.call('POST', 'keys')).status).toBe(201);
  });
});

describe('another’s data', () => {
  test('looks nonexistent: keys, sessions, console sessions', async () => {
    const { key } = await mint(ada);
    const { organisation } = members<{ organisation: { id: string } }>(await ada.get('/console/api/me'));
    const owner = { organisationId: organisation.id, keyId: key.id };
    rig.ledger.openSession(headOf(owner, 'ses_ada'), { wantedMicroUsd: 0n, leastMicroUsd: 0n, leaseMs: 1000 });
    const [own] = members<{ data: { id: string }[] }>(await ada.get('/console/api/console-sessions')).data;
    const attempts = [
      await bob.call('PATCH', `keys/${key.id}`, { name: 'mine' }),
      await bob.call('POST', `keys/${key.id}/roll`),
      await bob.call('DELETE', `keys/${key.id}`),
      await bob.get('/console/api/sessions/ses_ada'),
      await bob.call('DELETE', `console-sessions/${own!.id}`),
    ];
    expect(attempts.map(({ status, code }) => [status, code])).toEqual(attempts.map(() => [404, 'not_found']));
    expect((await keysOf(ada)).find(({ id }) => id === key.id)).toEqual(key);
    expect((await ada.get('/console/api/sessions/ses_ada')).status).toBe(200);
  });

  test('appears in no list', async () => {
    await mint(ada, { name: 'only of ada' });
    const lists = ['keys', 'sessions', 'audit', 'usage', 'console-sessions', 'balance', 'me'];
    const seen = await Promise.all(lists.map((path) => bob.get(`/console/api/${path}`)));
    expect(seen.map(({ status }) => status)).toEqual(lists.map(() => 200));
    const { id, organisation } = members<{ id: string; organisation: { id: string } }>(
      await ada.get('/console/api/me'),
    );
    for (const { text } of seen) {
      for (const foreign of [id, organisation.id, 'only of ada', 'ses_ada', 'ada@example.com']) {
        expect(text).not.toContain(foreign);
      }
    }
  });

  test.each([
    ['GET', 'me'],
    ['GET', 'keys'],
    ['POST', 'keys'],
    ['PATCH', 'keys/key_x'],
    ['DELETE', 'keys/key_x'],
    ['POST', 'keys/key_x/roll'],
    ['GET', 'balance'],
    ['GET', 'usage'],
    ['GET', 'sessions'],
    ['GET', 'sessions/ses_x'],
    ['GET', 'bills/2026-01'],
    ['GET', 'audit'],
    ['GET', 'console-sessions'],
    ['DELETE', 'console-sessions/con_x'],
    ['POST', 'logout'],
    ['POST', 'confirm'],
    ['POST', 'password'],
    ['POST', 'email'],
    ['POST', 'verification'],
  ])('needs a login at %s %s', async (method, path) => {
    const browser = rig.browser();
    const answer = method === 'GET' ? await browser.get(`/console/api/${path}`) : await browser.call(method, path);
    expect([answer.status, answer.code]).toEqual([401, 'login_required']);
  });
});

describe('the records', () => {
  test('show sessions and usage with money as decimal strings', async () => {
    const browser = await openAccount(rig, 'user@example.com');
    const { key } = await mint(browser);
    const { organisation } = members<{ organisation: { id: string } }>(await browser.get('/console/api/me'));
    const owner = { organisationId: organisation.id, keyId: key.id };
    for (const id of ['ses_1', 'ses_2', 'ses_3']) {
      const endedAt = new Date(rig.clock.nowMs).toISOString();
      const head = headOf(owner, id, { openedAt: endedAt });
      rig.ledger.settleSession(head, {
        endedAt,
        reason: 'client_closed',
        code: null,
        audioMs: 90_000,
        lines: [lineOf(90_000)],
      });
      rig.pass(1000);
    }
    expect((await browser.get('/console/api/sessions/ses_1')).json()).toMatchObject({
      id: 'ses_1',
      key_id: key.id,
      reason: 'client_closed',
      audio_seconds: 90,
      cost_usd: '0.09',
      held_usd: '0.00',
      usage: [{ model: 'loopback/script', byok: false, seconds: 90, cost_usd: '0.09' }],
    });
    const idsOf = async (query: string) => {
      const page = await browser.get(`/console/api/sessions${query}`);
      const { data, has_more } = members<{ data: { id: string }[]; has_more: boolean }>(page);
      return [data.map(({ id }) => id), has_more];
    };
    expect(await idsOf('')).toEqual([['ses_3', 'ses_2', 'ses_1'], false]);
    expect(await idsOf('?limit=2')).toEqual([['ses_3', 'ses_2'], true]);
    expect(await idsOf('?limit=2&before=ses_2')).toEqual([['ses_1'], false]);
    expect((await browser.get('/console/api/usage?group_by=model')).json()).toMatchObject({
      group_by: 'model',
      data: [{ group: 'loopback/script', byok: false, sessions: 3, audio_seconds: 270, cost_usd: '0.27' }],
    });
    expect((await browser.get('/console/api/balance')).json()).toMatchObject({ balance_usd: '1.73' });
    const month = new Date(rig.clock.nowMs).toISOString().slice(0, 7);
    expect((await browser.get(`/console/api/bills/${month}`)).json()).toMatchObject({
      month,
      total_usd: '0.27',
      closing_balance_usd: '1.73',
    });
    expect((await browser.get(`/console/api/bills/${month}?format=csv`)).text).toContain('usage');
  });

  test('show the audit log newest first, page by page', async () => {
    const pageOf = async (query: string) =>
      members<{ data: { number: number; action: string }[]; has_more: boolean }>(
        await bob.get(`/console/api/audit${query}`),
      );
    const all = await pageOf('');
    expect(all.data.map(({ action }) => action).slice(-3)).toEqual([
      'email.verified',
      'sign-up',
      'organisation.created',
    ]);
    const first = await pageOf('?limit=2');
    const second = await pageOf(`?limit=2&before=${first.data.at(-1)!.number}`);
    expect([...first.data, ...second.data]).toEqual(all.data.slice(0, 4));
    expect([first.has_more, (await pageOf(`?before=${all.data.at(-1)!.number}`)).data]).toEqual([true, []]);
  });

  test.each([
    ['usage?group_by=person', 'group_by'],
    ['usage?from=yesterday', 'from'],
    ['usage?to=2026-13-01', 'to'],
    ['usage?organisation_id=org_x', 'organisation_id'],
    ['sessions?limit=0', 'limit'],
    ['sessions?limit=201', 'limit'],
    ['sessions?limit=1e2', 'limit'],
    ['audit?before=x', 'before'],
    ['audit?limit=-1', 'limit'],
    ['audit?organisation_id=org_x', 'organisation_id'],
  ])('refuse %s', async (path, param) => {
    const answer = await bob.get(`/console/api/${path}`);
    expect([answer.status, answer.code, answer.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('balance and bills', () => {
  const month = new Date(0).toISOString().slice(0, 7);
  test('require a recent password, and appear again after it was confirmed', async () => {
    const browser = await openAccount(rig, 'credit@example.com');
    const asked = () =>
      Promise.all(['balance', `bills/${month}?format=html`].map((path) => browser.get(`/console/api/${path}`)));
    expect((await asked()).map(({ status }) => status)).toEqual([200, 200]);
    rig.pass(10 * 60_000);
    expect((await asked()).map(({ code }) => code)).toEqual(['password_required', 'password_required']);
    expect((await browser.get('/console/api/usage')).status).toBe(200);
    await browser.call('POST', 'confirm', { password: PASSWORD });
    expect((await asked()).map(({ status }) => status)).toEqual([200, 200]);
  });
});

test('causes no error in the gateway', () => {
  expect(rig.faults).toEqual([]);
});
