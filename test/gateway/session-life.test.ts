// How live sessions begin, go on and end on real sockets: frames of all kinds, limits, revocation, drain.
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { voxgate } from '../fakes/processes/voxgate.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_BINARY_FRAME_BYTES_MAX: '4194304' });
});

const numbered = { model: 'loopback/numbered', provider_params: '{"turn_seconds":0.5}' };

describe('frames', () => {
  it.each([
    ['one byte each', 4_000, () => 1],
    ['odd lengths', 200_000, (n: number) => 1 + ((n * 7_919) % 4_999)],
    ['1 MiB each', 3_000_000, () => 1_048_576],
  ])('lose, repeat or shift no sample at %s', async (_, bytesTotal, size) => {
    const client = live.connect(numbered);
    await client.event('session_started');
    const bytes = numberedAudio(0, bytesTotal / 2);
    for (let at = 0, n = 0; at < bytes.length; n++) {
      client.send(bytes.subarray(at, at + size(n)));
      at += size(n);
    }
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expectWhole(client.finals, bytesTotal / 2);
    expect(client.events.map((event) => event.seq)).toEqual(client.events.map((__, index) => index + 1));
  });

  it('end the session in order when a lone byte is left, and report it', async () => {
    const client = live.connect(numbered);
    await client.event('session_started');
    client.send(new Uint8Array(32_001));
    client.send({ type: 'close' });
    await client.close();
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', audio_seconds: 1, dropped_bytes: 1 });
  });

  it('beyond the size limit get an error that names the limit', async () => {
    for (const frame of [new Uint8Array(4_194_305), { type: 'x'.repeat(70_000) }]) {
      const client = live.connect(numbered);
      await client.event('session_started');
      client.send(frame);
      expect((await client.event('error')).error).toMatchObject({ code: 'message_too_big' });
      expect((await client.close()).code).toBe(1009);
      expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'error' });
    }
  });

  it.each([
    ['RIFF\u0024\u0000\u0000\u0000WAVEfmt ', 'WAV'],
    ['OggS\u0000\u0002xxxxxxxx', 'Ogg'],
    ['fLaC\u0000\u0000\u0000\u0022xxxx', 'FLAC'],
  ])('cause an error that names the format when they begin like a file: %j', async (beginning, name) => {
    const client = live.connect(numbered);
    await client.event('session_started');
    client.send(Buffer.from(beginning, 'latin1'));
    const { error } = await client.event('error');
    expect([error.code, error.message.includes(name)]).toEqual(['unsupported_audio', true]);
    expect((await client.close()).code).toBe(4006);
  });
});

describe('text frames', () => {
  it('get an error each when they are not valid messages, and the session continues', async () => {
    const client = live.connect(numbered);
    await client.event('session_started');
    for (const text of [
      'hello',
      '[]',
      'null',
      '7',
      '{"type":"stop"}',
      '{"type":"close","now":true}',
      '{"__proto__":{"type":"close"}}',
    ])
      client.socket.send(text);
    await client.event('error', ({ seq }) => seq === 8);
    expect(client.of('error').map(({ error }) => error.code)).toEqual(Array(7).fill('invalid_request'));
    client.send(numberedAudio(0, 16_000));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expectWhole(client.finals, 16_000);
  });

  it('close twice does no harm, and audio after it is refused once', async () => {
    const client = live.connect({ ...numbered, provider_params: '{"turn_seconds":9,"final_delay_ms":50}' });
    await client.event('session_started');
    client.send(numberedAudio(0, 16_000));
    client.send({ type: 'close' });
    client.send({ type: 'close' });
    client.send(numberedAudio(0, 100));
    client.send(numberedAudio(0, 100));
    expect((await client.close()).code).toBe(1000);
    expect(client.of('error').map(({ error }) => error.code)).toEqual(['invalid_request']);
    expectWhole(client.finals, 16_000);
  });

  it('finalize ends the turn now', async () => {
    const client = live.connect({ ...numbered, provider_params: '{"turn_seconds":60}' });
    await client.event('session_started');
    client.send(numberedAudio(0, 10_000));
    client.send({ type: 'finalize' });
    const final = await client.event('transcript', (event) => event.is_final);
    expect(final).toMatchObject({ turn: 0, text: '0-10000' });
    client.send({ type: 'close' });
    await client.close();
  });
});

describe('a session ends', () => {
  it('closes with 4008 when neither audio nor a keepalive arrives', async () => {
    // A gateway of its own: with so short a limit, a client that a busy machine holds up counts as silent.
    const client = (await startLiveGateway({ VOXGATE_SESSION_IDLE_MS: '300' })).connect(numbered);
    expect((await client.event('error')).error.code).toBe('session_idle');
    expect((await client.close()).code).toBe(4008);
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'idle' });
  });

  it('ends in order after its client vanished, and leaves nothing', async () => {
    for (const leave of ['close', 'terminate'] as const) {
      const client = live.connect({ ...numbered, provider_params: '{"turn_seconds":60}' });
      await client.event('session_started');
      client.send(numberedAudio(0, 16_000));
      await client.event('transcript');
      client.socket[leave]();
      await client.close();
    }
    await fetchUntil(`${live.url}/metrics`, (text) => /voxgate_queue_depth\{queue="upstream_legs"[^}]*\} 0/.test(text));
    expect(live.gateway.sessions).toBe(0);
  });

  it('ends with its key, also when another process revokes the key', async () => {
    const own = await startLiveGateway();
    const env = { VOXGATE_DATA_DIRECTORY: own.directory };
    const [{ id }] = JSON.parse((await voxgate(['keys', 'list', '--json'], env)).output) as [{ id: string }];
    const { token } = (await (await own.request('/v1/tokens', { method: 'POST' })).json()) as { token: string };
    const client = own.connect(numbered);
    await client.event('session_started');
    expect((await voxgate(['keys', 'revoke', id], env)).code).toBe(0);
    expect((await client.event('error')).error.code).toBe('key_revoked');
    expect((await client.close()).code).toBe(4001);
    expect((await own.request('/v1/models')).status).toBe(401);
    const late = own.connect(numbered, { authorize: false, protocols: ['bearer', token] });
    expect((await late.event('error')).error.code).toBe('key_revoked');
    expect((await late.close()).code).toBe(4001);
  });

  it('delivers every final and closes with 4200 when its node drains', async () => {
    const own = await startLiveGateway();
    const client = own.connect({ ...numbered, provider_params: '{"turn_seconds":2}' });
    await client.event('session_started');
    client.send(numberedAudio(0, 16_000));
    await client.event('transcript');
    own.gateway.drain();
    expect((await client.event('warning')).code).toBe('node_draining');
    expect((await fetch(`${own.url}/readyz`)).status).toBe(503);
    const { status, body } = await own.connect(numbered).refused();
    expect([status, JSON.parse(body).error.code]).toEqual([503, 'node_draining']);
    client.send(numberedAudio(16_000, 40_000));
    expect((await client.close()).code).toBe(4200);
    expectWhole(client.finals, 40_000);
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'draining' });
    expect(await own.gateway.ended).toBeNull();
    const refused = connect(own.gateway.port, '127.0.0.1');
    expect((await once(refused, 'error'))[0]).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

it('opens as many sessions as the key’s limit, and refuses the next', async () => {
  const own = await startLiveGateway({ VOXGATE_SESSIONS_PER_KEY_MAX: '2' });
  const clients = [own.connect(numbered), own.connect(numbered)];
  await Promise.all(clients.map((client) => client.event('session_started')));
  const { status, headers, body } = await own.connect(numbered).refused();
  expect([status, JSON.parse(body).error.code]).toEqual([429, 'too_many_sessions']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  clients[0]?.send({ type: 'close' });
  await clients[0]?.close();
  const next = own.connect(numbered);
  await next.event('session_started');
});

it('fails over to a fallback mid-stream, with one event for the client', async () => {
  const client = live.connect({
    model: 'loopback/numbered',
    provider_params: '{"turn_seconds":0.7,"fail":{"how":"close","at_seconds":1.5}}',
    fallbacks: JSON.stringify([{ model: 'loopback/numbered', provider_params: { turn_seconds: 0.4 } }]),
  });
  await client.event('session_started');
  client.send(numberedAudio(0, 64_000));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expect(client.of('failover')).toMatchObject([{ reason: 'upstream_closed', attempt: 1 }]);
  expectWhole(client.finals, 64_000);
});

it('logs a line at the start, each leg and the end, without content', async () => {
  const client = live.connect(numbered);
  await client.event('session_started');
  client.send(numberedAudio(0, 16_000));
  client.send({ type: 'close' });
  await client.close();
  const { session_id: sessionId } = client.events[0] as { session_id: string };
  const lines = live.log
    .filter((line) => line.includes(sessionId))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    // Told by the ledger, when it comes to it.
    .filter(({ msg }) => msg !== 'session settled');
  const leg = { sessionId, generation: 1, model: 'loopback/numbered' };
  const node = expect.stringMatching(/^.+$/);
  const ids = { organisationId: expect.stringMatching(/^org_/), keyId: expect.stringMatching(/^key_/) };
  expect(lines).toMatchObject([
    { msg: 'session opened', node, ...ids, model: 'loopback/numbered', sessionNode: node },
    { msg: 'leg opened', node, ...leg, legNode: node },
    { msg: 'leg ready', node, ...leg, legNode: node, dialMs: expect.any(Number) },
    { msg: 'leg closed', node, ...leg, legNode: node },
    { msg: 'session ended', node, ...ids, reason: 'client_closed', seconds: 1, turns: 2, failovers: 0 },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/Bearer|sk_vox|"text"/);
});

/** Reads a page again whenever the gateway has had a turn of its loop, until it says what is expected. */
async function fetchUntil(url: string, matches: (text: string) => boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries++) if (matches(await (await fetch(url)).text())) return;
  throw new Error(`${url} never said what was expected.`);
}
