// Own servers first and the cloud as fallback, through a whole gateway; every shape, both ways: slow/own-servers.test.ts.
import { beforeAll, describe, expect, it } from 'vitest';
import { type LiveGateway, sampleAudio } from '../../fakes/processes/live-gateway.ts';
import { CANARY, CLOUD, FILE_SHAPES, listen, MODELS, startWithOwnServers } from './own-servers-rig.ts';

const WHISPER = 'custom/openai-files';

let live: LiveGateway;
beforeAll(async () => {
  live = await startWithOwnServers();
});

describe('a live session with a server that takes files', () => {
  it.each([WHISPER, 'custom/whispercpp'])(
    'continues in the cloud when %s is gone, with every sample transcribed once',
    async (own) => {
      const { code, failovers, gaps, usage } = await listen(live, [own, CLOUD], own);
      expect([code, failovers, gaps]).toEqual([1000, [[own, CLOUD]], []]);
      expect(usage).toMatchObject([{ model: own, byok: false }, { model: CLOUD }]);
    },
  );

  it('takes over from the cloud as a fallback', async () => {
    const { code, failovers, gaps } = await listen(live, [CLOUD, WHISPER], CLOUD);
    expect([code, failovers, gaps]).toEqual([1000, [[CLOUD, WHISPER]], []]);
  });
});

it.each(FILE_SHAPES.map((shape) => `custom/${shape}-files`))(
  'transcribes a file with %s, at its price',
  async (model) => {
    const form = new FormData();
    form.set('model', model);
    form.set('response_format', 'verbose_json');
    form.set('file', new Blob([sampleAudio('commands.wav').bytes]), 'commands.wav');
    const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    expect(response.status).toBe(200);
    const answer = (await response.json()) as { model: string; text: string; usage: object };
    expect(answer).toMatchObject({ model, text: expect.stringMatching(/^\d+-\d+/) });
  },
);

it('lists own servers in GET /v1/models as models of `custom`', async () => {
  const list = async (query: string) =>
    ((await (await live.request(`/v1/models${query}`)).json()) as { data: { id: string; owned_by: string }[] }).data;
  const own = await list('?provider=custom');
  expect(own.map(({ id }) => id)).toEqual(expect.arrayContaining(MODELS));
  for (const model of own) expect(model).toMatchObject({ owned_by: 'custom', available: true });
  expect(await list('')).toEqual(expect.arrayContaining([expect.objectContaining({ id: CLOUD }), ...own]));
});

it('suggests the right name for one that is nearly right', async () => {
  const { status, body } = await live.connect({ model: 'custom/openai-fils', sample_rate: '16000' }).refused();
  expect([status, body]).toEqual([404, expect.stringContaining('custom/openai-files')]);
});

it('metrics and documents know them, and nothing shows the key of a server', async () => {
  const metrics = await (await fetch(`${live.url}/metrics`)).text();
  expect(metrics).toContain('provider="custom",model="custom/openai-files"');
  const documents = await (await fetch(`${live.url}/openapi.json`)).text();
  expect(documents).toContain('custom/openai');
  for (const text of [...live.log, metrics, documents]) expect(text).not.toContain(CANARY);
});
