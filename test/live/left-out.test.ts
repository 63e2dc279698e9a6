// A chain of which the gateway cannot use every model, through a whole gateway that has no credential of any provider.
import { beforeAll, expect, it } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';

const NOVA = 'deepgram/nova-3';
const WORKS = 'loopback/numbered';
const ADVICE = /set DEEPGRAM_API_KEY, you can save a key of your own in the console \(provider keys\), or name another/;

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

async function send(fields: Record<string, string>) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ response_format: 'verbose_json', ...fields })) form.set(name, value);
  form.set('file', new Blob([sampleAudio('commands.wav').bytes]), 'commands.wav');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { model: string; warnings: unknown[] },
  };
}

const CHAINS = [
  ['its first model', { model: NOVA, fallbacks: WORKS }, 'model', []],
  ['a fallback', { model: WORKS, fallbacks: NOVA }, 'fallbacks', []],
] as const;

it.each(CHAINS)('a session goes on without %s, and is warned', async (_, chain, param) => {
  const client = live.connect({ ...chain, sample_rate: '24000' });
  expect(await client.event('session_started')).toMatchObject({ model: WORKS, fallbacks: [] });
  client.send(numberedAudio(0, 24_000));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expect(client.of('warning')).toMatchObject([
    { code: 'model_left_out', param, message: expect.stringMatching(ADVICE) },
  ]);
  expect(client.of('failover')).toEqual([]);
  expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: WORKS }]);
});

it.each(CHAINS)('a file is answered without %s, with a warning', async (_, chain, param) => {
  const { status, body, headers } = await send(chain);
  expect([status, body.model]).toEqual([200, WORKS]);
  expect(body.warnings).toContainEqual({
    ...{ code: 'model_left_out', param },
    message: expect.stringMatching(ADVICE),
  });
  expect(headers.get('voxgate-warning')).toContain('model_left_out');
});

it.each([
  ['no model is left', { model: NOVA, fallbacks: 'openai/whisper-1' }, 'model'],
  ['it is to be strict', { model: WORKS, fallbacks: NOVA, strict: 'true' }, 'fallbacks'],
])('a session or file is refused where %s, with a status that nobody tries again', async (_, chain, param) => {
  const refused = { error: { code: 'upstream_not_configured', param, message: expect.stringMatching(ADVICE) } };
  const file = await send(chain);
  expect(file).toMatchObject({ status: 422, body: refused });
  const session = await live.connect(chain).refused();
  expect([session.status, JSON.parse(session.body)]).toMatchObject([422, refused]);
});
