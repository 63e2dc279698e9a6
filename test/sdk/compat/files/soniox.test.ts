// What Soniox' clients ask of a file and are told of its transcription, member by member; and its SDK with what it has besides.
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../../src/api/errors.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import { soniox } from '../../../../src/vendors/soniox/compat/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { answerOf, doneJob, endpointAt, FILE, jobIn, openedAs } from '../../../vendors/compat/files/shown.ts';
import { sonioxClient } from '../../drivers/soniox.ts';

const file_id = 'file_1';
const ask = endpointAt(soniox, 'POST /v1/transcriptions');
const asked = (body: object) => Object.fromEntries(parametersFor(soniox, openedAs(ask, { file_id, ...body }), {}));
const shown = endpointAt(soniox, 'GET /v1/transcriptions/:id');
const transcript = endpointAt(soniox, 'GET /v1/transcriptions/:id/transcript');

describe('a request for a transcription', () => {
  it.each([
    [{}, { model: 'soniox/stt-async-v5' }],
    [{ model: 'stt-async-v4' }, { model: 'soniox/stt-async-v5' }],
    [{ model: 'local/digits-en' }, { model: 'local/digits-en' }],
    [{ language_hints: ['en'] }, { language: 'en' }],
    [{ language_hints: ['en', 'es'] }, { languages: '["en","es"]' }],
    [{ enable_language_identification: true }, { language: 'auto' }],
    [{ enable_speaker_diarization: true }, { diarization: 'true' }],
    [{ context: { terms: ['vox'], text: 'A call.' } }, { keyterms: '["vox"]', prompt: 'A call.' }],
    [{ client_reference_id: 'a' }, { provider_params: '{"client_reference_id":"a"}' }],
    [{ audio_url: null, webhook_url: null }, {}],
  ])('works: %j', (body, parameters) => expect(asked(body)).toMatchObject(parameters));

  it.each([
    [{ audio_url: 'https://example.com/speech.wav' }, 'audio_url'],
    [{ webhook_url: { a: 1 } }, 'webhook_url'],
    [{ file_id: undefined }, 'file_id'],
    [{ translation: { type: 'one_way' } }, 'translation'],
  ])('fails: %j', (body, param) => {
    expect(() => asked(body)).toThrow(ApiError);
    expect(() => asked(body)).toThrow(expect.objectContaining({ extras: { param } }));
  });
});

describe('the answer with a transcription', () => {
  const own = { file_id, model: 'stt-async-v5' };
  const created_at = '2026-01-01T00:00:00.000Z';

  it.each([
    [{ type: 'queued' }, { status: 'queued' }],
    [{ type: 'processing' }, { status: 'processing' }],
    [
      { type: 'failed', refusal: apiError('unsupported_audio', 'No audio.') },
      { status: 'error', error_type: 'unsupported_audio', error_message: 'No audio.' },
    ],
  ] as const)('reports the state %o', (state, told) =>
    expect(answerOf(shown, jobIn(state, own))).toEqual({
      ...{ ...own, id: 'job_1', created_at, filename: 'speech.wav', audio_url: null },
      ...{ enable_speaker_diarization: false, enable_language_identification: false },
      ...told,
    }),
  );

  it.each([
    [{ enable_speaker_diarization: true }, { enable_speaker_diarization: true, enable_language_identification: false }],
    [
      { enable_speaker_diarization: null, enable_language_identification: 'True' },
      { enable_speaker_diarization: false, enable_language_identification: true },
    ],
  ])('shows booleans for %j', (flags, shownFlags) =>
    expect(answerOf(shown, jobIn({ type: 'queued' }, { ...own, ...flags }))).toMatchObject(shownFlags),
  );

  it('contains tokens that together are its text, once it is completed', () => {
    expect(answerOf(shown, doneJob(own))).toMatchObject({ status: 'completed', audio_duration_ms: 4_000 });
    const told = answerOf(transcript, doneJob(own)) as { text: string; tokens: { text: string }[] };
    expect(told.tokens).toMatchObject([
      { text: 'Nine,', start_ms: 200, end_ms: 600, confidence: 0.8, speaker: '1', language: 'en' },
      { text: ' one.', start_ms: 900, end_ms: 1_400 },
      { text: ' Two.', speaker: '2' },
    ]);
    expect(told.tokens.map(({ text }) => text).join('')).toBe(told.text);
  });

  it('omits the transcript before that', () =>
    expect(answerOf(transcript, jobIn({ type: 'queued' }, own))).toMatchObject({
      ...{ status_code: 409, error_type: 'transcription_invalid_state', request_id: 'req_1' },
    }));

  it('describes its file', () =>
    expect(answerOf(endpointAt(soniox, 'GET /v1/files/:id'), FILE)).toEqual({
      ...{ id: 'file_1', filename: 'speech.wav', size: 9, created_at, client_reference_id: null },
    }));
});

describe('its SDK', () => {
  let gateway: LiveGateway;
  const { bytes } = sampleAudio('commands.wav');
  const model = 'local/commands-en';
  beforeAll(async () => {
    gateway = await startLiveGateway();
  });

  it('gets its file’s name back as sent', async () => {
    const { files } = sonioxClient(gateway);
    const { id, filename } = await files.upload(bytes, { filename: 'Müller café.wav' });
    expect(filename).toBe('Müller café.wav');
    await files.delete(id);
  });

  it('uploads, lists, transcribes and deletes both', async () => {
    const { files, stt } = sonioxClient(gateway);
    const file = await files.upload(bytes, { filename: 'speech.wav', client_reference_id: 'order-1' });
    expect(file).toMatchObject({ filename: 'speech.wav', size: bytes.length, client_reference_id: 'order-1' });
    expect((await files.list()).files.map(({ id }) => id)).toEqual([file.id]);
    expect((await files.get(file.id))?.id).toBe(file.id);
    const job = await stt.create({ model, file_id: file.id });
    const done = await job.wait({ interval_ms: 1 });
    expect((await done.getTranscript())?.text).toMatch(/timer/);
    expect((await stt.list()).transcriptions.map(({ id }) => id)).toEqual([job.id]);
    await stt.destroy(job.id);
    expect([await stt.get(job.id), await files.get(file.id)]).toEqual([null, null]);
  });

  it('gets an error for a file without audio', async () => {
    const { stt } = sonioxClient(gateway);
    const heard = await stt.transcribe({ model, file: Buffer.from('no audio at all'), filename: 'a.wav', wait: true });
    expect([heard.status, heard.error_message]).toEqual(['error', expect.stringMatching(/\.$/)]);
  });

  it('gets an error for a missing file', async () => {
    const asking = sonioxClient(gateway).stt.create({ model, file_id: crypto.randomUUID() });
    await expect(asking).rejects.toMatchObject({ statusCode: 404 });
  });
});
