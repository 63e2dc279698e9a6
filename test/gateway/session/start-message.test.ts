// A session whose parameters come in its first message, on real sockets: any size that a schema promises, audio before it, and
// refusals that every client can read.
import { beforeAll, describe, expect, it } from 'vitest';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

/** A script of 100 KiB: twelve times what URL and headers may have. */
const turns = Array.from({ length: 60 }, (_, index) => ({ text: `${index} ${'x'.repeat(1_700)}`, seconds: 0.1 }));

describe('a start message', () => {
  it('opens an ordinary session with 100 KiB of parameters', async () => {
    const client = live.connect({ start: 'message' });
    await client.opened();
    client.send({ type: 'start', model: 'loopback/script', sample_rate: 8000, provider_params: { turns } });
    expect(await client.event('session_started')).toMatchObject({
      seq: 1,
      sample_rate: 8000,
      model: 'loopback/script',
    });
    client.send(new Uint8Array(16_000 * 6));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expect(client.finals.map(({ text }) => text)).toEqual(turns.map(({ text }) => text));
  });

  it('may follow audio and precede more audio and the end, without any loss', async () => {
    const client = live.connect({ start: 'message', model: 'loopback/numbered' });
    await client.opened();
    client.send(numberedAudio(0, 40_000));
    client.send({ type: 'start', provider_params: { turn_seconds: 0.5 } });
    for (let at = 40_000; at < 400_000; at += 40_000) client.send(numberedAudio(at, at + 40_000));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expectWhole(client.finals, 400_000);
    expect(client.of('error')).toEqual([]);
  });

  it.each<[string, object, string, number]>([
    ['an unknown model', { type: 'start', model: 'loopback/scirpt' }, 'model_not_found', 4004],
    ['no model', { type: 'start' }, 'invalid_request', 4000],
    [
      'options that the model has not',
      { type: 'start', model: 'loopback/script', provider_params: { turnz: 1 } },
      'invalid_provider_params',
      4000,
    ],
    [
      'what the URL says already',
      { type: 'start', model: 'loopback/script', language: 'en' },
      'duplicate_parameter',
      4000,
    ],
    ['another message', { type: 'finalize' }, 'invalid_request', 4000],
  ])('closes with an error event and its code for %s, for any kind of credential', async (_, message, code, close) => {
    const client = live.connect({ start: 'message', language: 'en' });
    await client.opened();
    client.send(message);
    expect(await client.close()).toEqual({ code: close, reason: code });
    expect(client.events).toMatchObject([{ type: 'error', seq: 1, error: { code } }]);
  });

  it('leaves the place of a refused connection to the next', async () => {
    const own = await startLiveGateway({ VOXGATE_SESSIONS_PER_KEY_MAX: '1' });
    for (let round = 0; round < 3; round++) {
      const refused = own.connect({ start: 'message' });
      await refused.opened();
      expect((await own.connect({ start: 'message' }).refused()).status).toBe(429);
      refused.send({ type: 'start', model: 'loopback/scirpt' });
      expect((await refused.close()).code).toBe(4004);
    }
    const client = own.connect({ start: 'message' });
    await client.opened();
    client.send({ type: 'start', model: 'loopback/script' });
    await client.event('session_started');
    client.socket.terminate();
  });
});

it('refuses a query without a model at the handshake, and suggests the other way', async () => {
  const { status, body } = await live.connect({}).refused();
  expect([status, JSON.parse(body).error]).toMatchObject([400, { param: 'model' }]);
  expect(body).toContain('start=message');
});
