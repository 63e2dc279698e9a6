// Every endpoint of files that clients come back for, asked 10,000 times for what is nearly good; and its answers, whatever was asked.
import { describe, expect, it } from 'vitest';
import { ApiError, apiError } from '../../../../src/api/errors.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import { requestOf } from '../../../../src/files/routes/read-upload.ts';
import type { JobEndpoint, ShownJob } from '../../../../src/vendors/compat/jobs.ts';
import { dialects } from '../../../../src/vendors/dialects.ts';
import { providers } from '../../../../src/vendors/index.ts';
import { objectOf } from '../../../../src/vendors/kit/json.ts';
import { drawn } from '../../../fakes/drawn.ts';
import { seeded } from '../../../fakes/random.ts';
import { mutatedMessage } from '../fuzz/mutations.ts';
import { answerOf, doneJob, jobIn, openedAs } from './shown.ts';

const COUNT = drawn(10_000);
const ID = '0123abcd-0000-4000-8000-000000000000';
const known = new Map(providers.map((each) => [each.name, each]));

/** One good request of each dialect. */
const GOOD: Readonly<Record<string, object>> = {
  assemblyai: {
    ...{
      audio_url: `https://voice.example.com/compat/assemblyai/v2/upload/${ID}`,
      speech_models: ['universal-3-5-pro'],
    },
    ...{ language_code: 'en_us', speaker_labels: true, keyterms_prompt: ['vox'], redact_pii: true, punctuate: true },
  },
  speechmatics: {
    type: 'transcription',
    transcription_config: {
      ...{
        language: 'en',
        operating_point: 'enhanced',
        diarization: 'speaker',
        additional_vocab: [{ content: 'vox' }],
      },
      punctuation_overrides: { permitted_marks: ['.'] },
    },
  },
  gladia: {
    ...{
      audio_url: `https://voice.example.com/compat/gladia/file/${ID}`,
      model: 'solaria-1',
      diarization: true,
      subtitles: true,
    },
    ...{ language_config: { languages: ['en', 'de'], code_switching: true }, subtitles_config: { formats: ['srt'] } },
    ...{ custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['vox', { value: 'gate' }] } },
  },
  soniox: {
    ...{ file_id: ID, model: 'stt-async-v5', language_hints: ['en', 'es'], enable_speaker_diarization: true },
    context: { general: [{ key: 'domain', value: 'calls' }], text: 'A call.', terms: ['vox'] },
  },
};

const vendors = dialects.flatMap((dialect) => {
  const endpoints = Object.values(dialect.jobs ?? {});
  const ask = endpoints.find(({ does }) => does === 'ask' || does === 'keepAndAsk');
  return ask === undefined ? [] : [{ name: dialect.name, dialect, ask, endpoints }];
});

/** A refusal is a sentence; anything else is a fault. */
function refusedOr<Value>(attempt: () => Value): Value | undefined {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

const shows = (endpoint: JobEndpoint): boolean =>
  endpoint.does === 'show' || endpoint.does === 'remove' || endpoint.does === 'ask';

it('covers every dialect with such files by a valid request', () =>
  expect(vendors.map(({ name }) => name).sort()).toEqual(Object.keys(GOOD).sort()));

describe.each(vendors)('$name', ({ name, dialect, ask, endpoints }) => {
  it(`answers or refuses each of ${COUNT} nearly valid requests`, () => {
    const random = seeded(20);
    const states = [
      ...[jobIn({ type: 'queued' }), jobIn({ type: 'processing' }), doneJob()],
      jobIn({ type: 'failed', refusal: apiError('unsupported_audio', 'No audio.') }),
    ];
    const shown = endpoints.filter(shows);
    let taken = 0;
    for (let asked = 0; asked < COUNT; asked++) {
      const text = mutatedMessage(JSON.stringify(GOOD[name]), random);
      const clientRequest = refusedOr(() => openedAs(ask, ask.does === 'ask' ? objectOf(text) : { config: text }));
      if (clientRequest === undefined) continue;
      const request = refusedOr(() =>
        requestOf([...parametersFor(dialect, clientRequest, {})], { providers: known }, {}),
      );
      if (request === undefined) continue;
      taken++;
      const job: ShownJob = { ...random.pick(states), asked: clientRequest.asked };
      answerOf(random.pick(shown), job, random.pick(['', 'format=txt', 'format=srt']));
    }
    expect(taken).toBeGreaterThan(COUNT / 20);
  });
});
