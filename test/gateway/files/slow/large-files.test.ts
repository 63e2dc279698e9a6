// A file that is larger than its model takes, at a whole gateway: by its bytes or its length, with a part that fails, and in a format that
// the gateway does not decode.
import { beforeAll, describe, expect, it } from 'vitest';
import { longM4a } from '../../../fakes/audio/long-m4a.ts';
import { measured } from '../../../fakes/audio/measured.ts';
import { said } from '../../../fakes/audio/talking.ts';
import { type LiveGateway, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { answer, HttpProvider } from '../../../live/upstream/http-batch-fixture.ts';
import { audio, deaf, MODEL, send, startWithFallback, WORDS } from '../long-files-rig.ts';

describe('a file of 32 MB at a model that takes 25 MB', () => {
  let live: LiveGateway;
  beforeAll(async () => {
    live = await startWithFallback();
  });

  it.each([
    ['by its bytes, with the times of words', MODEL, ['file_cut']],
    ['by its length, as text alone', 'openai/gpt-4o-transcribe', ['words_unavailable', 'file_cut']],
  ])('comes back whole, and is charged for all of its seconds, where it is too much %s', async (_, model, warnings) => {
    const { status, answer, usage, seconds } = await send(live, { model });
    expect([status, answer.text]).toEqual([200, said(WORDS).join(' ')]);
    expect(answer.warnings?.map(({ code }) => code).sort()).toEqual([...warnings].sort());
    expect([seconds, usage]).toMatchObject([audio.seconds, [{ model, seconds: audio.seconds }]]);
  });

  it('is refused, and free, where a part has no model left', async () => {
    deaf.to = 1_234;
    const before = await (await live.request('/v1/balance')).json();
    const { status, answer } = await send(live, { model: MODEL });
    expect([status, answer]).toMatchObject([400, { error: { code: 'unsupported_audio' } }]);
    expect(await (await live.request('/v1/balance')).json()).toEqual(before);
  });
});

describe('an M4A file of 27 MB, which the gateway does not decode', () => {
  it('is sent in M4A parts, with one bill', async () => {
    const { bytes, seconds } = await longM4a(27_000_000);
    const provider = await new HttpProvider((response, arrived) => {
      const from = arrived.body.indexOf('ftypM4A') - 4;
      const duration = measured(arrived.body.subarray(from, arrived.body.lastIndexOf('\r\n--')))?.seconds ?? 0;
      const segments = [{ id: 0, start: 5, end: duration - 5, text: 'some of it' }];
      answer({ task: 'transcribe', language: 'english', duration, text: 'some of it', segments })(response, arrived);
    }).listen();
    try {
      const live = await startLiveGateway({ VOXGATE_OPENAI_URL: provider.url, OPENAI_API_KEY: 'key' });
      const sent = await send(live, { model: MODEL, 'timestamp_granularities[]': 'segment' }, new Blob([bytes]));
      expect([sent.status, sent.answer.warnings?.map(({ code }) => code)]).toEqual([200, ['file_cut']]);
      expect(provider.arrived).toHaveLength(Math.ceil(seconds / 1_200));
      expect(provider.arrived.every(({ body }) => body.length < 26_214_400)).toBe(true);
      expect(sent.answer.segments).toHaveLength(provider.arrived.length);
      expect(sent.answer.segments?.at(-1)?.end).toBeCloseTo(seconds - 5, 0);
      expect([sent.answer.duration, sent.seconds]).toEqual([sent.answer.usage.seconds, sent.answer.usage.seconds]);
      expect(sent.answer.duration).toBeCloseTo(seconds, 1);
      expect(sent.usage).toMatchObject([{ model: MODEL, seconds: sent.answer.duration }]);
    } finally {
      await provider.close();
    }
  });
});
