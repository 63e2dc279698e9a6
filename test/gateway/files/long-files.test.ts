// A file that is larger than its model takes, at a whole gateway: all of it comes back, with one bill for its seconds. Other sizes,
// formats and ends are slow/large-files.test.ts.
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobAnswer } from '../../../src/api/jobs.ts';
import { said } from '../../fakes/audio/talking.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { answer, HttpProvider } from '../../live/upstream/http-batch-fixture.ts';
import { audio, deaf, FALLBACK, MODEL, send, startWithFallback, TALK, WORDS } from './long-files-rig.ts';

describe('a file of 32 MB at a model that takes 25 MB', () => {
  let live: LiveGateway;
  beforeAll(async () => {
    live = await startWithFallback();
  });

  it('comes back whole, the part that failed from the fallback, with one bill', async () => {
    deaf.to = 1_234;
    const { status, answer, usage, seconds, held } = await send(live, { model: MODEL, fallbacks: FALLBACK });
    expect([status, answer.text]).toEqual([200, said(WORDS).join(' ')]);
    expect(answer.words?.map(({ word }) => word)).toEqual(said(WORDS));
    for (const [index, { start: at }] of (answer.words ?? []).entries()) {
      expect(at).toBeCloseTo(audio.starts[index] as number, 1);
    }
    expect(answer.warnings?.map(({ code }) => code)).toEqual(['file_cut']);
    expect(answer).toMatchObject({
      model: MODEL,
      duration: audio.seconds,
      usage: { seconds: audio.seconds },
      fallback: [{ model: MODEL, reason: 'unsupported_audio' }],
    });
    const lines = usage as { model: string; seconds: number }[];
    expect(lines.map(({ model }) => model).sort()).toEqual([FALLBACK, MODEL]);
    expect(lines.reduce((sum, line) => sum + line.seconds, 0)).toBeCloseTo(audio.seconds, 3);
    expect([seconds, held]).toEqual([audio.seconds, '0.00']);
  });
});

describe('a job of a file that is too large for its model', () => {
  it('shows how many of its parts are done, until it is over', async () => {
    const part = { task: 'transcribe', language: 'english', duration: 900, text: 'some of it', segments: [] };
    const held: (() => void)[] = [];
    let isHeld = true;
    const provider = await new HttpProvider((response, arrived) => {
      const reply = () => answer(part)(response, arrived);
      if (isHeld && provider.arrived.length > 1) held.push(reply);
      else reply();
    }).listen();
    try {
      const live = await startLiveGateway({ VOXGATE_OPENAI_URL: provider.url, OPENAI_API_KEY: 'key' });
      const body = new FormData();
      for (const [name, value] of Object.entries({ model: MODEL, speech_gate: 'off' })) body.append(name, value);
      body.append('file', TALK, 'talk');
      const accepted = (await (await live.request('/v1/jobs', { method: 'POST', body })).json()) as JobAnswer;
      const job = async () => (await (await live.request(`/v1/jobs/${accepted.id}`)).json()) as JobAnswer;
      await expect.poll(async () => (await job()).progress?.done, { timeout: 30_000 }).toBe(1);
      const { status, progress } = await job();
      expect([status, progress]).toEqual(['processing', { done: 1, parts: expect.toSatisfy((parts) => parts >= 2) }]);
      isHeld = false;
      for (const reply of held) reply();
      await expect.poll(async () => (await job()).status, { timeout: 30_000 }).toBe('completed');
      expect((await job()).progress).toBeUndefined();
    } finally {
      await provider.close();
    }
  });
});
