// What Gladia's clients ask of a file and are told of its job, member by member; and its SDK with what it has besides.
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../../src/api/errors.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import { KEPT_FILES_MAX } from '../../../../src/jobs/kept-files.ts';
import { gladia } from '../../../../src/vendors/gladia/compat/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { answerOf, doneJob, endpointAt, jobIn, openedAs } from '../../../vendors/compat/files/shown.ts';
import { gladiaClient } from '../../drivers/gladia.ts';

const ID = '0123abcd-0000-4000-8000-000000000000';
const audio_url = `https://voice.example.com/compat/gladia/file/${ID}`;
const ask = endpointAt(gladia, 'POST /v2/pre-recorded');
const asked = (body: object) => Object.fromEntries(parametersFor(gladia, openedAs(ask, { audio_url, ...body }), {}));
const shown = endpointAt(gladia, 'GET /v2/pre-recorded/:id');

describe('a request for a job', () => {
  it.each([
    [{}, { model: 'gladia/solaria-1' }],
    [{ model: 'local/digits-en' }, { model: 'local/digits-en' }],
    [{ language_config: { languages: ['en'] } }, { language: 'en' }],
    [
      { language_config: { languages: ['en', 'de'], code_switching: true } },
      { languages: '["en","de"]', provider_params: '{"code_switching":true}' },
    ],
    [
      { diarization: true, diarization_config: { number_of_speakers: 2 } },
      { diarization: 'true', provider_params: '{"number_of_speakers":2}' },
    ],
    [
      { custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['vox', 'gate'] } },
      { keyterms: '["vox","gate"]' },
    ],
    [{ pii_redaction: true }, { redact: '["pii"]' }],
    [{ translation: false, callback: false, subtitles: true, subtitles_config: { formats: ['vtt'] } }, {}],
  ])('works: %j', (body, parameters) => expect(asked(body)).toMatchObject(parameters));

  it('uses the model in the address, where it names none itself', () => {
    const modelIn = (body: object) => openedAs(ask, { audio_url, ...body }, 'model=local/digits-en').model;
    expect([modelIn({}), modelIn({ model: 'soniox/stt-async-v5' })]).toEqual([
      'local/digits-en',
      'soniox/stt-async-v5',
    ]);
  });

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
    [{ audio_url: '' }, 'audio_url'],
    [{ callback: true }, 'callback_config'],
    [{ summarization: true }, 'summarization'],
    [{ sentences: true }, 'sentences'],
    [{ subtitles_config: { formats: ['docx'] } }, 'subtitles_config'],
  ])('fails: %j', (body, param) => {
    expect(() => asked(body)).toThrow(ApiError);
    expect(() => asked(body)).toThrow(expect.objectContaining({ extras: { param } }));
  });
});

describe('the answer with a job', () => {
  const own = { audio_url, custom_metadata: { label: 'vox' } };

  it.each([
    [{ type: 'queued' }, { status: 'queued', completed_at: null, error_code: null }],
    [{ type: 'processing' }, { status: 'processing', result: null }],
    [
      { type: 'failed', refusal: apiError('unsupported_audio', 'No audio.') },
      { status: 'error', error_code: 400, error_message: 'No audio.', completed_at: '2026-01-01T00:00:02.000Z' },
    ],
  ] as const)('reports the state %o', (state, told) => expect(answerOf(shown, jobIn(state, own))).toMatchObject(told));

  it('contains words with their spaces once it is done', () =>
    expect(answerOf(shown, doneJob(own))).toMatchObject({
      ...{ id: 'job_1', kind: 'pre-recorded', status: 'done', request_params: { audio_url } },
      ...{
        custom_metadata: { label: 'vox' },
        file: { id: 'file_1', filename: 'speech.wav', extension: 'wav', size: 9 },
      },
      result: {
        metadata: { audio_duration: 4, number_of_distinct_channels: 1, billing_time: 4, transcription_time: 2 },
        transcription: {
          ...{ full_transcript: 'Nine, one. Two.', languages: ['en'] },
          utterances: [
            {
              ...{ text: 'Nine, one.', start: 0.2, end: 1.5, speaker: 0, channel: 0, language: 'en' },
              words: [{ word: 'Nine,', confidence: 0.8 }, { word: ' one.' }],
            },
            { text: 'Two.', speaker: 1 },
          ],
        },
      },
    }));

  it('contains the requested subtitles', () => {
    const both = { subtitles: true, subtitles_config: { formats: ['vtt', 'srt'] } };
    const subtitles = [
      { format: 'srt', subtitles: expect.stringMatching(/^1\n00:00:00,200 --> /) },
      { format: 'vtt', subtitles: expect.stringMatching(/^WEBVTT\n\n00:00:00\.200 --> /) },
    ];
    expect(answerOf(shown, doneJob(both))).toMatchObject({ result: { transcription: { subtitles } } });
    expect(answerOf(shown, doneJob({ subtitles: true }))).toMatchObject({
      result: { transcription: { subtitles: [{ format: 'srt' }] } },
    });
  });
});

describe('its SDK', () => {
  let gateway: LiveGateway;
  const { bytes, pcm, sampleRate } = sampleAudio('commands.wav');
  const wav = new File([bytes], 'speech.wav');
  const seconds = pcm.byteLength / 2 / sampleRate;
  const model = 'local/commands-en' as never;
  const often = { interval: 20 };
  beforeAll(async () => {
    gateway = await startLiveGateway();
  });

  it('uploads, polls, lists and deletes', async () => {
    const client = gladiaClient(gateway).preRecordedV2();
    const { audio_url, audio_metadata } = await client.uploadFile(wav);
    expect(audio_url).toBe(`${gateway.url}/compat/gladia/file/${audio_metadata.id}`);
    expect(audio_metadata).toMatchObject({ filename: 'speech.wav', extension: 'wav', size: wav.size });
    expect(audio_metadata).toMatchObject({ audio_duration: seconds, number_of_channels: 1 });
    const { id, file, result } = await client.createAndPoll({ audio_url, model }, often);
    expect(file).toMatchObject({ audio_duration: seconds, number_of_channels: 1 });
    expect(result?.transcription?.utterances.length).toBeGreaterThan(0);
    expect((await client.list()).items.map((each) => each.id)).toEqual([id]);
    expect(await client.delete(id)).toBe(true);
    await expect(client.get(id)).rejects.toMatchObject({ status: 404 });
  });

  it('reports a length of 0 for a file that cannot be measured', async () => {
    const { audio_metadata } = await gladiaClient(gateway)
      .preRecordedV2()
      .uploadFile(new File(['no audio'], 'a.bin'));
    expect(audio_metadata).toMatchObject({ audio_duration: 0, number_of_channels: 1 });
  });

  it('refuses a file that claims an absurd length, and keeps no room for it', async () => {
    const absurd = Buffer.from(bytes);
    // One sample of one byte a second.
    absurd.writeUInt32LE(1, 24);
    absurd.writeUInt32LE(1, 28);
    absurd.writeUInt16LE(1, 32);
    absurd.writeUInt16LE(8, 34);
    const client = gladiaClient(gateway).preRecordedV2();
    for (let file = 0; file <= KEPT_FILES_MAX; file++) {
      await expect(client.uploadFile(new File([absurd], 'a.wav'))).rejects.toMatchObject({ status: 400 });
    }
  });

  it('gets an error for a file without audio', async () => {
    const failing = gladiaClient(gateway)
      .preRecordedV2()
      .transcribe(new File(['no audio at all'], 'speech.wav'), { model }, often);
    await expect(failing).rejects.toThrow('error code: 400');
  });
});
