// A chain of which the gateway cannot use every model, through a whole gateway that has no credential of any provider, and for
// one model no price.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const NOVA = 'deepgram/nova-3';
const UNPRICED = 'loopback/script';
const WORKS = 'loopback/numbered';
const ADVICE = /set DEEPGRAM_API_KEY, you can save a key of your own in the console \(provider keys\), or name another/;
const PRICE_ADVICE = /script has no (live|batch) price here, .* Its operator can set one, or name another model\./;

let live: LiveGateway;
beforeAll(async () => {
  const prices = join(temporaryDirectory(), 'prices.json');
  writeFileSync(prices, JSON.stringify({ [UNPRICED]: { live: null, batch: null } }));
  live = await startLiveGateway({ VOXGATE_PRICES_FILE: prices });
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
  ['its first model', { model: NOVA, fallbacks: WORKS }, 'model', ADVICE],
  ['a fallback', { model: WORKS, fallbacks: NOVA }, 'fallbacks', ADVICE],
  ['its first model, which has no price', { model: UNPRICED, fallbacks: WORKS }, 'model', PRICE_ADVICE],
  ['a fallback that has no price', { model: WORKS, fallbacks: UNPRICED }, 'fallbacks', PRICE_ADVICE],
] as const;

it.each(CHAINS)('continues a session without %s, with a warning', async (_, chain, param, advice) => {
  const client = live.connect({ ...chain, sample_rate: '24000' });
  expect(await client.event('session_started')).toMatchObject({ model: WORKS, fallbacks: [] });
  client.send(numberedAudio(0, 24_000));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expect(client.of('warning')).toMatchObject([
    { code: 'model_left_out', param, message: expect.stringMatching(advice) },
  ]);
  expect(client.of('failover')).toEqual([]);
  expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: WORKS }]);
});

it.each(CHAINS)('answers a file without %s, with a warning', async (_, chain, param, advice) => {
  const { status, body, headers } = await send(chain);
  expect([status, body.model]).toEqual([200, WORKS]);
  expect(body.warnings).toContainEqual({
    ...{ code: 'model_left_out', param },
    message: expect.stringMatching(advice),
  });
  expect(headers.get('voxgate-warning')).toContain('model_left_out');
});

const NOT_CONFIGURED = ['upstream_not_configured', ADVICE] as const;
const NOT_PRICED = ['model_not_priced', PRICE_ADVICE] as const;

it.each([
  ['no model is left', { model: NOVA, fallbacks: 'openai/whisper-1' }, 'model', NOT_CONFIGURED],
  ['it is to be strict', { model: WORKS, fallbacks: NOVA, strict: 'true' }, 'fallbacks', NOT_CONFIGURED],
  ['no model has a price', { model: UNPRICED, fallbacks: UNPRICED }, 'model', NOT_PRICED],
  ['it is to be strict', { model: WORKS, fallbacks: UNPRICED, strict: 'true' }, 'fallbacks', NOT_PRICED],
  ['no model is left for one reason or another', { model: UNPRICED, fallbacks: NOVA }, 'model', NOT_PRICED],
])(
  'refuses a session or file where %s, with a status that clients do not retry',
  async (_, chain, param, [code, advice]) => {
    const refused = { error: { code, param, message: expect.stringMatching(advice) } };
    const file = await send(chain);
    expect(file).toMatchObject({ status: 422, body: refused });
    const session = await live.connect(chain).refused();
    expect([session.status, JSON.parse(session.body)]).toMatchObject([422, refused]);
  },
);
