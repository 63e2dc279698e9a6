// Sockets that hear a call, and what they are refused; and calls whose session is not opened.
import { beforeAll, describe, expect, test } from 'vitest';
import { LiveClient, type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { CALL, callBy, spoken, twilioCall } from './phone.ts';
import { startReceiver } from './receiver.ts';

const MODEL = 'local/commands-en';

let gateway: LiveGateway;
let origin: string;
let other: string;
beforeAll(async () => {
  gateway = await startLiveGateway({ VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  origin = gateway.url.replace('http', 'ws');
  const { openSqliteStore } = await import('../../../src/node/store/sqlite-store.ts');
  const store = await openSqliteStore({ directory: gateway.directory });
  const by = { type: 'operator', id: 'test' } as const;
  const { id } = await store.createOrganisation('Another', null, by);
  other = (await store.createKey(id, {}, by)).secret;
  store.close();
});

const watch = (name: string, { key = gateway.key, query = '' } = {}) =>
  new LiveClient(`${origin}/v1/sessions/${name}/events${query}`, [], { headers: { Authorization: `Bearer ${key}` } });

const codeOf = async (client: LiveClient) => JSON.parse((await client.refused()).body).error.code as string;

/** A call that goes on until it is hung up. */
async function callOn(parameters: Record<string, string> = {}) {
  const messages = [
    ...twilioCall({ inbound: spoken('lines/telephone.wav') }, { api_key: gateway.key, model: MODEL, ...parameters }),
  ];
  return callBy(`${origin}/compat/twilio/media`, messages.slice(0, -1));
}

/** The same, when its session has begun. */
async function begun(label: string) {
  const receiver = await startReceiver();
  const call = await callOn({ label, events_url: receiver.url });
  await receiver.when(() => receiver.events.length > 0);
  return call;
}

describe('sockets that hear a call', () => {
  test('receive interims and finals while it lasts, numbered, and its end', async () => {
    const { socket } = await begun('live');
    const [one, two] = [watch('live'), watch(CALL)];
    await one.event('transcript', ({ is_final }) => !is_final);
    socket.close();
    expect(await one.close()).toEqual({ code: 1000, reason: '' });
    expect(await two.close()).toEqual({ code: 1000, reason: '' });
    expect(one.finals.map(({ text }) => text).filter(Boolean)).toEqual(['take me home']);
    expect(one.events).toEqual(two.events);
    expect(one.events.at(-1)?.type).toBe('session_ended');
  });

  test('follow the call that has the name, also when another call uses it', async () => {
    const { socket } = await begun('twice');
    const other = await begun('twice');
    other.socket.close();
    await other.closed;
    const watcher = watch('twice');
    await watcher.event('session_started');
    socket.close();
    await watcher.close();
    expect(watcher.events.at(-1)?.type).toBe('session_ended');
  });

  test('fail where nothing belongs to them', async () => {
    const { socket } = await begun('mine');
    expect(await codeOf(watch('nobody'))).toBe('not_found');
    expect(await codeOf(watch('mine', { key: other }))).toBe('not_found');
    expect(await codeOf(watch('mine', { key: 'sk_vox_wrong' }))).toBe('invalid_api_key');
    expect(await codeOf(watch('mine', { query: '?last_seq=9999' }))).toBe('invalid_request');
    expect(await codeOf(watch('mine', { query: '?last_seq=-1' }))).toBe('invalid_request');
    expect(await codeOf(watch('%E0%A4%A'))).toBe('not_found');
    const minted = await gateway.request('/v1/tokens', { method: 'POST' });
    const { token } = (await minted.json()) as { token: string };
    expect(await codeOf(watch('mine', { key: token }))).toBe('token_not_allowed');
    socket.close();
  });

  test('may say nothing', async () => {
    const { socket } = await begun('said');
    const client = watch('said');
    await client.opened();
    client.send({ type: 'close' });
    expect((await client.close()).reason).toBe('invalid_request');
    socket.close();
  });

  test('stop at sixteen for one call', async () => {
    const { socket } = await begun('popular');
    for (let count = 0; count < 16; count++) await watch('popular').opened();
    expect(await codeOf(watch('popular'))).toBe('rate_limit_exceeded');
    socket.close();
  });
});

describe('a call whose session is not opened', () => {
  test.each<[string, Record<string, string>, string, string | null]>([
    ['names no model', { model: '' }, 'invalid_request', 'model'],
    ['names an unknown one', { model: 'local/nobody' }, 'model_not_found', 'model'],
    ['sets an unknown parameter', { customer: '7' }, 'invalid_request', 'customer'],
    ['asks for a label with a space', { label: 'a b' }, 'invalid_request', 'label'],
    ['says how its audio is', { sample_rate: '8000' }, 'invalid_request', 'sample_rate'],
  ])('reports the reason to its webhook when it %s', async (_, parameters, code, param) => {
    const receiver = await startReceiver();
    const { closed, heard: said } = await callOn({ events_url: receiver.url, ...parameters });
    expect((await closed).reason).toBe(code);
    expect(said).toEqual([]);
    await receiver.when(() => receiver.events.length > 0);
    expect(receiver.events).toMatchObject([{ type: 'error', error: { code, param } }]);
    expect(receiver.posted[0]?.said).toMatchObject({ session_id: null, call: { carrier: 'twilio' } });
  });

  test('reports nothing without a valid key', async () => {
    const receiver = await startReceiver();
    const { closed } = await callOn({ events_url: receiver.url, api_key: 'sk_vox_wrong' });
    expect((await closed).reason).toBe('invalid_api_key');
    expect(receiver.posted).toEqual([]);
  });
});
