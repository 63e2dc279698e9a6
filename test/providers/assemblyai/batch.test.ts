// Files of AssemblyAI: what is sent, how a job is asked about, and what its answers come to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batch } from '../../../src/providers/assemblyai/batch.ts';
import { languageOf } from '../../../src/providers/assemblyai/languages.ts';
import type { BatchRequest, BatchResult, BatchStep, HttpRequest } from '../../../src/providers/provider.ts';

function batchRequest(changes: Partial<BatchRequest> = {}): BatchRequest {
  return {
    model: 'universal-3-5-pro',
    language: undefined,
    diarization: false,
    prompt: undefined,
    temperature: undefined,
    wordTimestamps: false,
    params: {},
    access: { baseUrl: undefined, credential: 'key-1' },
    file: { name: 'audio.wav', contentType: 'audio/wav', bytes: undefined, seconds: undefined },
    ...changes,
  };
}

const answer = (body: unknown) => ({
  status: 200,
  headers: {},
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

function requestIn(step: BatchStep | undefined): HttpRequest & { afterMs?: number } {
  if (step?.type !== 'request') throw new Error(`${step?.type} came in place of a request.`);
  return { ...step.request, ...(step.afterMs === undefined ? {} : { afterMs: step.afterMs }) };
}

/** Begins, and hears the answers one after the other. */
function play(
  changes: Partial<BatchRequest>,
  ...answers: unknown[]
): { steps: BatchStep[]; state: ReturnType<typeof batch.begin>['state'] } {
  const { state, step } = batch.begin(batchRequest(changes));
  return { steps: [step, ...answers.map((body) => batch.read(state, answer(body)))], state };
}

const UPLOADED = { upload_url: 'https://cdn.example.test/upload/1' };
const QUEUED = { id: 't-1', status: 'queued' };

const resultOf = (json: object, changes: Partial<BatchRequest> = {}): BatchResult => {
  const last = play(changes, UPLOADED, QUEUED, { id: 't-1', status: 'completed', ...json }).steps.at(-1);
  if (last?.type !== 'done') throw new Error(`${last?.type} came in place of the result.`);
  return last.result;
};

const word = (text: string, start: number, end: number, speaker?: string) => ({
  text,
  start,
  end,
  confidence: 0.5,
  speaker,
});

describe('a file', () => {
  it('is uploaded, made a job, and asked about less and less often', () => {
    const { steps } = play(
      {},
      UPLOADED,
      QUEUED,
      ...Array.from({ length: 6 }, () => ({ id: 't-1', status: 'processing' })),
    );
    const requests = steps.map(requestIn);
    expect(requests[0]).toEqual({
      method: 'POST',
      url: 'https://api.assemblyai.com/v2/upload',
      headers: { authorization: 'key-1', 'content-type': 'application/octet-stream' },
      body: { kind: 'file' },
    });
    expect(requests[1]).toEqual({
      method: 'POST',
      url: 'https://api.assemblyai.com/v2/transcript',
      headers: { authorization: 'key-1' },
      body: { kind: 'json', json: { audio_url: UPLOADED.upload_url, speech_models: ['universal-3-5-pro'] } },
    });
    expect(requests[2]).toEqual({
      method: 'GET',
      url: 'https://api.assemblyai.com/v2/transcript/t-1',
      headers: { authorization: 'key-1' },
      body: { kind: 'none' },
      afterMs: 500,
    });
    expect(requests.slice(2).map(({ afterMs }) => afterMs)).toEqual([500, 750, 1_125, 1_688, 2_532, 3_000, 3_000]);
  });

  it('goes below the base URL that is configured', () => {
    const { steps } = play({ access: { baseUrl: 'http://127.0.0.1:9/aai', credential: undefined } }, UPLOADED);
    expect(steps.map((step) => requestIn(step).url)).toEqual([
      'http://127.0.0.1:9/aai/v2/upload',
      'http://127.0.0.1:9/aai/v2/transcript',
    ]);
    expect(requestIn(steps[1]).headers).toEqual({});
  });

  it('is deleted when nobody waits for it, once there is something to delete', () => {
    const begun = play({}, UPLOADED);
    expect(batch.abandon?.(begun.state)).toEqual([]);
    batch.read(begun.state, answer(QUEUED));
    expect(batch.abandon?.(begun.state)).toMatchObject([
      { method: 'DELETE', url: 'https://api.assemblyai.com/v2/transcript/t-1' },
    ]);
  });

  it.each<[Partial<BatchRequest>, Record<string, unknown>]>([
    [{}, {}],
    [{ language: 'en-US' }, { language_code: 'en_us' }],
    [{ language: 'en-GB' }, { language_code: 'en_uk' }],
    [{ language: 'en-AU' }, { language_code: 'en_au' }],
    [{ language: 'en-IN' }, { language_code: 'en' }],
    [{ language: 'pt-BR' }, { language_code: 'pt' }],
    [{ language: 'auto' }, { language_detection: true }],
    [{ params: { language_detection: true } }, { language_detection: true }],
    [{ language: 'fr', params: { language_detection: true } }, { language_code: 'fr' }],
    [
      { diarization: true, params: { speakers_expected: 2 } },
      { speaker_labels: true, speakers_expected: 2 },
    ],
    [{ params: { speaker_labels: true } }, { speaker_labels: true }],
    [
      { prompt: 'a', temperature: 0.2 },
      { prompt: 'a', temperature: 0.2 },
    ],
    [{ prompt: 'a', params: { prompt: 'b' } }, { prompt: 'b' }],
    [{ params: { speech_models: ['universal-2'] } }, { speech_models: ['universal-3-5-pro', 'universal-2'] }],
    [{ params: { format_turns: true, unheard_of: 1, punctuate: false } }, { punctuate: false }],
    [
      { model: 'universal-2', prompt: 'a', temperature: 0, params: { prompt: 'b' } },
      { speech_models: ['universal-2'] },
    ],
    [
      { model: 'universal-2', params: { custom_spelling: [{ from: ['a'], to: 'b' }], audio_end_at: 5 } },
      { speech_models: ['universal-2'], custom_spelling: [{ from: ['a'], to: 'b' }], audio_end_at: 5 },
    ],
  ])('of %j becomes the job %j', (changes, expected) => {
    const { body } = requestIn(play(changes, UPLOADED).steps[1]);
    expect(body).toEqual({
      kind: 'json',
      json: { audio_url: UPLOADED.upload_url, speech_models: ['universal-3-5-pro'], ...expected },
    });
  });

  it.each<[string, unknown[], string, string]>([
    ['whose upload has no URL', [{}], 'next', 'bad_answer'],
    ['whose job has no id', [UPLOADED, { status: 'queued' }], 'next', 'bad_answer'],
    ['whose job has an id that is a path', [UPLOADED, { id: '../x', status: 'queued' }], 'next', 'bad_answer'],
    ['whose job has a status nobody knows', [UPLOADED, QUEUED, { id: 't-1', status: 'lost' }], 'next', 'bad_answer'],
    ['whose answer is no JSON', [UPLOADED, QUEUED, '<html>'], 'next', 'bad_answer'],
    [
      'that has no audio',
      [UPLOADED, QUEUED, { id: 't-1', status: 'error', error: 'File does not appear to contain audio' }],
      'caller',
      'audio_unusable',
    ],
    [
      'in which nobody speaks',
      [
        UPLOADED,
        { id: 't-1', status: 'error', error: 'language_detection cannot be performed on files with no spoken audio.' },
      ],
      'caller',
      'audio_unusable',
    ],
    ['that failed for no reason', [UPLOADED, { id: 't-1', status: 'error' }], 'next', 'job_failed'],
  ])('%s fails', (_, answers, kind, code) => {
    expect(play({}, ...answers).steps.at(-1)).toMatchObject({ type: 'failed', failure: { kind, code } });
  });

  it('survives whatever is answered', () => {
    const members = fc.dictionary(
      fc.constantFrom(
        'upload_url',
        'id',
        'status',
        'text',
        'words',
        'utterances',
        'confidence',
        'language_code',
        'audio_duration',
        'error',
      ),
      fc.oneof(fc.jsonValue(), fc.constantFrom('completed', 't-1', [{}], [{ text: 'a', start: 'b', words: [1] }])),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), members, fc.jsonValue()), { maxLength: 5 }), (answers) => {
        for (const step of play({ model: 'universal-2' }, ...answers).steps)
          expect(['request', 'done', 'failed']).toContain(step.type);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a transcript', () => {
  it('is cut where sentences end', () => {
    const json = {
      text: 'Book a table. Now?',
      confidence: 0.9,
      language_code: 'en_us',
      audio_duration: 3,
      words: [word('Book', 160, 320), word('a', 320, 400), word('table.', 400, 900), word('Now?', 1_000, 1_500)],
    };
    const result = resultOf(json);
    expect(result).toMatchObject({
      language: 'en-US',
      seconds: 3,
      warnings: [],
      utterances: [
        {
          text: 'Book a table.',
          start: 0.16,
          end: 0.9,
          confidence: 0.5,
          words: [{ word: 'Book' }, {}, { word: 'table.', end: 0.9 }],
        },
        { text: 'Now?', start: 1, end: 1.5 },
      ],
    });
    expect(result.utterances).toHaveLength(2);
    expect(result.utterances[0]?.words?.[0]).toEqual({ word: 'Book', start: 0.16, end: 0.32, confidence: 0.5 });
  });

  it('stays whole where its words do not make up its text, and loses none at its end', () => {
    expect(
      resultOf({ text: '你好。', words: [word('你', 0, 100), word('好。', 100, 200)], confidence: 0.8 }).utterances,
    ).toMatchObject([{ text: '你好。', start: 0, end: 0.2, confidence: 0.8 }]);
    expect(
      resultOf({ text: 'One. two', words: [word('One.', 0, 100), word('two', 100, 200)] }).utterances.map(
        ({ text }) => text,
      ),
    ).toEqual(['One.', 'two']);
    expect(resultOf({ text: 'only text' }).utterances).toMatchObject([{ text: 'only text', start: 0, end: 0 }]);
  });

  it('has an utterance for each turn of a speaker, numbered as they appear', () => {
    const turnOf = (speaker: string, start: number) => ({
      ...word('Yes.', start, start + 100, speaker),
      words: [word('Yes.', start, start + 100, speaker)],
    });
    expect(
      resultOf({ text: 'Yes. Yes. Yes.', utterances: [turnOf('B', 0), turnOf('A', 200), turnOf('B', 400)] }).utterances,
    ).toMatchObject([
      { text: 'Yes.', speaker: 0, start: 0, end: 0.1, words: [{ speaker: 0 }] },
      { text: 'Yes.', speaker: 1, start: 0.2, end: 0.3 },
      { text: 'Yes.', speaker: 0 },
    ]);
  });

  it('of silence is empty', () => {
    expect(resultOf({ text: '', words: [], utterances: null })).toMatchObject({ utterances: [] });
    expect(resultOf({ text: null })).toEqual({ utterances: [], language: undefined, seconds: undefined, warnings: [] });
  });

  it('says what Universal-2 was asked in vain', () => {
    const { warnings } = resultOf({ text: '' }, { model: 'universal-2', prompt: 'a', temperature: 0 });
    expect(warnings.map(({ code, param }) => [code, param])).toEqual([
      ['prompt_unsupported', 'prompt'],
      ['temperature_unsupported', 'temperature'],
    ]);
  });
});

describe('a language code', () => {
  it.each([
    ['en_us', 'en-US'],
    ['en_uk', 'en-GB'],
    ['en', 'en'],
    ['pt', 'pt'],
    ['zh-tw', 'zh-TW'],
    ['', undefined],
    ['unknown', undefined],
    [null, undefined],
    [7, undefined],
  ])('%s is %s', (code, language) => {
    expect(languageOf(code)).toBe(language);
  });
});
