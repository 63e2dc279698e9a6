// The codec of Realtime transcription before the first word: where it connects, what it asks for, what audio looks like.
import { describe, expect, it } from 'vitest';
import { live } from '../../../src/providers/openai/live.ts';
import { models } from '../../../src/providers/openai/models.ts';
import type { Step } from '../../../src/providers/provider.ts';
import { audio, begun, legRequest, play, RATE, said, say } from './stage.ts';

const SERVER_TURNS = { model: 'gpt-4o-transcribe' };

const updateOf = (over: Parameters<typeof legRequest>[0]) => {
  const { state } = live.open(legRequest(over));
  const [step] = live.read(state, { json: said.created });
  const { frame } = step as Extract<Step, { type: 'send' }>;
  return (frame as { session: { audio: { input: object } } }).session.audio.input;
};

describe('connecting', () => {
  it.each([
    [undefined, 'wss://api.openai.com/v1/realtime?intent=transcription'],
    ['https://proxy.example/openai/v1/', 'wss://proxy.example/openai/v1/realtime?intent=transcription'],
    ['http://127.0.0.1:8080', 'ws://127.0.0.1:8080/v1/realtime?intent=transcription'],
  ])('to %j goes to %s, with the key in a header and no model', (baseUrl, url) => {
    expect(live.open(legRequest({ access: { baseUrl, credential: 'sk-1' } }))).toMatchObject({
      endpoint: { kind: 'websocket', url, headers: { authorization: 'Bearer sk-1' } },
      hello: [],
    });
  });

  it('sends the settings when the session is created, and takes audio when they are confirmed; each once', () => {
    const acts = [said.created, said.created, said.updated, said.updated].map(say);
    expect(play({}, acts)).toEqual(['session.update', 'ready']);
    expect(play({}, [say(said.updated)])).toEqual([]);
  });

  it.each<[string, Parameters<typeof legRequest>[0], object]>([
    ['a model without turns', {}, { transcription: { model: 'gpt-live-transcribe' }, turn_detection: null }],
    [
      'a model with turns',
      { model: 'whisper-1', language: 'en-GB' },
      { transcription: { model: 'whisper-1', language: 'en' }, turn_detection: { type: 'server_vad' } },
    ],
    [
      'turns left to the gateway',
      { model: 'gpt-transcribe', params: { turn_detection: null }, language: 'auto' },
      { transcription: { model: 'gpt-transcribe' }, turn_detection: null },
    ],
    [
      'hints, in place of the language',
      { language: 'de', params: { languages: ['de', 'en'], keywords: ['Voxgate'], prompt: 'p' } },
      {
        transcription: {
          model: 'gpt-live-transcribe',
          languages: ['de', 'en'],
          keywords: ['Voxgate'],
          prompt: 'p',
        },
        turn_detection: null,
      },
    ],
    [
      'a language, as a hint where the model takes those',
      { language: 'fr-CA' },
      { transcription: { model: 'gpt-live-transcribe', languages: ['fr'] }, turn_detection: null },
    ],
    [
      'turn detection and noise reduction of its own',
      { ...SERVER_TURNS, params: { turn_detection: { type: 'semantic_vad' }, noise_reduction: 'far_field' } },
      {
        transcription: { model: 'gpt-4o-transcribe' },
        turn_detection: { type: 'semantic_vad' },
        noise_reduction: { type: 'far_field' },
      },
    ],
    [
      'nothing that the model does not honour',
      {
        model: 'gpt-realtime-whisper',
        params: { delay: 'low', prompt: 'p', keywords: ['k'], languages: ['en'], turn_detection: {}, unknown: 1 },
      },
      { transcription: { model: 'gpt-realtime-whisper', delay: 'low' }, turn_detection: null },
    ],
  ])('asks for %s', (_, over, input) => {
    expect(JSON.parse(JSON.stringify(updateOf(over)))).toEqual({
      format: { type: 'audio/pcm', rate: RATE },
      ...input,
    });
  });

  it.each([
    [{}, { silenceMs: 500, longestMs: 30_000 }],
    [{ model: 'gpt-realtime-whisper' }, { silenceMs: 500, longestMs: 30_000 }],
    [SERVER_TURNS, { silenceMs: Number.POSITIVE_INFINITY, longestMs: 40_000 }],
    [
      { ...SERVER_TURNS, params: { turn_detection: null } },
      { silenceMs: 500, longestMs: 30_000 },
    ],
  ])('with %j has turns ended by the gateway as %j', (over, endpointing) => {
    const timing = live.timing(legRequest(over));
    expect(timing.endpointing).toEqual(endpointing);
    // A leg that is alive says something before it is taken for dead, and is taken for dead before its audio is forgotten.
    expect(timing.stallMs).toBeGreaterThan(timing.endpointing?.longestMs ?? 0);
    expect(timing.stallMs).toBeLessThan(60_000);
    expect(timing.burstMs).toBeGreaterThanOrEqual(timing.frame.maxMs);
  });

  it('sends audio as base64, whatever part of a buffer it lies in', () => {
    const { state } = live.open(legRequest());
    const bytes = Uint8Array.from([9, 9, 1, 2, 3, 4, 9]).subarray(2, 6);
    expect(JSON.parse(live.audio(state, bytes) as string)).toEqual({
      type: 'input_audio_buffer.append',
      audio: Buffer.from([1, 2, 3, 4]).toString('base64'),
    });
    expect(live.leave?.(state)).toEqual([{ type: 'input_audio_buffer.clear' }]);
    expect(live.keepAlive(state)).toEqual([]);
  });

  it('every live model of the catalogue is one whose turns are known', () => {
    for (const { id, modes, audio: format } of models) {
      if (!modes.includes('live')) continue;
      const model = id.slice('openai/'.length);
      expect(updateOf({ model })).toMatchObject({ transcription: { model } });
      expect(format.sample_rates).toEqual([RATE]);
    }
  });
});

describe('a close', () => {
  it.each([
    [1000, 'retry'],
    [1001, 'retry'],
    [1006, 'retry'],
    [1011, 'retry'],
    [1008, 'next'],
    [1009, 'next'],
  ])('with %d is a failure worth `%s`', (code, kind) => {
    const { state } = live.open(legRequest());
    const failure = { kind, reason: 'upstream_closed', code: `close_${code}` };
    expect(live.closed(state, code, 'why')).toMatchObject({ type: 'failed', failure });
  });
});

it('takes an item that OpenAI cannot make out for a turn without words, and says so', () => {
  const unclear = said.failed('a', { code: 'audio_unintelligible' });
  expect(play({}, [...begun, audio(1), 'finalize', say(said.committed('a')), say(unclear)]).slice(-3)).toEqual([
    'commit',
    'ended a 0-1 ""',
    'warned',
  ]);
});
