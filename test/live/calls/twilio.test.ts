// A call of Twilio through a whole gateway, heard by the embedded recogniser: finals of each track, told to a webhook and to sockets.
import { Webhook } from 'standardwebhooks';
import { beforeAll, expect, test } from 'vitest';
import { LiveClient, type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { CALL, callBy, STREAM, spoken, twilioCall } from './phone.ts';
import { startReceiver } from './receiver.ts';

const MODEL = 'local/commands-en';
const SECRET = `whsec_${Buffer.from('a secret of 24 bytes or so').toString('base64')}`;

let gateway: LiveGateway;
let endpoint: string;
beforeAll(async () => {
  gateway = await startLiveGateway({ VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  endpoint = `${gateway.url.replace('http', 'ws')}/compat/twilio/media`;
});

const watch = (name: string, query = '') =>
  new LiveClient(`${gateway.url.replace('http', 'ws')}/v1/sessions/${name}/events${query}`, [], {
    headers: { Authorization: `Bearer ${gateway.key}` },
  });

const finalsOf = (events: readonly Record<string, unknown>[]) =>
  events
    .filter(({ type, is_final, text }) => type === 'transcript' && is_final && text !== '')
    .map(({ channel, text }) => `${channel}: ${text}`)
    .sort();

const BOTH = ['0: take me home', '1: three hundred and sixty five'];

test('gives the finals of two tracks of a recorded call, by webhook and by socket', async () => {
  const receiver = await startReceiver();
  const tracks = { inbound: spoken('lines/telephone.wav'), outbound: spoken('number.wav') };
  const parameters = { api_key: gateway.key, model: MODEL, events_url: receiver.url, events_secret: SECRET };
  const { closed, heard } = await callBy(endpoint, twilioCall(tracks, { ...parameters, label: 'support-1' }));
  await receiver.when(() => receiver.events.some(({ type }) => type === 'session_ended'));

  expect(await closed).toMatchObject({ code: 1000 });
  expect(heard).toEqual([]);
  expect(finalsOf(receiver.events)).toEqual(BOTH);
  expect(receiver.events[0]).toMatchObject({ type: 'session_started' });
  expect(receiver.events.some(({ is_final }) => is_final === false)).toBe(false);
  const { session_id } = receiver.events[0] as { session_id: string };
  for (const { headers, body, said } of receiver.posted) {
    expect(said).toMatchObject({
      session_id,
      call: { carrier: 'twilio', names: [CALL, STREAM, 'support-1'] },
      dropped: 0,
    });
    expect(() => new Webhook(SECRET).verify(body, headers)).not.toThrow();
  }

  // Whoever comes late is told everything, under any of its names.
  for (const name of [session_id, CALL, STREAM, 'support-1']) {
    const late = watch(name);
    expect((await late.close()).code).toBe(1000);
    expect(late.events.map(({ seq }) => seq)).toEqual(late.events.map((_, at) => at + 1));
    expect(finalsOf(late.events as unknown as Record<string, unknown>[])).toEqual(BOTH);
  }
  const behind = watch(CALL, '?last_seq=3');
  await behind.close();
  expect(behind.events[0]?.seq).toBe(4);

  const record = (await (await gateway.request(`/v1/sessions/${session_id}`)).json()) as { reason: string };
  expect(record.reason).toBe('client_closed');
});

test('transcribes a call that is hung up without `stop` to its last final', async () => {
  const receiver = await startReceiver();
  const parameters = { api_key: gateway.key, model: MODEL, events_url: receiver.url };
  const messages = [...twilioCall({ inbound: spoken('lines/telephone.wav') }, parameters)].slice(0, -1);
  const { socket } = await callBy(endpoint, messages);
  await receiver.when(() => receiver.events.length > 0);
  socket.close();
  await receiver.when(() => receiver.events.some(({ type }) => type === 'session_ended'));
  expect(finalsOf(receiver.events)).toEqual(['undefined: take me home']);
});
