// Every format of a transcription through a whole gateway: models with and without times, speakers and words, and the official
// client. What a format cannot show is never left out in silence.
import OpenAI, { APIError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { warningCodes } from '../../fakes/warning-codes.ts';

type Fields = [string, string][];

const KEY = 'canary-4711-credential';
const TEXT = 'what was said here';
const WHISPER = 'openai/whisper-1';
const WITHOUT_TIMES = 'openai/gpt-4o-transcribe';
const SPEAKERS = 'openai/gpt-4o-transcribe-diarize';

let live: LiveGateway;
let server: SimulatorServer;
beforeAll(async () => {
  const simulator = simulators.find(({ provider }) => provider === 'openai');
  if (simulator === undefined) throw new Error('There is no simulator of OpenAI.');
  const ear = scriptEar({ turns: [{ text: TEXT, seconds: 2 }] });
  server = await SimulatorServer.start({ simulator, ear, clock: systemClock });
  live = await startLiveGateway({ VOXGATE_OPENAI_URL: server.url, OPENAI_API_KEY: KEY });
});
afterAll(() => server.close());

/** The audio is silence, for which the simulator has a script. */
const NO_GATE: Fields[number] = ['speech_gate', 'off'];

async function send(model: string, fields: Fields = [], seconds = 4) {
  const form = new FormData();
  for (const [name, value] of [['model', model], NO_GATE, ...fields] as Fields) form.append(name, value);
  form.append('file', new Blob([silentWav(seconds)]), 'a.wav');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  const text = await response.text();
  const type = response.headers.get('content-type');
  const json = type?.startsWith('application/json') ? JSON.parse(text) : undefined;
  return { status: response.status, type, warning: warningCodes(response), text, json };
}

const format = (name: string): Fields => [['response_format', name]];
const STRICT: Fields[number] = ['strict', 'true'];
const WORDS: Fields[number] = ['timestamp_granularities[]', 'word'];
const SEGMENTS: Fields[number] = ['timestamp_granularities[]', 'segment'];
const TWICE = `${TEXT} ${TEXT}`;

describe('a transcription', () => {
  it.each<[string, string, string]>([
    ['text', 'text/plain; charset=utf-8', `${TWICE}\n`],
    [
      'srt',
      'text/plain; charset=utf-8',
      `1\n00:00:00,000 --> 00:00:02,000\n${TEXT}\n\n2\n00:00:02,000 --> 00:00:04,000\n${TEXT}\n\n`,
    ],
    [
      'vtt',
      'text/vtt; charset=utf-8',
      `WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n${TEXT}\n\n00:00:02.000 --> 00:00:04.000\n${TEXT}\n\n`,
    ],
  ])('comes out right as %s, without a warning', async (name, type, text) => {
    expect(await send(WHISPER, format(name))).toMatchObject({ status: 200, type, warning: null, text });
  });

  it('matches OpenAI’s json: the text and its duration', async () => {
    const { json } = await send(WHISPER);
    expect(json).toEqual({ text: TWICE, usage: { type: 'duration', seconds: 4 } });
  });

  it.each<[string, Fields, number | undefined, number | undefined]>([
    ['both', [], 2, 8],
    ['segments', [SEGMENTS], 2, undefined],
    ['words', [WORDS], undefined, 8],
    ['both by name', [WORDS, SEGMENTS], 2, 8],
  ])('contains the requested times as verbose_json: %s', async (_, fields, segments, words) => {
    const { json, warning } = await send(WHISPER, [...format('verbose_json'), ...fields]);
    expect([json.segments?.length, json.words?.length, warning]).toEqual([segments, words, null]);
    expect(json.usage).toEqual({ type: 'duration', seconds: 4, cost_usd: expect.any(String), byok: false });
  });

  it('names several speakers', async () => {
    const fields: Fields = [['diarization', 'true']];
    expect((await send(SPEAKERS, [...format('srt'), ...fields])).text).toContain(`\nSpeaker 0: ${TEXT}\n`);
    expect((await send(SPEAKERS, [...format('vtt'), ...fields])).text).toContain(`\n<v Speaker 1>${TEXT}\n`);
    const { text } = await send(SPEAKERS, [['stream', 'true'], ...fields]);
    const events = text.split('\n\n').filter((block) => block !== '');
    expect(events.map((block) => JSON.parse(block.slice('data: '.length)))).toMatchObject([
      { type: 'transcript.text.delta', delta: TEXT, segment_id: 'seg_0' },
      { type: 'transcript.text.segment', id: 'seg_0', start: 0, end: 2, text: TEXT, speaker: 0 },
      { type: 'transcript.text.delta', delta: ` ${TEXT}`, segment_id: 'seg_1' },
      { type: 'transcript.text.segment', id: 'seg_1', start: 2, end: 4, text: TEXT, speaker: 1 },
      { type: 'transcript.text.done', text: TWICE },
    ]);
  });

  it('matches OpenAI’s diarized_json with speakers, also as a stream', async () => {
    const segment = (id: string, start: number, speaker: string) => ({
      type: 'transcript.text.segment',
      id,
      start,
      end: start + 2,
      text: TEXT,
      speaker,
    });
    const segments = [segment('seg_0', 0, 'A'), segment('seg_1', 2, 'B')];
    const usage = { type: 'duration', seconds: 4 };
    const { json, warning } = await send(SPEAKERS, format('diarized_json'));
    expect([json, warning]).toEqual([{ text: TWICE, task: 'transcribe', duration: 4, segments, usage }, null]);
    const streamed = await send(SPEAKERS, [['stream', 'true'], ...format('diarized_json')]);
    const events = streamed.text.split('\n\n').filter((block) => block !== '');
    const told = events.map((block) => JSON.parse(block.slice('data: '.length)));
    expect([told.filter(({ type }) => type === 'transcript.text.segment'), streamed.warning]).toEqual([segments, null]);
  });

  it('warns as diarized_json of a model without speakers, and fails in strict mode', async () => {
    const { json, warning } = await send(WHISPER, format('diarized_json'));
    expect(json.segments.map(({ speaker }: { speaker: string }) => speaker)).toEqual(['unknown', 'unknown']);
    expect(warning).toBe('diarization_unsupported');
    const refused = await send(WHISPER, [...format('diarized_json'), STRICT], 0);
    expect([refused.status, refused.json]).toMatchObject([422, { error: { param: 'diarization' } }]);
  });

  it('gives an empty file in every format for silence', async () => {
    const silent: Fields = [['provider_params', '{"turns":[{"text":"","seconds":9}]}']];
    const answers = [];
    for (const name of ['text', 'srt', 'vtt']) {
      answers.push((await send('loopback/script', [...format(name), ...silent])).text);
    }
    expect(answers).toEqual(['\n', '', 'WEBVTT\n\n']);
    const { json, warning } = await send('loopback/script', [...format('verbose_json'), WORDS, ...silent]);
    expect([json.text, json.words, warning]).toEqual(['', [], null]);
  });
});

describe('a model without times', () => {
  it.each<[string, Fields, string, string]>([
    ['srt', format('srt'), 'times_estimated', 'response_format'],
    ['vtt', format('vtt'), 'times_estimated', 'response_format'],
    ['segments', [...format('verbose_json'), SEGMENTS], 'times_estimated', 'timestamp_granularities[]'],
    ['words', [...format('verbose_json'), WORDS], 'words_unavailable', 'timestamp_granularities[]'],
  ])('causes a warning for %s, and fails in strict mode before any call', async (_, fields, code, param) => {
    const taken = await send(WITHOUT_TIMES, fields);
    expect([taken.status, taken.warning]).toEqual([200, code]);
    if (taken.json !== undefined) expect(taken.json.warnings).toMatchObject([{ code, param }]);
    else expect(taken.text).toMatch(/00:00:00[,.]000 --> 00:00:04[,.]000\nwhat was said here what was said here\n/);
    const broken = await send(WITHOUT_TIMES, [...fields, STRICT], 0);
    expect([broken.status, broken.json]).toMatchObject([422, { error: { code: 'unsupported_parameter', param } }]);
  });

  it('gives one segment as long as the file, by default and with a warning alone', async () => {
    const { json, warning } = await send(WITHOUT_TIMES, [...format('verbose_json'), STRICT]);
    expect(json.segments).toMatchObject([{ id: 0, start: 0, end: 4, text: TWICE }]);
    expect([json.words, warning]).toEqual([[], 'times_estimated']);
  });
});

describe('an unsupported part of a format', () => {
  it.each<[string, Fields, string]>([
    ['times in json', [WORDS], 'timestamp_granularities[]'],
    ['times in text', [...format('text'), SEGMENTS], 'timestamp_granularities[]'],
    ['log probabilities in text', [...format('text'), ['include[]', 'logprobs']], 'include[]'],
  ])('%s is warned about, and refused strictly', async (_, fields, param) => {
    expect((await send(WITHOUT_TIMES, fields)).warning).toBe('parameter_ignored');
    const refused = await send(WITHOUT_TIMES, [...fields, STRICT]);
    expect([refused.status, refused.json]).toMatchObject([422, { error: { code: 'unsupported_parameter', param } }]);
  });

  it('refuses an unknown format, and lists the formats', async () => {
    const { status, json } = await send(SPEAKERS, format('csv'));
    expect([status, json.error]).toMatchObject([
      400,
      { param: 'response_format', message: expect.stringMatching(/json, text, verbose_json, srt, vtt, diarized_json/) },
    ]);
  });
});

describe('fields of OpenAI’s own', () => {
  it('reach a model that takes them', async () => {
    const { json, warning } = await send(WITHOUT_TIMES, [
      ['include[]', 'logprobs'],
      ['chunking_strategy', 'auto'],
    ]);
    expect(warning).toBeNull();
    expect(json.logprobs).toHaveLength(8);
    expect(json.logprobs[0]).toEqual({ token: 'what', bytes: [...Buffer.from('what')], logprob: expect.any(Number) });
    const named = await send(SPEAKERS, [
      ['known_speaker_names[]', 'Ann'],
      ['known_speaker_names[]', 'Bo'],
      ['known_speaker_references[]', 'data:audio/wav;base64,AAAA'],
      ['chunking_strategy', '{"type":"server_vad","threshold":0.4}'],
      ...format('verbose_json'),
    ]);
    expect([named.warning, named.json.segments]).toMatchObject([null, [{ speaker: 0 }, { speaker: 1 }]]);
  });

  it('reach the fallbacks that take them, and are said of the model that answered alone', async () => {
    const fields: Fields = [
      ['include[]', 'logprobs'],
      ['provider_params', '{"fail":{"how":"refuse"}}'],
      ['fallbacks', `loopback/numbered,${WITHOUT_TIMES}`],
    ];
    const first = await send('loopback/script', fields);
    expect([first.warning, first.json.logprobs]).toEqual(['parameter_ignored', undefined]);
    const second = await send('loopback/script', [...fields.slice(0, 2), ['fallbacks', WITHOUT_TIMES]]);
    expect([second.warning, second.json.logprobs?.length]).toEqual([null, 8]);
  });

  it.each<[string, string, string]>([
    ['include[]', 'everything', 'include[]'],
    ['chunking_strategy', 'often', 'chunking_strategy'],
    ['chunking_strategy', '{', 'chunking_strategy'],
  ])('%s=%s is refused by its name', async (name, value, param) => {
    const { status, json } = await send(WITHOUT_TIMES, [[name, value]]);
    expect([status, json.error]).toMatchObject([400, { code: 'invalid_request', param }]);
  });

  it('cause warnings where a model does not take them, and fail in strict mode', async () => {
    const fields: Fields = [
      ['known_speaker_names[]', 'Ann'],
      ['known_speaker_names[]', 'Bo'],
      ['chunking_strategy', 'auto'],
    ];
    expect((await send(WHISPER, fields)).warning).toBe('parameter_ignored, parameter_ignored');
    expect((await send(WHISPER, [...fields, STRICT])).json.error.param).toBe('known_speaker_names[]');
  });
});

describe('the official client', () => {
  const client = () => new OpenAI({ apiKey: live.key, baseURL: `${live.url}/v1`, maxRetries: 0 });
  const file = () => toFile(silentWav(4), 'a.wav');
  const stream = async (model: string, more: object = {}) =>
    client().audio.transcriptions.create({ file: await file(), model, stream: true, ...more });
  const turns = [
    { text: 'one', seconds: 1 },
    { text: 'two', seconds: 1 },
  ];

  it.each([WHISPER, WITHOUT_TIMES, 'loopback/script'])('reads a stream of %s', async (model) => {
    let text = '';
    let done: string | undefined;
    for await (const event of await stream(model)) {
      if (event.type === 'transcript.text.delta') text += event.delta;
      else if (event.type === 'transcript.text.done') done = event.text;
    }
    expect([text, text.length > 0]).toEqual([done, true]);
  });

  it('throws its own error for a stream that breaks off, after the text received', async () => {
    const heard: string[] = [];
    const provider_params = JSON.stringify({ turns, fail: { how: 'close', at_seconds: 3.5 } });
    const failure = await (async () => {
      try {
        for await (const event of await stream('loopback/script', { provider_params })) {
          if (event.type === 'transcript.text.delta') heard.push(event.delta);
        }
        return undefined;
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ code: 'upstream_failed', type: 'upstream_error' });
    expect(heard).toEqual(['one', ' two', ' one']);
  });

  it('reads every format as it expects', async () => {
    const as = async (response_format: 'srt' | 'vtt' | 'text') =>
      client().audio.transcriptions.create({ file: await file(), model: WHISPER, response_format });
    expect([typeof (await as('srt')), typeof (await as('vtt')), typeof (await as('text'))]).toEqual(
      Array(3).fill('string'),
    );
  });
});
