// A file at providers with an HTTP interface: what each is handed, which limits are kept, whose seconds count, and which
// model answers when others fail.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { ApiError } from '../../src/api/errors.ts';
import type { Candidate } from '../../src/api/listen.ts';
import { WavReader, wavHeader } from '../../src/audio/containers/wav.ts';
import { createPriceList } from '../../src/config/prices/price-list.ts';
import { FileDecodings } from '../../src/files/decoding/decoding.ts';
import type { AudioFile } from '../../src/files/file-source.ts';
import { type TranscriptionOutcome, transcribe } from '../../src/files/transcribe.ts';
import { resolveChain } from '../../src/live/failover/chain.ts';
import { HttpPools } from '../../src/live/upstream/http/pools.ts';
import { UpstreamHost } from '../../src/live/upstream/upstream-host.ts';
import type { BatchRequest, Provider } from '../../src/vendors/kit/provider.ts';
import { loopback } from '../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../src/vendors/loopback/simulator.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { patientBreakers } from '../fakes/patient-breakers.ts';
import { timersOf } from '../live/session/support.ts';
import {
  type Answer,
  answer,
  HttpProvider,
  type ScriptedProviderOptions,
  SECRET,
  scriptedProvider,
} from '../live/upstream/http-batch-fixture.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const FLAC = Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(5_000, 'flac')]);

/** Files as the edge hands them over. */
const kept = (bytes: Buffer, rawSampleRate?: number): AudioFile => ({
  bytes: bytes.length,
  rawSampleRate,
  read: async function* () {
    for (let at = 0; at < bytes.length; at += 1_001) yield bytes.subarray(at, at + 1_001);
  },
});
const once = (bytes: Buffer, rawRate?: number): AudioFile => ({ ...kept(bytes, rawRate), bytes: undefined });

interface Options {
  scripted?: Record<string, ScriptedProviderOptions>;
  prompt?: string;
  hearEmptyAgain?: boolean;
}

async function world({ scripted = {}, prompt, hearEmptyAgain = true }: Options = {}) {
  const clock = new SimulatedClock();
  const pools = new HttpPools();
  const seen: BatchRequest[] = [];
  const servers: Record<string, HttpProvider> = {};
  const providers = new Map<string, Provider>([[loopback.name, loopback]]);
  for (const name of ['one', 'two', 'three']) {
    // The clock runs far ahead of the network.
    const provider = scriptedProvider(name, { answerMs: 600_000, ...scripted[name] });
    const codec = provider.batch;
    if (codec?.kind !== 'http') throw new Error('The scripted provider speaks HTTP.');
    const begin: typeof codec.begin = (request) => {
      seen.push(request);
      return codec.begin(request);
    };
    providers.set(name, { ...provider, batch: { ...codec, begin } });
    const server = await new HttpProvider(answer({ text: `heard by ${name}`, seconds: 3 })).listen();
    servers[name] = server;
    closers.push(() => server.close());
  }
  closers.push(() => pools.close());
  const access = (name: string) => ({ baseUrl: servers[name]?.url, credential: SECRET });
  const engines = { loopback: new LoopbackEngine(clock) };
  const upstream = new UpstreamHost({ providers, engines, access, clock });
  const run = async (
    file: AudioFile,
    model = 'one/file',
    fallbacks: Candidate[] = [],
    lastResort?: string,
  ): Promise<TranscriptionOutcome> => {
    const request = {
      model,
      fallbacks,
      responseFormat: 'json' as const,
      language: undefined,
      diarization: false,
      timestampGranularities: [],
      wordTimestamps: true,
      providerParams: {},
      stream: false,
      strict: false,
      common: prompt === undefined ? {} : { prompt },
    };
    const { members } = await resolveChain(
      { ...request, mode: 'batch', organisationId: 'org_1', sampleRate: 16_000, interimResults: false, lastResort },
      { providers, engines, access, prices: createPriceList(providers.values()) },
    );
    const over = { now: false };
    const outcome = transcribe(
      { upstream, http: { pools, clock }, breakers: patientBreakers(clock), decodings: new FileDecodings({ clock }) },
      {
        jobId: 'job_1',
        organisationId: 'org_1',
        request,
        chain: members,
        file,
        signal: new AbortController().signal,
        hearEmptyAgain,
      },
    ).finally(() => {
      over.now = true;
    });
    outcome.catch(() => {});
    // Pauses between attempts pass by the clock.
    while (!over.now) {
      clock.increment(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([timersOf(clock), upstream.size]).toEqual([0, 0]);
    return outcome;
  };
  const refused = async (...args: Parameters<typeof run>): Promise<ApiError> => {
    const error: unknown = await run(...args).catch((thrown: unknown) => thrown);
    if (!(error instanceof ApiError)) throw error;
    return error;
  };
  const bodies = (name: string) => servers[name]?.arrived.map(({ body }) => body) ?? [];
  return { run, refused, seen, servers: servers as Record<'one' | 'two' | 'three', HttpProvider>, bodies };
}

const TWO: Candidate[] = [{ model: 'two/file' }];

describe('a file at a provider with an HTTP interface', () => {
  const wav = Buffer.concat([Buffer.from('RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00'), Buffer.alloc(16)]);
  it.each([
    ['FLAC', FLAC, 'audio.flac', 'audio/flac'],
    ['Ogg', Buffer.from('OggS\x00\x02'.padEnd(300)), 'audio.ogg', 'audio/ogg'],
    ['MP3', Buffer.from('ID3\x04\x00\x00\x00\x00\x01\x76'.padEnd(300, '\0')), 'audio.mp3', 'audio/mpeg'],
    ['WebM', Buffer.from('\x1a\x45\xdf\xa3'.padEnd(300), 'latin1'), 'audio.webm', 'audio/webm'],
    ['M4A', Buffer.from('\x00\x00\x00\x20ftypM4A '.padEnd(300)), 'audio.m4a', 'audio/mp4'],
    ['WAV', wav, 'audio.wav', 'audio/wav'],
  ])('%s is passed on as it is, under a name of ours', async (_, bytes, name, contentType) => {
    const { run, seen, bodies } = await world();
    for (const file of [kept(bytes), once(bytes)]) await run(file);
    expect(seen.map(({ file }) => file)).toMatchObject([
      { name, contentType, bytes: bytes.length },
      { name, contentType, bytes: undefined },
    ]);
    expect(bodies('one').map((body) => body.equals(bytes))).toEqual([true, true]);
  });

  it.each([
    [8_000, 0],
    [16_000, 1],
  ])('headerless samples at %d Hz are passed on as WAV, %d byte too many left out', async (rate, odd) => {
    const { run, seen, bodies } = await world();
    const samples = Buffer.from(numberedAudio(0, 5_000));
    const raw = Buffer.concat([samples, Buffer.alloc(odd)]);
    await run(kept(raw, rate));
    expect(seen[0]?.file).toEqual({
      name: 'audio.wav',
      contentType: 'audio/wav',
      bytes: 10_044,
      seconds: 5_000 / rate,
    });
    const reader = new WavReader();
    const read = reader.push(bodies('one')[0] ?? new Uint8Array());
    expect([reader.format?.sampleRate, Buffer.from(read.buffer, 0, read.byteLength).equals(samples)]).toEqual([
      rate,
      true,
    ]);
    await run(once(raw, rate));
    expect(bodies('one')[1]?.subarray(44).equals(samples)).toBe(true);
  });

  it.each([
    ['no audio', kept(Buffer.from('this is no audio'.repeat(99)))],
    ['another RIFF', kept(Buffer.from('RIFF\x24\x00\x00\x00AVI LIST'.padEnd(99)))],
    ['a container that is said to be headerless', kept(FLAC, 16_000)],
  ])('fails if it is %s, without a call', async (_, file) => {
    const { refused, servers } = await world();
    const { code, extras } = await refused(file);
    expect([code, extras.param, servers.one.arrived.length]).toEqual(['unsupported_audio', 'file', 0]);
  });

  it('goes with the prompt as the option of its model that serves it', async () => {
    const { run, seen } = await world({ prompt: 'names' });
    await run(kept(FLAC));
    expect(seen[0]).toMatchObject({ params: { prompt: 'names' }, wordTimestamps: true, model: 'file' });
  });

  it.each<[string, AudioFile, object, number, string[]]>([
    ['the provider’s', kept(FLAC), { text: 'x', seconds: 9 }, 9, []],
    ['the file’s where the provider says none', kept(Buffer.alloc(32_000), 16_000), { text: 'x' }, 1, []],
    ['those with speech where neither side reports any', kept(FLAC), { text: 'x' }, 1.5, ['duration_unknown']],
  ])('counts for as many seconds as are %s', async (_, file, said, seconds, warnings) => {
    const { run, servers } = await world();
    servers.one.answers = [answer(said)];
    const outcome = await run(file);
    expect([outcome.seconds, outcome.warnings.map(({ code }) => code)]).toEqual([seconds, warnings]);
  });
});

describe('a file too much for a model', () => {
  const minute = kept(Buffer.alloc(60 * 32_000), 16_000);
  it.each<[string, ScriptedProviderOptions, AudioFile]>([
    ['too large', { audio: { max_file_bytes: 5_000 } }, kept(FLAC)],
    ['too long', { audio: { max_seconds: 59 } }, minute],
  ])('%s is not sent there: a fallback without the limit answers', async (_, one, file) => {
    const { run, refused, servers } = await world({ scripted: { one } });
    expect((await refused(file)).code).toBe('file_too_large');
    const { member, attempts } = await run(file, 'one/file', TWO);
    expect([member.slug, attempts]).toEqual(['two/file', [{ model: 'one/file', reason: 'file_too_large' }]]);
    expect(servers.one.arrived).toEqual([]);
  });

  it('goes to a fallback when the provider does not list its format', async () => {
    const { run, refused, servers } = await world({ scripted: { one: { audio: { file_formats: ['wav', 'aac'] } } } });
    expect((await refused(kept(FLAC))).message).toContain('The file is FLAC, and this model takes WAV, AAC (ADTS).');
    expect((await run(kept(FLAC), 'one/file', TWO)).member.slug).toBe('two/file');
    expect(servers.one.arrived).toEqual([]);
  });

  it('fails as too large while it is sent, when its length is not known before', async () => {
    const { refused } = await world({ scripted: { one: { audio: { max_file_bytes: 5_000 } } } });
    expect((await refused(once(FLAC))).code).toBe('file_too_large');
  });

  it.each([
    ['by its status', 413, {}],
    ['by the code of its codec', 400, { refused: () => LIMIT }],
  ])('says the provider %s: a fallback answers', async (_, status, codec) => {
    const { run, servers } = await world({ scripted: { one: { codec } } });
    servers.one.answers = [answer({}, status)];
    expect(await run(kept(FLAC), 'one/file', TWO)).toMatchObject({
      member: { slug: 'two/file' },
      attempts: [{ model: 'one/file', reason: 'file_too_large' }],
    });
  });

  it('goes to a fallback when a live model cannot decode it', async () => {
    const { run, refused, bodies } = await world();
    expect((await refused(kept(FLAC), 'loopback/script')).message).toContain('The FLAC file cannot be decoded');
    expect(await run(kept(FLAC), 'loopback/script', TWO)).toMatchObject({
      attempts: [{ model: 'loopback/script', reason: 'unsupported_audio' }],
    });
    expect(bodies('two').map((body) => body.includes(FLAC))).toEqual([true]);
  });

  const LIMIT = { kind: 'caller', reason: 'upstream_error', code: 'audio_too_long', message: 'Too long.' } as const;
});

describe('a model that fails', () => {
  const hangUp = [(response: { destroy(): unknown }) => void response.destroy()];
  it.each([
    ['500 twice', 2, [answer({}, 500)], ['connect_failed', 'connect_failed']],
    ['a connection lost twice', 2, hangUp, ['upstream_closed', 'upstream_closed']],
    ['401', 1, [answer({}, 401)], ['connect_failed']],
    ['429', 1, [answer({}, 429)], ['connect_failed']],
    ['no answer', 1, [() => {}], ['stalled']],
    ['a page with 200', 1, [answer('<html>', 200, { 'content-type': 'text/html' })], ['upstream_error']],
    [
      'half an answer',
      1,
      [(response: { end(text: string): unknown }) => void response.end('{"text":')],
      ['upstream_error'],
    ],
  ])('passes the whole file to the next after %s', async (_, requests, answers, reasons) => {
    const { run, servers, bodies } = await world();
    servers.one.answers = answers;
    const { member, attempts, utterances } = await run(kept(FLAC), 'one/file', TWO);
    expect([member.slug, utterances[0]?.text]).toEqual(['two/file', 'heard by two']);
    expect(attempts).toEqual(reasons.map((reason) => ({ model: 'one/file', reason })));
    expect(bodies('one').map((body) => body.equals(FLAC))).toEqual(new Array(requests).fill(true));
    expect(bodies('two').map((body) => body.equals(FLAC))).toEqual([true]);
  });

  it('removes unreadable characters from an answer, and keeps the rest', async () => {
    const { run, servers } = await world();
    servers.one.answers = [answer({ text: 'a\0b \u{1f600} \ud800 \u202e' })];
    const { utterances } = await run(kept(FLAC));
    expect(utterances[0]?.text).toBe('ab \u{1f600} \ufffd \u202e');
  });

  it('calls it once more after a passing failure, which succeeds', async () => {
    const { run, servers } = await world();
    servers.one.answers = [answer({}, 503), answer({ text: 'after all' })];
    const { member, attempts, utterances } = await run(kept(FLAC), 'one/file', TWO);
    expect([member.slug, attempts.length, utterances[0]?.text]).toEqual(['one/file', 1, 'after all']);
    expect(servers.two.arrived).toEqual([]);
  });

  it('moves to the next when it is absent, through a live leg as well', async () => {
    const { run, servers } = await world();
    await servers.one.close();
    const file = kept(Buffer.from(numberedAudio(0, 32_000)), 16_000);
    const params = { turn_seconds: 600 };
    const outcome = await run(file, 'one/file', [{ model: 'loopback/numbered', provider_params: params }]);
    expect(outcome).toMatchObject({
      utterances: [{ text: '0-32000' }],
      seconds: 2,
      attempts: [{ model: 'one/file', reason: 'connect_failed' }],
    });
  });

  it.each([400, 404, 413, 422])('moves to the next after %d that names no option of the customer', async (status) => {
    const { run, servers } = await world();
    servers.one.answers = [answer({}, status)];
    expect(await run(kept(FLAC), 'one/file', TWO)).toMatchObject({ attempts: [{ model: 'one/file' }] });
  });

  it('reports each attempt when all others fail too', async () => {
    const { refused, servers } = await world();
    servers.one.answers = [answer({}, 500)];
    servers.two.answers = [answer({}, 401)];
    await servers.three.close();
    const refusal = await refused(kept(FLAC), 'one/file', [...TWO, { model: 'three/file' }]);
    expect([refusal.code, refusal.status]).toEqual(['upstream_exhausted', 502]);
    expect(refusal.extras.details?.map(({ model }) => model)).toEqual([
      'one/file',
      'one/file',
      'two/file',
      'three/file',
    ]);
    expect(refusal.message).not.toMatch(/127\.0\.0\.1/);
  });

  it('stops when the file is gone', async () => {
    const { refused, servers } = await world();
    servers.one.answers = [answer({ error: `bad key ${SECRET}` }, 500)];
    const refusal = await refused(once(FLAC));
    expect([refusal.code, servers.one.arrived.length]).toEqual(['upstream_failed', 1]);
    expect(refusal.message).not.toContain(SECRET);
  });
});

describe('an answer without words', () => {
  const EMPTY = answer({ text: ' ', seconds: 3 });
  const REASON = { model: 'one/file', reason: 'empty_result' };
  const THREE = [...TWO, { model: 'three/file' }];
  const speech = kept(loud(32_000), 16_000);
  const silence = kept(Buffer.alloc(64_000), 16_000);

  it.each<[string, AudioFile]>([
    ['headerless samples with sound in them', speech],
    [
      'a WAV with sound in it, behind half a minute of silence',
      kept(Buffer.concat([wavHeader(16_000, 1_024_000), Buffer.alloc(960_000), loud(32_000)])),
    ],
    ['a container that is not decoded here', kept(FLAC)],
  ])('sends %s to the next model once', async (_, file) => {
    const { run, servers } = await world();
    servers.one.answers = [EMPTY];
    const { member, attempts, utterances, warnings } = await run(file, 'one/file', THREE);
    expect([member.slug, attempts, utterances.length]).toEqual(['two/file', [REASON], 1]);
    expect([warnings.filter(({ code }) => code === 'empty_result'), servers.one.arrived.length]).toEqual([[], 1]);
    expect(servers.three.arrived).toEqual([]);
  });

  it('counts as the answer for silence', async () => {
    const { run, servers } = await world();
    servers.one.answers = [EMPTY];
    expect(await run(silence, 'one/file', TWO)).toMatchObject({ member: { slug: 'one/file' }, warnings: [] });
    expect(servers.two.arrived).toEqual([]);
  });

  it.each<[string, Candidate[], Answer[], boolean, number[]]>([
    ['no other model is named', [], [], true, [0, 0]],
    ['it may not be transcribed again', THREE, [], false, [0, 0]],
    ['the next has no words either', THREE, [EMPTY], true, [1, 0]],
    ['all others fail', THREE, [answer({}, 404)], true, [1, 1]],
  ])('arrives with a warning where %s', async (_, fallbacks, answers, hearEmptyAgain, asked) => {
    const { run, servers } = await world({ hearEmptyAgain });
    servers.one.answers = [EMPTY];
    servers.two.answers = answers;
    servers.three.answers = answers;
    expect(await run(speech, 'one/file', fallbacks)).toMatchObject({
      ...{ member: { slug: 'one/file' }, seconds: 2, attempts: [] },
      warnings: [
        { code: 'empty_result', message: expect.stringMatching(/^one\/file found no words .* as loud as speech/) },
      ],
    });
    expect([servers.two, servers.three].map(({ arrived }) => arrived.length)).toEqual(asked);
  });

  it.each<[string, Answer, Candidate[], number[]]>([
    ['follows it', EMPTY, [], [1, 0, 0]],
    ['follows another that fails', answer({}, 404), TWO, [1, 1, 0]],
    ['follows another without words', EMPTY, TWO, [1, 1, 0]],
  ])('is not transcribed again by a last resort that %s', async (_, second, fallbacks, asked) => {
    const { run, servers } = await world();
    servers.one.answers = [EMPTY];
    servers.two.answers = [second];
    const { member, warnings } = await run(speech, 'one/file', fallbacks, 'three/file');
    expect([member.slug, warnings.map(({ code }) => code)]).toEqual(['one/file', ['empty_result']]);
    expect(Object.values(servers).map(({ arrived }) => arrived.length)).toEqual(asked);
  });

  it('arrives with a warning when the file is gone', async () => {
    const { run, servers } = await world();
    servers.one.answers = [EMPTY];
    const { warnings } = await run(once(loud(32_000), 16_000), 'one/file', TWO);
    expect([warnings.map(({ code }) => code), servers.two.arrived.length]).toEqual([['empty_result'], 0]);
  });
});

/** As loud as speech. */
function loud(samples: number): Buffer {
  return Buffer.from(Int16Array.from({ length: samples }, (_, at) => (at % 16 < 8 ? 8_000 : -8_000)).buffer);
}
