// Sessions on an organisation's own key: the secret is asked for at the dial and stays in the connection; when it cannot be
// had, or is refused, the session goes to what was listed, or ends by telling so.
import { describe, expect, it, vi } from 'vitest';
import { keyRingOf } from '../../../../src/accounts/vault/key-ring.ts';
import { createVault } from '../../../../src/accounts/vault/vault.ts';
import { awsForm } from '../../../../src/vendors/kit/credentials.ts';
import type { LiveCodec, Provider, ProviderAccess } from '../../../../src/vendors/kit/provider.ts';
import { SessionRig, settle } from '../../../fakes/session-rig.ts';
import { openVaultStore } from '../../../fakes/store/vault-store.ts';
import { Puppet, puppetProvider } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, speech, untilEnded } from '../support.ts';

const SECRET = 'canary-secret-access-key-4711';
const FIELDS = { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: SECRET, region: 'eu-west-1' };
const by = { type: 'person', id: 'per_1' } as const;

const refusedWith = (words: string) =>
  [{ type: 'failed', failure: { kind: 'account', reason: 'connect_failed', code: 'denied', message: words } }] as const;

/** A provider whose credential is a triple, and that shows its engine what it was given. */
function tripleProvider(name: string, codec: Partial<LiveCodec> = {}): Provider {
  const open: LiveCodec['open'] = ({ model, access }) => ({
    state: {},
    endpoint: { kind: 'embedded', engine: name, query: { model, access } },
    hello: [],
  });
  const puppet = puppetProvider({ codec: { open, ...codec } });
  return {
    ...puppet,
    name,
    title: name.toUpperCase(),
    models: puppet.models.map((card) => ({ ...card, id: card.id.replace('puppet', name) })),
    credential: 'required',
    credentialForm: awsForm,
  };
}

class SeeingPuppet extends Puppet {
  readonly seen: ProviderAccess[] = [];

  override connect(...args: Parameters<Puppet['connect']>) {
    this.seen.push(args[0].access as ProviderAccess);
    return super.connect(...args);
  }
}

async function world({ codec, slow = false }: { codec?: Partial<LiveCodec>; slow?: boolean } = {}) {
  const { store, tables } = openVaultStore();
  tables.listProviderKeys('org_a');
  const providers = [tripleProvider('one', codec), tripleProvider('two')];
  const engines = { one: new SeeingPuppet(), two: new SeeingPuppet() };
  const held: (() => void)[] = [];
  const vault = createVault({
    store,
    keyRing: keyRingOf(Buffer.alloc(32, 1)),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    addressOf: () => ({ baseUrl: undefined }),
    check: async () => 'accepted',
    clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} },
    wallNow: () => 0,
    onFault: () => {},
  });
  const { key } = await vault.save('org_a', { provider: 'one', name: 'Ours', fields: FIELDS }, by);
  const service: ProviderAccess = { baseUrl: undefined, credential: 'canary-service' };
  const rig = new SessionRig({
    providers,
    engines: () => engines,
    access: () => ({ baseUrl: undefined, credential: 'canary-service' }),
    // The rig's organisation has the keys of this one.
    ownKeyOf: (_, provider) => vault.ownKeyOf('org_a', provider),
    dialAccess: (provider, credentialId) => {
      if (credentialId === 'service') return service;
      const opened = vault.open(provider, credentialId, 'org_a');
      return slow ? opened.then((access) => new Promise((resolve) => held.push(() => resolve(access)))) : opened;
    },
    breakers: { onOwnKey: vault.noteUse },
  });
  const said: string[] = [];
  for (const method of ['send', 'request', 'publish'] as const) {
    const call = rig.bus[method].bind(rig.bus) as (...args: unknown[]) => unknown;
    vi.spyOn(rig.bus, method).mockImplementation(((...args: unknown[]) => {
      said.push(JSON.stringify(args));
      return call(...args);
    }) as never);
  }
  return { rig, engines, vault, store, key, said, held };
}

const request = (fallbacks: string[] = []) => ({ model: 'one/a', fallbacks: fallbacks.map((model) => ({ model })) });

describe('a session on an own key', () => {
  it('shows its provider all members of it, and nothing of it to the bus, the client or the log', async () => {
    const { rig, engines, said } = await world();
    const client = await rig.open(request());
    await settle();
    expect(engines.one.seen).toEqual([
      { baseUrl: undefined, credential: undefined, fields: FIELDS, secrets: [SECRET] },
    ]);
    client.session.audio(speech(1));
    await rig.advance(1_500);
    await engines.one.last.say(...refusedWith(`The key ${SECRET}, or ${encodeURIComponent(SECRET)}, may not do this.`));
    await untilEnded(rig, client);
    expectInOrder(client);
    expect(said.length).toBeGreaterThan(5);
    expect(said.some((text) => text.includes('"credentialId":"pk_'))).toBe(true);
    const everything = [...said, JSON.stringify(client.events), ...rig.faults.map(({ error }) => String(error))];
    expect(everything.filter((text) => text.includes('canary'))).toEqual([]);
    expect(JSON.stringify(client.events)).toContain('[redacted]');
    await expectNothingLeft(rig);
  });

  it('ends with 4103 and the provider’s name when the key is refused, with no other call', async () => {
    const { rig, engines, vault } = await world();
    engines.one.ready = false;
    const client = await rig.open(request());
    await settle();
    await engines.one.last.say(...refusedWith('Denied.'));
    await untilEnded(rig, client);
    expect([client.closeCode, client.summary?.code]).toEqual([4103, 'upstream_account']);
    expect(client.of('error')[0]?.error).toMatchObject({ code: 'upstream_account', details: [{ model: 'one/a' }] });
    expect(client.of('error')[0]?.error.message).toMatch(/^Your own key for ONE cannot be used\. Denied\./);
    expect([engines.one.seen.length, engines.two.seen.length]).toEqual([1, 0]);
    await settle();
    expect((await vault.list('org_a'))[0]?.state).toBe('failing');
    await expectNothingLeft(rig);
  });

  it('moves to the listed fallback when the key is refused; if that fails, blames the key', async () => {
    const { rig, engines } = await world();
    engines.one.ready = false;
    engines.two.ready = false;
    const client = await rig.open(request(['two/a']));
    await settle();
    await engines.one.last.say(...refusedWith('Denied.'));
    await rig.advance(100);
    expect(engines.two.seen).toEqual([{ baseUrl: undefined, credential: 'canary-service' }]);
    for (let time = 0; time < 8 && client.summary === undefined; time++) {
      if (!engines.two.last.over) await engines.two.last.hangUp(1011);
      await rig.advance(3_000);
    }
    expect([client.closeCode, client.summary?.code, engines.one.seen.length]).toEqual([4103, 'upstream_account', 1]);
    await expectNothingLeft(rig);
  });

  it('blames the fallback for later failures once the fallback has connected', async () => {
    const { rig, engines } = await world();
    engines.one.ready = false;
    const client = await rig.open(request(['two/a']));
    await settle();
    await engines.one.last.say(...refusedWith('Denied.'));
    await rig.advance(100);
    client.session.audio(speech(1));
    await rig.advance(1_500);
    const utterance = { text: 'word', start: 0, end: 0.5 };
    await engines.two.last.say({ type: 'turn.ended', turnId: '1', utterance, formattedFollows: false });
    engines.two.open = false;
    await engines.two.last.hangUp(1011);
    await untilEnded(rig, client, 120);
    expect([client.closeCode, client.summary?.code]).toEqual([4101, 'upstream_exhausted']);
  });

  it('ends as before, with the codes of before, when the service’s key is refused', async () => {
    const { rig, engines, vault, key } = await world();
    await vault.remove('org_a', key.id, by);
    engines.one.ready = false;
    const client = await rig.open(request());
    await settle();
    await engines.one.last.say(...refusedWith('Denied.'));
    await untilEnded(rig, client);
    expect([engines.one.seen, client.closeCode]).toEqual([
      [{ baseUrl: undefined, credential: 'canary-service' }],
      4101,
    ]);
  });
});

describe('a key that cannot be opened', () => {
  it('ends the session with 4103, no connection is made, and the key is not counted as refused', async () => {
    const { rig, engines, vault, key } = await world();
    await vault.ownKeyOf('org_a', 'one');
    const client = rig.open(request());
    await vault.remove('org_a', key.id, by);
    await untilEnded(rig, await client);
    expect([(await client).closeCode, engines.one.seen.length]).toEqual([4103, 0]);
    expect(rig.breakers.isOpen({ slug: 'one/a', credentialId: key.id })).toBe(false);
    await expectNothingLeft(rig);
  });

  it('goes to the fallback that was listed', async () => {
    const { rig, engines, store, key } = await world();
    for (let time = 0; time < 3; time++) await store.noteProviderKeyUse(key.id, 'refused');
    const client = await rig.open(request(['two/a']));
    await rig.advance(500);
    expect(client.of('failover')).toMatchObject([{ from: 'one/a', to: 'two/a', reason: 'connect_failed' }]);
    expect([engines.one.seen.length, engines.two.seen.length]).toEqual([0, 1]);
  });
});

describe('a key that is being opened', () => {
  it('never dials for a session that has ended', async () => {
    const { rig, engines, held } = await world({ slow: true });
    const client = await rig.open(request());
    await settle();
    expect(held).toHaveLength(1);
    client.session.abort('message_too_big', 'Too big.');
    await settle();
    for (const open of held) open();
    await untilEnded(rig, client);
    expect(engines.one.seen).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('runs the connect timeout: a slow vault counts as a slow provider', async () => {
    const { rig, engines, held } = await world({ slow: true });
    const client = await rig.open(request());
    await untilEnded(rig, client, 120);
    expect(client.closeCode).toBe(4101);
    for (const open of held) open();
    await settle();
    expect(engines.one.seen).toEqual([]);
    await expectNothingLeft(rig);
  });
});

it('reads the service’s key in the tick of the dial', async () => {
  const { rig, engines } = await world();
  const leg = rig.upstream.open(
    'leg.1',
    {
      type: 'leg.open',
      session: '',
      sessionId: 'ses_1',
      generation: 1,
      slug: 'two/a',
      sampleRate: 16_000,
      language: null,
      interimResults: true,
      diarization: false,
      params: {},
      credentialId: 'service',
      organisationId: 'org_a',
    },
    () => {},
  );
  expect(engines.two.seen).toHaveLength(1);
  leg.dispose();
});
