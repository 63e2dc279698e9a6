// What clients ask of files besides their transcript, through a whole gateway: subtitles, searches, samples without a header, and
// addresses of files.
import { beforeAll, describe, expect, it } from 'vitest';
import { alawSample, mulawSample } from '../../../../src/audio/pcm.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { assemblyaiClient } from '../../drivers/assemblyai.ts';

const MODEL = 'local/commands-en';
const FIRST = 'turn on the kitchen lights';
const wav = () => new Uint8Array(sampleAudio('commands.wav').bytes);
const samples = () => wav().subarray(44, 44 + 8 * 32_000);

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

const send = async (
  path: string,
  headers: Record<string, string>,
  body?: FormData | Uint8Array | string,
  method = 'POST',
) => {
  const response = await fetch(live.url + path, { method, headers, body: (body ?? null) as string });
  return { response, text: await response.text() };
};
const formOf = (fields: readonly (readonly [string, string])[], file = true): FormData => {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  if (file) form.append('file', new Blob([wav()]), 'speech.wav');
  return form;
};

describe('samples without a header, of a Deepgram client', () => {
  const both = (bytes: Uint8Array): Uint8Array => {
    const from = new Int16Array(bytes.slice().buffer);
    return new Uint8Array(Int16Array.from({ length: from.length * 2 }, (_, at) => from[at >> 1]!).buffer);
  };

  /** The code whose sample is nearest. */
  const coded = (bytes: Uint8Array, sampleOf: (code: number) => number): Uint8Array => {
    const codes = Array.from({ length: 256 }, (_, code) => ({ code, sample: sampleOf(code) }));
    codes.sort((one, other) => one.sample - other.sample);
    return Uint8Array.from(new Int16Array(bytes.slice().buffer), (sample) => {
      let [low, high] = [0, codes.length - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (codes[middle]!.sample < sample) low = middle + 1;
        else high = middle;
      }
      return codes[low]!.code;
    });
  };

  it.each<[string, () => Uint8Array]>([
    ['encoding=linear16&sample_rate=16000', samples],
    ['encoding=linear16', samples],
    ['encoding=linear16&sample_rate=16000&channels=2', () => both(samples())],
    ['encoding=mulaw&sample_rate=16000', () => coded(samples(), mulawSample)],
    ['encoding=alaw&sample_rate=16000', () => coded(samples(), alawSample)],
  ])('follow %s', async (query, body) => {
    const path = `/compat/deepgram/v1/listen?model=${MODEL}&${query}`;
    const { response, text } = await send(path, { Authorization: `Token ${live.key}` }, body());
    expect(response.status).toBe(200);
    const { results, metadata } = JSON.parse(text);
    expect(results.channels[0].alternatives[0].transcript).toContain(FIRST);
    expect(metadata.duration).toBeCloseTo(8, 1);
  });

  it.each([
    ['encoding=mulaw&sample_rate=1', 'sample_rate'],
    ['encoding=mulaw&sample_rate=8k', 'sample_rate'],
    ['encoding=alaw&channels=99', 'channels'],
  ])('fail with an impossible number: %s', async (query, param) => {
    const path = `/compat/deepgram/v1/listen?model=${MODEL}&${query}`;
    const { response, text } = await send(path, { Authorization: `Token ${live.key}` }, samples());
    expect([response.status, JSON.parse(text).err_msg]).toEqual([400, expect.stringContaining(`\`${param}\``)]);
  });
});

describe('additional formats, of an ElevenLabs client', () => {
  const convert = (formats: string) =>
    send(
      '/compat/elevenlabs/v1/speech-to-text',
      { 'xi-api-key': live.key },
      formOf([
        ['model_id', MODEL],
        ['additional_formats', formats],
      ]),
    );

  it('contain subtitles and text, in the requested layout', async () => {
    const asked = [{ format: 'srt', max_characters_per_line: 20 }, { format: 'txt' }];
    const { response, text } = await convert(JSON.stringify(asked));
    expect(response.status).toBe(200);
    const [srt, txt] = JSON.parse(text).additional_formats;
    expect(srt).toMatchObject({ requested_format: 'srt', file_extension: 'srt', is_base64_encoded: false });
    expect(srt.content).toMatch(/^1\n00:00:0\d,\d{3} --> /);
    for (const line of srt.content.split('\n')) if (!line.includes('-->')) expect(line.length).toBeLessThanOrEqual(20);
    expect(txt).toMatchObject({ requested_format: 'txt', content_type: 'text/plain' });
    expect(txt.content).toContain(`${FIRST}\n`);
  });

  it('cause a warning where unsupported, and the others arrive', async () => {
    const { response, text } = await convert('[{"format":"docx"},{"format":"srt"}]');
    expect([response.status, JSON.parse(text).additional_formats.length]).toEqual([200, 1]);
    expect(response.headers.get('voxgate-warning')).toMatch(/^parameter_ignored/);
  });

  it.each(['srt', '{}', '[1]', '[{"format":7}]'])('fail where unreadable: %s', async (formats) => {
    const { response, text } = await convert(formats);
    expect([response.status, JSON.parse(text).detail.message]).toEqual([
      400,
      expect.stringContaining('additional_formats'),
    ]);
  });
});

describe('captions and searches, of an AssemblyAI client', () => {
  const headers = () => ({ Authorization: live.key });
  let id: string;
  beforeAll(async () => {
    const { transcripts } = assemblyaiClient(live);
    ({ id } = await transcripts.transcribe({ audio: Buffer.from(wav()), speech_models: [MODEL] } as never, {
      pollingInterval: 50,
    }));
  });
  const get = (rest: string) => send(`/compat/assemblyai/v2/transcript/${id}${rest}`, headers(), undefined, 'GET');

  it.each([12, 20, 32, 64, 128])('keep to %i characters per caption', async (most) => {
    for (const format of ['srt', 'vtt']) {
      const { response, text } = await get(`/${format}?chars_per_caption=${most}`);
      expect(response.status).toBe(200);
      const captions = text.split('\n\n').filter((each) => each.includes('-->'));
      expect(captions.length).toBeGreaterThan(1);
      for (const caption of captions) {
        const said = caption.slice(caption.indexOf('\n', caption.indexOf('-->')) + 1).trim();
        if (said.includes(' ')) expect(said.length).toBeLessThanOrEqual(most);
      }
    }
  });

  it('fail with an invalid number', async () => {
    for (const most of ['0', '-1', 'many', '1.5']) {
      const { response, text } = await get(`/srt?chars_per_caption=${most}`);
      expect([response.status, JSON.parse(text).error]).toEqual([400, expect.stringContaining('chars_per_caption')]);
    }
  });

  it('find words and phrases, with their places and times', async () => {
    const { text } = await get('/word-search?words=Kitchen,turn%20on,never');
    const found = JSON.parse(text);
    expect(found).toMatchObject({ id, total_count: expect.any(Number) });
    const [kitchen, phrase, ...more] = found.matches;
    expect(more).toEqual([]);
    expect([kitchen.text, phrase.text]).toEqual(['kitchen', 'turn on']);
    expect([kitchen.indexes[0], phrase.indexes[0]]).toEqual([3, 0]);
    for (const { count, timestamps, indexes } of [kitchen, phrase]) {
      expect([timestamps.length, indexes.length]).toEqual([count, count]);
      for (const [start, end] of timestamps) expect(end).toBeGreaterThan(start);
    }
    expect((await get('/word-search')).response.status).toBe(400);
  });
});

it('learns how long sessions are kept, when a Gladia client requests an unknown one', async () => {
  for (const path of ['/compat/gladia/v2/live/req_1', '/v2/live/req_1']) {
    const { response, text } = await send(path, { 'x-gladia-key': live.key }, undefined, 'GET');
    expect([response.status, JSON.parse(text).message]).toEqual([
      404,
      expect.stringContaining('a session is kept for 24 h'),
    ]);
  }
});

describe('the address of a file', () => {
  const address = 'https://10.0.0.1/speech.wav';
  const json = { 'Content-Type': 'application/json' };

  it.each<[string, string, () => Record<string, string>, () => FormData | string]>([
    [
      'url',
      '/v1/audio/transcriptions',
      () => ({ Authorization: `Bearer ${live.key}` }),
      () =>
        formOf(
          [
            ['model', MODEL],
            ['url', address],
          ],
          false,
        ),
    ],
    [
      'file_url',
      '/v1/audio/transcriptions',
      () => ({ Authorization: `Bearer ${live.key}` }),
      () =>
        formOf([
          ['model', MODEL],
          ['file_url', address],
        ]),
    ],
    [
      'url',
      '/compat/openai/v1/audio/transcriptions',
      () => ({ Authorization: `Bearer ${live.key}` }),
      () =>
        formOf(
          [
            ['model', MODEL],
            ['url', address],
          ],
          false,
        ),
    ],
    [
      'cloud_storage_url',
      '/compat/elevenlabs/v1/speech-to-text',
      () => ({ 'xi-api-key': live.key }),
      () =>
        formOf(
          [
            ['model_id', MODEL],
            ['cloud_storage_url', address],
          ],
          false,
        ),
    ],
    [
      'source_url',
      '/compat/elevenlabs/v1/speech-to-text',
      () => ({ 'xi-api-key': live.key }),
      () =>
        formOf(
          [
            ['model_id', MODEL],
            ['source_url', address],
          ],
          false,
        ),
    ],
    [
      'url',
      `/compat/deepgram/v1/listen?model=${MODEL}`,
      () => ({ ...json, Authorization: `Token ${live.key}` }),
      () => JSON.stringify({ url: address }),
    ],
    [
      'audio_url',
      '/compat/assemblyai/v2/transcript',
      () => ({ ...json, Authorization: live.key }),
      () => JSON.stringify({ audio_url: address }),
    ],
    [
      'audio_url',
      '/compat/gladia/v2/pre-recorded',
      () => ({ ...json, 'x-gladia-key': live.key }),
      () => JSON.stringify({ audio_url: address }),
    ],
    [
      'audio_url',
      '/compat/soniox/v1/transcriptions',
      () => ({ ...json, Authorization: `Bearer ${live.key}` }),
      () => JSON.stringify({ model: 'stt-async-v5', audio_url: address }),
    ],
  ])('fails in %s of %s where it is private or has another name, with advice', async (name, path, headers, body) => {
    const { response, text } = await send(path, headers(), body());
    expect(response.status).toBe(400);
    expect(text).toMatch(new RegExp(`\`${name}\``));
    expect(text).toMatch(/Send an `https` address .* or upload the file|Send the address of the audio as `audio_url`/);
  });
});

it('four voices of speakers, ten seconds each at 48 kHz, fit into a form', async () => {
  const voice = `data:audio/wav;base64,${Buffer.alloc(10 * 48_000 * 2 + 44).toString('base64')}`;
  const voices = Array.from({ length: 4 }, () => ['known_speaker_references[]', voice] as const);
  const names = Array.from({ length: 4 }, (_, at) => ['known_speaker_names[]', `speaker ${at}`] as const);
  const form = formOf([['model', MODEL], ...names, ...voices]);
  const { response, text } = await send('/v1/audio/transcriptions', { Authorization: `Bearer ${live.key}` }, form);
  expect([response.status, JSON.parse(text).text]).toEqual([200, expect.stringContaining(FIRST)]);
});
