// The codec of files: the form that each model is sent, and what is read of each kind of answer.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batch } from '../../../src/providers/openai/batch.ts';
import type { BatchRequest, BatchResult, BatchStep } from '../../../src/providers/provider.ts';

const batchRequest = (over: Partial<BatchRequest> = {}): BatchRequest => ({
  model: 'whisper-1',
  language: undefined,
  diarization: false,
  prompt: undefined,
  temperature: undefined,
  wordTimestamps: false,
  params: {},
  access: { baseUrl: undefined, credential: 'sk-secret' },
  file: { name: 'audio.wav', contentType: 'audio/wav', bytes: 44, seconds: 12.5 },
  ...over,
});

const fieldsOf = (over: Partial<BatchRequest>) => {
  const { step } = batch.begin(batchRequest(over));
  if (step.type !== 'request' || step.request.body.kind !== 'multipart') throw new Error('No form was made.');
  return step.request.body.fields.map(([name, value]) => `${name}=${value}`);
};

const read = (body: unknown, over: Partial<BatchRequest> = {}): BatchStep =>
  batch.read(batch.begin(batchRequest(over)).state, {
    status: 200,
    headers: {},
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('the request for a file', () => {
  it('is one form, with the key in a header', () => {
    expect(
      batch.begin(batchRequest({ access: { baseUrl: 'http://localhost:1/v1', credential: 'sk-1' } })).step,
    ).toMatchObject({
      type: 'request',
      request: {
        method: 'POST',
        url: 'http://localhost:1/v1/audio/transcriptions',
        headers: { authorization: 'Bearer sk-1' },
        body: { kind: 'multipart', fileField: 'file' },
      },
    });
    expect(batch).toMatchObject({ kind: 'http', needsLength: true });
  });

  it.each<[Partial<BatchRequest>, string[]]>([
    [{}, ['response_format=verbose_json', 'timestamp_granularities[]=segment']],
    [
      { wordTimestamps: true, language: 'en-US', prompt: 'p', temperature: 0.2 },
      [
        'response_format=verbose_json',
        'language=en',
        'prompt=p',
        'temperature=0.2',
        'timestamp_granularities[]=segment',
        'timestamp_granularities[]=word',
      ],
    ],
    [
      { params: { timestamp_granularities: ['word'], prompt: 'mine', temperature: 0 }, prompt: 'p', temperature: 1 },
      [
        'response_format=verbose_json',
        'prompt=mine',
        'temperature=0',
        'timestamp_granularities[]=segment',
        'timestamp_granularities[]=word',
      ],
    ],
    [{ model: 'gpt-transcribe', language: 'auto' }, ['response_format=json']],
    [
      { model: 'gpt-transcribe', language: 'de', params: { languages: ['de', 'en'], keywords: ['a', 'b'] } },
      ['response_format=json', 'languages[]=de', 'languages[]=en', 'keywords[]=a', 'keywords[]=b'],
    ],
    [
      { model: 'gpt-4o-transcribe', wordTimestamps: true, params: { include: ['logprobs'], keywords: ['k'], odd: 1 } },
      ['response_format=json', 'include[]=logprobs'],
    ],
    [
      { model: 'gpt-4o-mini-transcribe', params: { chunking_strategy: { type: 'server_vad', threshold: 0.4 } } },
      ['response_format=json', 'chunking_strategy={"type":"server_vad","threshold":0.4}'],
    ],
    [
      { model: 'gpt-4o-transcribe-diarize', diarization: true, prompt: 'p' },
      ['response_format=diarized_json', 'chunking_strategy=auto'],
    ],
    [
      {
        model: 'gpt-4o-transcribe-diarize',
        params: { known_speaker_names: ['Ann'], known_speaker_references: ['data:audio/wav;base64,AA=='] },
      },
      [
        'response_format=diarized_json',
        'chunking_strategy=auto',
        'known_speaker_names[]=Ann',
        'known_speaker_references[]=data:audio/wav;base64,AA==',
      ],
    ],
  ])('for %j has %j', (over, fields) => {
    expect(fieldsOf(over)).toEqual([`model=${over.model ?? 'whisper-1'}`, ...fields]);
  });

  it.each(['audio.pcm', 'audio', 'wav', 'audio.aac'])('is not made for %s, which OpenAI does not read', (name) => {
    const { step } = batch.begin(batchRequest({ file: { name, contentType: 'x', bytes: 1, seconds: 1 } }));
    expect(step).toMatchObject({ type: 'failed', failure: { kind: 'next', code: 'unsupported_format' } });
  });
});

const ANSWERS: [string, unknown, Partial<BatchRequest>, Partial<BatchResult>][] = [
  [
    'text alone, which lies somewhere in the file',
    { text: ' Hello there. ', usage: { type: 'tokens', input_tokens: 3 } },
    { model: 'gpt-4o-transcribe' },
    { utterances: [{ text: 'Hello there.', start: 0, end: 12.5 }], seconds: undefined, language: undefined },
  ],
  [
    'text with the seconds that are billed, and languages',
    { text: 'Hallo.', languages: [{ code: 'de' }, { code: 'en' }], usage: { type: 'duration', seconds: 13 } },
    { model: 'gpt-transcribe' },
    { utterances: [{ text: 'Hallo.', start: 0, end: 13, language: 'de' }], seconds: 13, language: 'de' },
  ],
  ['no words', { text: '' }, {}, { utterances: [], seconds: undefined }],
  [
    'what the tokens were worth',
    { text: 'Yes.', logprobs: [{ token: 'Y', logprob: Math.log(0.5) }, { logprob: Math.log(0.5) }, { logprob: 'x' }] },
    {},
    { utterances: [{ text: 'Yes.', start: 0, end: 12.5, confidence: 0.5 }] },
  ],
  [
    'segments and words',
    {
      task: 'transcribe',
      language: 'english',
      duration: 4.5,
      text: 'One two. Three.',
      segments: [
        { id: 0, start: 0, end: 2, text: ' One two.' },
        { id: 1, start: 2, end: 4.5, text: ' Three.' },
      ],
      words: [
        { word: 'One', start: 0, end: 0.5 },
        { word: 'two', start: 0.5, end: 2 },
        { word: 'Three', start: 2, end: 4 },
        { word: 'late', start: 9, end: 10 },
        { word: 7 },
      ],
    },
    {},
    {
      utterances: [
        {
          text: 'One two.',
          start: 0,
          end: 2,
          language: 'en',
          words: [
            { word: 'One', start: 0, end: 0.5 },
            { word: 'two', start: 0.5, end: 2 },
          ],
        },
        {
          text: 'Three.',
          start: 2,
          end: 4.5,
          language: 'en',
          words: [
            { word: 'Three', start: 2, end: 4 },
            { word: 'late', start: 9, end: 10 },
          ],
        },
      ],
      seconds: 4.5,
      language: 'en',
    },
  ],
  [
    'speakers, counted as they are first heard',
    {
      duration: 6,
      text: 'a b c',
      segments: [
        { start: 0, end: 1, text: 'a', speaker: 'B' },
        { start: 1, end: 2, text: 'b', speaker: 'A' },
        { start: 2, end: 3, text: ' ', speaker: 'C' },
        { start: 3, end: 4, text: 'c', speaker: 'B' },
      ],
    },
    { model: 'gpt-4o-transcribe-diarize' },
    {
      utterances: [
        { text: 'a', start: 0, end: 1, speaker: 0 },
        { text: 'b', start: 1, end: 2, speaker: 1 },
        { text: 'c', start: 3, end: 4, speaker: 0 },
      ],
      seconds: 6,
    },
  ],
  [
    'text whose segments cannot be read',
    { text: 'a', language: 'Klingon', segments: [{ text: 'a', start: null, end: 1 }, null, 'x'], words: 'none' },
    {},
    { utterances: [{ text: 'a', start: 0, end: 12.5 }], language: undefined },
  ],
];

describe('the answer for a file', () => {
  it.each(ANSWERS)('gives %s', (_, answer, over, result) => {
    expect(read(answer, over)).toMatchObject({ type: 'done', result: { ...result, warnings: [] } });
  });

  it('warns of a prompt that the model takes none of', () => {
    const step = read({ text: '' }, { model: 'gpt-4o-transcribe-diarize', prompt: 'p' });
    expect(step).toMatchObject({ result: { warnings: [{ code: 'prompt_unsupported', param: 'prompt' }] } });
  });

  it.each(['', 'plain', 'null', '[]', '{"text":3}'])('%j is none, and worth another try', (body) => {
    expect(read(body)).toMatchObject({ type: 'failed', failure: { kind: 'next', code: 'bad_answer' } });
  });

  it('may be anything, and never throws', () => {
    const member = fc.jsonValue();
    const garbled = fc.record(
      {
        text: fc.string(),
        segments: member,
        words: member,
        language: member,
        logprobs: member,
        usage: member,
        duration: member,
      },
      { requiredKeys: ['text'] },
    );
    fc.assert(
      fc.property(fc.oneof(member, garbled), (answer) => {
        expect(['done', 'failed']).toContain(read(answer as object).type);
      }),
      { numRuns: 500 },
    );
  });

  it('that is a refusal is read as one', () => {
    const body = JSON.stringify({ error: { code: 'insufficient_quota', message: 'm' } });
    expect(batch.refused?.(batch.begin(batchRequest()).state, { status: 429, headers: {}, body })).toMatchObject({
      kind: 'account',
    });
  });
});
