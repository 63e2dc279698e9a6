// Files at Deepgram: what the request asks for, and what an answer comes to.
import { describe, expect, it } from 'vitest';
import { batch } from '../../../src/providers/deepgram/batch.ts';
import type { BatchRequest, BatchStep } from '../../../src/providers/provider.ts';

const request = (more: Partial<BatchRequest> = {}): BatchRequest => ({
  model: 'nova-3',
  language: undefined,
  diarization: false,
  prompt: undefined,
  temperature: undefined,
  wordTimestamps: true,
  params: {},
  access: { baseUrl: undefined, credential: 'key-of-the-test' },
  file: { name: 'audio.wav', contentType: 'audio/wav', bytes: undefined, seconds: undefined },
  ...more,
});

function queryOf(more: Partial<BatchRequest>): Record<string, string[]> {
  const { step } = batch.begin(request(more));
  if (step.type !== 'request') throw new Error('no request');
  const { searchParams } = new URL(step.request.url);
  return Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
}

function answered(body: unknown, more: Partial<BatchRequest> = {}): BatchStep {
  const { state } = batch.begin(request(more));
  return batch.read(state, { status: 200, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) });
}

const word = (text: string, start: number, speaker?: number) => ({
  word: text.toLowerCase(),
  punctuated_word: text,
  start,
  end: start + 0.5,
  confidence: 0.9,
  ...(speaker === undefined ? {} : { speaker }),
});
const utterance = (text: string, start: number, speaker?: number, channel = 0) => ({
  start,
  end: start + 1,
  confidence: 0.8,
  channel,
  transcript: text,
  words: [word(text, start, speaker)],
  ...(speaker === undefined ? {} : { speaker }),
});
const answer = (utterances: unknown, channel: object = {}) => ({
  metadata: { duration: 12.5, channels: 1 },
  results: { channels: [{ alternatives: [{ transcript: '', confidence: 0, words: [] }], ...channel }], utterances },
});

describe('a file for Deepgram', () => {
  it('goes as the body of one request, with its content type and the key in a header', () => {
    expect(batch.begin(request()).step).toEqual({
      type: 'request',
      request: {
        method: 'POST',
        url: 'https://api.deepgram.com/v1/listen?model=nova-3&smart_format=true&utterances=true',
        headers: { authorization: 'Token key-of-the-test', 'content-type': 'audio/wav' },
        body: { kind: 'file' },
      },
    });
  });

  it.each<[Partial<BatchRequest>, Record<string, string[]>]>([
    [{ language: 'auto' }, { detect_language: ['true'] }],
    [{ language: 'fr-BE' }, { language: ['fr'] }],
    [{ diarization: true }, { diarize_model: ['latest'] }],
    [{ diarization: true, params: { diarize_model: 'v2' } }, { diarize_model: ['v2'] }],
    [{ params: { detect_language: ['en', 'de'] } }, { detect_language: ['en', 'de'] }],
    [{ params: { utterances: false, utt_split: 1.5 } }, { utterances: ['false'], utt_split: ['1.5'] }],
    [{ params: { summarize: 'v2', endpointing: 5, paragraphs: true } }, {}],
    [
      { file: { name: 'a.pcm', contentType: 'audio/l16; rate=8000', bytes: undefined, seconds: undefined } },
      { encoding: ['linear16'], sample_rate: ['8000'] },
    ],
  ])('asked for with %j adds %j to the query', (more, expected) => {
    const standard = { model: ['nova-3'], smart_format: ['true'], utterances: ['true'] };
    expect(queryOf(more)).toEqual({ ...standard, ...expected });
  });

  it('comes back in segments, with words, speakers in the order they are heard, language and seconds', () => {
    const body = answer([utterance('Hello.', 1, 3), utterance('Hi.', 4, 1), utterance('Bye.', 6, 3)], {
      detected_language: 'en',
    });
    const step = answered(body);
    expect(step).toMatchObject({ type: 'done', result: { language: 'en', seconds: 12.5, warnings: [] } });
    if (step.type !== 'done') return;
    expect(step.result.utterances.map(({ text, start, end, speaker }) => [text, start, end, speaker])).toEqual([
      ['Hello.', 1, 2, 0],
      ['Hi.', 4, 5, 1],
      ['Bye.', 6, 7, 0],
    ]);
    expect(step.result.utterances[0]).toMatchObject({
      confidence: 0.8,
      words: [{ word: 'Hello.', start: 1, end: 1.5, confidence: 0.9, speaker: 0 }],
    });
  });

  it('with several channels is told in the order of time, and each channel’s speakers are its own', () => {
    const body = answer([utterance('b', 3, 0, 0), utterance('a', 1, 0, 1)]);
    const step = answered(body, { params: { multichannel: true } });
    expect(step).toMatchObject({
      result: {
        utterances: [
          { text: 'a', speaker: 1 },
          { text: 'b', speaker: 0 },
        ],
      },
    });
    const untold = answered(answer([utterance('b', 3, undefined, 0), utterance('a', 1, undefined, 1)]), {
      params: { multichannel: true },
    });
    expect(untold).toMatchObject({
      result: {
        utterances: [
          { text: 'a', speaker: 1 },
          { text: 'b', speaker: 0 },
        ],
      },
    });
  });

  it('without segments is what each channel said as a whole', () => {
    const alternative = { transcript: 'Hello there', confidence: 0.7, words: [word('Hello', 1), word('there', 2)] };
    const body = { metadata: { duration: 5 }, results: { channels: [{ alternatives: [alternative] }] } };
    expect(answered(body)).toMatchObject({
      result: { utterances: [{ text: 'Hello there', start: 1, end: 2.5, confidence: 0.7 }] },
    });
    const bare = { metadata: { duration: 5 }, results: { channels: [{ alternatives: [{ transcript: 'x' }] }] } };
    expect(answered(bare)).toMatchObject({ result: { utterances: [{ text: 'x', start: 0, end: 5 }] } });
  });

  it('without words is an empty result and no failure', () => {
    expect(answered(answer([]))).toMatchObject({ type: 'done', result: { utterances: [], seconds: 12.5 } });
  });

  it.each(['', 'no JSON', '[]', '{}', '{"results":{"channels":[]}}', '{"results":{"channels":"x"}}'])(
    'fails when the answer is %j',
    (body) => {
      expect(answered(body)).toMatchObject({ type: 'failed', failure: { kind: 'next', code: 'bad_answer' } });
    },
  );

  it('warns of what Deepgram has no parameter for', () => {
    const step = answered(answer([]), { prompt: 'names', temperature: 0 });
    expect(step).toMatchObject({ result: { warnings: [{ param: 'prompt' }, { param: 'temperature' }] } });
  });

  it('is refused as a live request is', () => {
    const { state } = batch.begin(request());
    expect(batch.refused?.(state, { status: 413, headers: {}, body: 'too large' })).toMatchObject({ kind: 'caller' });
    expect(batch.refused?.(state, { status: 504, headers: {}, body: '' })).toMatchObject({ kind: 'retry' });
  });
});
