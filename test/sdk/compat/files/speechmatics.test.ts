// What Speechmatics' clients ask of a file and are told of its job, member by member; and its SDK with what it has besides.
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../../src/api/errors.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import { speechmatics } from '../../../../src/vendors/speechmatics/compat/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { answerOf, doneJob, endpointAt, jobIn, openedAs } from '../../../vendors/compat/files/shown.ts';
import { speechmaticsFiles } from '../../drivers/speechmatics.ts';

const ask = endpointAt(speechmatics, 'POST /v2/jobs');
const configOf = (transcription_config: object, more: object = {}) => ({
  config: JSON.stringify({ type: 'transcription', transcription_config, ...more }),
});
const asked = (fields: object) => Object.fromEntries(parametersFor(speechmatics, openedAs(ask, fields), {}));

describe('a request for a job', () => {
  it.each([
    [{ language: 'en' }, { model: 'speechmatics/enhanced', language: 'en' }],
    [{ language: 'en', operating_point: 'standard' }, { model: 'speechmatics/standard' }],
    [
      { language: 'de', model: 'local/digits-en' },
      { model: 'local/digits-en', language: 'de' },
    ],
    [{ language: 'auto' }, { language: 'auto' }],
    [{ language: 'en', output_locale: 'en-GB' }, { language: 'en-GB' }],
    [{ language: 'en', diarization: 'speaker' }, { diarization: 'true' }],
    [{ additional_vocab: ['vox', { content: 'gate' }] }, { keyterms: '["vox","gate"]' }],
    [{ enable_entities: true }, { provider_params: '{"enable_entities":true}' }],
  ])('works: %j', (config, parameters) => expect(asked(configOf(config))).toMatchObject(parameters));

  it.each([
    [{}, 'config'],
    [{ config: 'no JSON' }, 'config'],
    [{ config: '{"type":"alignment"}' }, 'config'],
    [configOf({ diarization: 'channel' }), 'diarization'],
    [configOf({}, { fetch_data: {} }), 'fetch_data.url'],
    [configOf({}, { fetch_data: { url: 'https://example.com', auth_headers: ['A: b'] } }), 'fetch_data.auth_headers'],
    [configOf({}, { notification_config: [{}] }), 'notification_config'],
    [configOf({}, { translation_config: { target_languages: ['de'] } }), 'translation_config'],
  ])('fails: %j', (fields, param) => {
    expect(() => asked(fields)).toThrow(ApiError);
    expect(() => asked(fields)).toThrow(expect.objectContaining({ extras: { param } }));
  });
});

describe('the answer with a job', () => {
  const shown = endpointAt(speechmatics, 'GET /v2/jobs/:id');
  const transcript = endpointAt(speechmatics, 'GET /v2/jobs/:id/transcript');
  const own = { type: 'transcription', transcription_config: { language: 'en', diarization: 'speaker' } };
  const created_at = '2026-01-01T00:00:00.000Z';

  it.each([
    [{ type: 'queued' }, { status: 'running' }],
    [{ type: 'processing' }, { status: 'running' }],
    [
      { type: 'failed', refusal: apiError('unsupported_audio', 'No audio.') },
      { status: 'rejected', errors: [{ timestamp: '2026-01-01T00:00:02.000Z', message: 'No audio.' }] },
    ],
  ] as const)('reports the state %o', (state, told) =>
    expect(answerOf(shown, jobIn(state, own))).toEqual({
      job: { id: 'job_1', created_at, data_name: 'speech.wav', config: own, ...told },
    }),
  );

  it('lists words and marks separately when it is done', () => {
    expect(answerOf(shown, doneJob(own))).toMatchObject({ job: { status: 'done', duration: 4 } });
    const word = (content: string, speaker: string) => ({ type: 'word', alternatives: [{ content, speaker }] });
    const mark = (content: string) => ({ type: 'punctuation', attaches_to: 'previous', alternatives: [{ content }] });
    expect(answerOf(transcript, doneJob(own))).toMatchObject({
      ...{ format: '2.9', job: { id: 'job_1', duration: 4, created_at, data_name: 'speech.wav' } },
      metadata: { type: 'transcription', transcription_config: own.transcription_config },
      results: [word('Nine', 'S1'), mark(','), word('one', 'S1'), mark('.'), word('Two', 'S2'), mark('.')],
    });
  });

  it.each([
    ['txt', own, 'SPEAKER: S1\nNine, one.\nSPEAKER: S2\nTwo.\n'],
    ['txt', {}, 'Nine, one. Two.\n'],
    ['srt', own, expect.stringMatching(/^1\n00:00:00,200 --> .*\nS1: Nine, one\.\n/)],
    ['docx', own, { code: 400, error: 'Bad Request', detail: expect.stringContaining('txt') }],
  ])('comes as %s for %o', (format, config, told) =>
    expect(answerOf(transcript, doneJob(config), `format=${format}`)).toEqual(told),
  );

  it.each([
    [{ type: 'processing' }, 'Transcription not ready'],
    [{ type: 'failed', refusal: apiError('unsupported_audio', 'No audio.') }, 'Job rejected'],
  ] as const)('omits the transcript in the state %o', (state, error) =>
    expect(answerOf(transcript, jobIn(state, own))).toMatchObject({ code: 404, error }),
  );

  it.each([
    ['not_found', { param: 'id' }, 'Job not found'],
    ['missing_file', { param: 'data_file' }, 'Missing data_file'],
    ['model_not_found', {}, 'Requested product not available'],
    ['overloaded', {}, 'Internal Server Error'],
  ] as const)('refuses for %s by a name that clients know', (code, extras, error) =>
    expect(JSON.parse(speechmatics.refusal(apiError(code, 'Why.', extras), 'req_1').body)).toMatchObject({ error }),
  );
});

describe('its SDK', () => {
  let gateway: LiveGateway;
  const wav = new File([sampleAudio('commands.wav').bytes], 'speech.wav');
  const config = { transcription_config: { language: 'en', model: 'local/commands-en' as never } };
  beforeAll(async () => {
    gateway = await startLiveGateway();
  });

  it('gets the transcript, lists jobs and deletes them', { timeout: 15_000 }, async () => {
    const client = speechmaticsFiles(gateway);
    const heard = await client.transcribe(wav, config);
    const { id } = (heard as { job: { id: string } }).job;
    expect((heard as { results: unknown[] }).results.length).toBeGreaterThan(0);
    expect(await client.getJobResult(id, 'srt')).toMatch(/^1\n00:00/);
    expect((await client.listJobs()).jobs.map((job) => job.id)).toEqual([id]);
    expect(await client.deleteJob(id)).toMatchObject({ job: { id, status: 'deleted' } });
    await expect(client.getJob(id)).rejects.toThrow('Job not found');
  });

  it('gets an error for a file without audio', { timeout: 15_000 }, async () => {
    const failing = speechmaticsFiles(gateway).transcribe(new File(['no audio at all'], 'speech.wav'), config);
    await expect(failing).rejects.toMatchObject([{ message: expect.stringMatching(/\.$/) }]);
  });

  it('gets an error for an unknown key', async () => {
    const client = speechmaticsFiles({ ...gateway, key: 'sk_vox_unknown' });
    await expect(client.listJobs()).rejects.toThrow('Permission Denied');
  });
});
