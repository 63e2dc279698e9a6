// What AssemblyAI's clients ask of a file and are told of its transcript, member by member; and its SDK with what it has besides.
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../../src/api/errors.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import { assemblyai } from '../../../../src/vendors/assemblyai/compat/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { answerOf, doneJob, endpointAt, jobIn, openedAs } from '../../../vendors/compat/files/shown.ts';
import { assemblyaiClient } from '../../drivers/assemblyai.ts';

const ID = '0123abcd-0000-4000-8000-000000000000';
const audio_url = `https://voice.example.com/compat/assemblyai/v2/upload/${ID}`;
const ask = endpointAt(assemblyai, 'POST /v2/transcript');
const asked = (body: object) =>
  Object.fromEntries(parametersFor(assemblyai, openedAs(ask, { audio_url, ...body }), {}));
const shown = endpointAt(assemblyai, 'GET /v2/transcript/:id');

describe('a request for a transcript', () => {
  it.each([
    [{}, { model: 'assemblyai/universal-3-5-pro' }],
    [{ speech_models: ['universal-2'] }, { model: 'assemblyai/universal-2' }],
    [{ speech_model: 'best' }, { model: 'assemblyai/universal-3-5-pro' }],
    [{ speech_models: ['deepgram/nova-3'], punctuate: false }, { model: 'deepgram/nova-3' }],
    [{ language_code: 'en_us' }, { language: 'en-US' }],
    [{ language_detection: true }, { language: 'auto' }],
    [{ speaker_labels: true }, { diarization: 'true' }],
    [{ keyterms_prompt: ['vox', 'gate'] }, { keyterms: '["vox","gate"]' }],
    [{ word_boost: ['vox'] }, { keyterms: '["vox"]' }],
    [{ redact_pii: true }, { redact: '["pii"]', provider_params: '{"redact_pii":true}' }],
    [
      { prompt: 'A call.', temperature: 0.2 },
      { prompt: 'A call.', temperature: '0.2' },
    ],
    [{ punctuate: false }, { provider_params: '{"punctuate":false}' }],
    [{ webhook_url: null, auto_chapters: false }, {}],
  ])('works: %j', (body, parameters) => expect(asked(body)).toMatchObject(parameters));

  it('works for a file that was uploaded here', () =>
    expect(openedAs(ask, { audio_url })).toMatchObject({ fileId: ID }));

  it('works for the address of a file, whose query is not kept', () => {
    const url = 'https://user@example.com/speech.wav?signature=1';
    expect(openedAs(ask, { audio_url: url })).toMatchObject({
      source: { url, param: 'audio_url' },
      asked: { audio_url: 'https://example.com/speech.wav' },
    });
  });

  it.each([
    [{ audio_url: undefined }, 'audio_url'],
    [{ webhook_url: ['https://example.com'] }, 'webhook_url'],
    [{ multichannel: true }, 'multichannel'],
    [{ summarization: true }, 'summarization'],
    [{ language_code: 'english!' }, 'language_code'],
  ])('fails: %j', (body, param) => {
    expect(() => asked(body)).toThrow(ApiError);
    expect(() => asked(body)).toThrow(expect.objectContaining({ extras: { param } }));
  });
});

describe('the answer with a transcript', () => {
  const own = { audio_url, speaker_labels: true };

  it('says completed, with words in milliseconds and speakers as letters', () =>
    expect(answerOf(shown, doneJob(own))).toMatchObject({
      ...{
        id: 'job_1',
        status: 'completed',
        audio_url,
        text: 'Nine, one. Two.',
        audio_duration: 4,
        language_code: 'en',
      },
      words: [
        { text: 'Nine,', start: 200, end: 600, confidence: 0.8, speaker: 'A' },
        { text: 'one.', start: 900, end: 1_400, confidence: 0.6, speaker: 'A' },
        { text: 'Two.', start: 2_000, end: 2_500, speaker: 'B' },
      ],
      utterances: [
        { text: 'Nine, one.', start: 200, end: 1_500, speaker: 'A', words: [{ text: 'Nine,' }, { text: 'one.' }] },
        { text: 'Two.', start: 2_000, end: 2_500, speaker: 'B', words: [{ text: 'Two.' }] },
      ],
    }));

  it('splits sentences by punctuation, and paragraphs by turns', () => {
    const partsAt = (name: string) => answerOf(endpointAt(assemblyai, `GET /v2/transcript/:id/${name}`), doneJob(own));
    expect(partsAt('paragraphs')).toMatchObject({ paragraphs: [{ text: 'Nine, one.' }, { text: 'Two.' }] });
    expect(partsAt('sentences')).toMatchObject({ sentences: [{ text: 'Nine, one.' }, { text: 'Two.' }] });
  });

  it('omits speakers where they were not requested', () =>
    expect(answerOf(shown, doneJob({ audio_url }))).toMatchObject({ utterances: null }));

  it.each([
    [{ type: 'queued' }, { status: 'queued', text: null }],
    [{ type: 'processing' }, { status: 'processing', words: null }],
    [
      { type: 'failed', refusal: apiError('unsupported_audio', 'No audio.') },
      { status: 'error', error: 'No audio.' },
    ],
  ] as const)('reports the state %o', (state, told) => expect(answerOf(shown, jobIn(state, own))).toMatchObject(told));

  it('fails in other formats before it is completed', () => {
    const srt = endpointAt(assemblyai, 'GET /v2/transcript/:id/srt');
    expect(answerOf(srt, jobIn({ type: 'queued' }, own))).toEqual({ error: expect.stringMatching(/status queued/) });
  });
});

describe('its SDK', () => {
  let gateway: LiveGateway;
  const { bytes } = sampleAudio('commands.wav');
  const speech_models = ['local/commands-en'];
  beforeAll(async () => {
    gateway = await startLiveGateway();
  });

  it('returns subtitles, sentences, paragraphs and a list, and deletes', async () => {
    const { transcripts } = assemblyaiClient(gateway);
    const { id, text } = await transcripts.transcribe({ audio: bytes, speech_models }, { pollingInterval: 20 });
    expect(await transcripts.subtitles(id, 'srt')).toMatch(/^1\n00:00:0\d,\d{3} --> /);
    expect(await transcripts.subtitles(id, 'vtt')).toMatch(/^WEBVTT\n/);
    const { sentences } = await transcripts.sentences(id);
    expect(sentences.map((each) => each.text).join(' ')).toBe(text);
    const { paragraphs } = await transcripts.paragraphs(id);
    expect(paragraphs.map((each) => each.text).join(' ')).toBe(text);
    const { transcripts: all, page_details } = await transcripts.list();
    expect(all).toMatchObject([{ id, status: 'completed', error: null }]);
    expect(page_details).toMatchObject({ result_count: 1, next_url: null });
    expect(await transcripts.delete(id)).toMatchObject({ id, text: 'Deleted by user.' });
    await expect(transcripts.get(id)).rejects.toThrow('no such job');
  });

  it('gets the warnings of what was cut', async () => {
    const { transcripts } = assemblyaiClient(gateway);
    const keyterms_prompt = Array.from({ length: 101 }, (_, at) => `term${at}`);
    const asked = { audio: bytes, speech_models, keyterms_prompt };
    expect(await transcripts.transcribe(asked, { pollingInterval: 20 })).toMatchObject({
      status: 'completed',
      warnings: [{ code: 'parameter_shortened', param: 'keyterms_prompt' }, { param: 'keyterms' }],
    });
  });

  it('gets an error for a file without audio', async () => {
    const { transcripts } = assemblyaiClient(gateway);
    const asked = { audio: Buffer.from('no audio at all'), speech_models };
    const { status, error } = await transcripts.transcribe(asked, { pollingInterval: 20 });
    expect([status, error]).toEqual(['error', expect.stringMatching(/\.$/)]);
  });
});
