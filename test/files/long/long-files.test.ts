// Files that a model does not take whole: every word is there once, failed parts go to the next model alone, and nothing is left behind.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { wavHeader } from '../../../src/audio/containers/wav.ts';
import { type LongFilesOptions, PARTS_PER_FILE } from '../../../src/files/long/long-files.ts';
import type { TranscriptionOutcome } from '../../../src/files/transcribe.ts';
import { RATE, said, talk } from '../../fakes/audio/talking.ts';
import { type Answer, answer } from '../../live/upstream/http-batch-fixture.ts';
import { arriving, hears, kept, longRig, readText } from './long-rig.ts';

const WORDS = 150;
const paused = talk(WORDS, (word) => word % 4 === 3);
const unpaused = talk(WORDS);
/** Parts of 20 s. */
const LIMIT = { audio: { max_seconds: 21 } };
const FALLBACK = [{ model: 'two/file' }];

const wav = ({ bytes }: Pick<ReturnType<typeof talk>, 'bytes'>, rate = RATE): Buffer =>
  Buffer.concat([wavHeader(rate, bytes.length), bytes]);
const wordsOf = ({ utterances }: TranscriptionOutcome) => utterances.flatMap(({ words = [] }) => words);
const textOf = ({ utterances }: TranscriptionOutcome): string => utterances.map(({ text }) => text).join(' ');
const codesOf = ({ warnings }: TranscriptionOutcome): string[] => warnings.map(({ code }) => code);

async function refusalOf(work: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw error;
  return error;
}

describe('a file that is too long for a model', () => {
  it.each([
    ['cut at pauses', paused],
    ['cut in speech', unpaused],
  ])('has each word once, at its time, when it is %s', async (_, audio) => {
    const { run, servers, files, longFiles } = await longRig({ scripted: { one: LIMIT } });
    const outcome = await run(kept(audio.bytes, RATE), 'one/file');
    const words = wordsOf(outcome);
    expect(words.map(({ word }) => word)).toEqual(said(WORDS));
    for (const [index, { start }] of words.entries()) expect(start).toBeCloseTo(audio.starts[index] as number, 2);
    expect(textOf(outcome)).toBe(said(WORDS).join(' '));
    expect(servers.one.arrived.length).toBeGreaterThan(5);
    expect(outcome).toMatchObject({
      seconds: audio.seconds,
      language: 'en',
      member: { slug: 'one/file' },
      attempts: [],
    });
    expect(outcome.shares).toMatchObject([{ member: { slug: 'one/file' }, seconds: audio.seconds }]);
    expect([files.opened, longFiles.size]).toEqual([0, 0]);
  });

  it('warns that it was cut, and how often in speech', async () => {
    const { run } = await longRig({ scripted: { one: LIMIT } });
    const [atPauses, inSpeech] = [
      await run(kept(paused.bytes, RATE), 'one/file'),
      await run(kept(unpaused.bytes, RATE), 'one/file'),
    ];
    expect(atPauses.warnings).toMatchObject([
      { code: 'file_cut', message: expect.stringMatching(/in \d+ parts, cut at pauses\.$/) },
    ]);
    expect(inSpeech.warnings).toMatchObject([
      { message: expect.stringMatching(/ (\d+) of \1 cuts had no pause within reach/) },
    ]);
  });

  it('has the words of a model without times once as well', async () => {
    const textAlone = { ...LIMIT, codec: { read: readText }, capabilities: { segment_timestamps: false } };
    const { run } = await longRig({ scripted: { one: textAlone } });
    for (const audio of [paused, unpaused]) {
      const outcome = await run(kept(audio.bytes, RATE), 'one/file');
      expect(textOf(outcome)).toBe(said(WORDS).join(' '));
      expect(outcome.isUntimed).toBe(true);
    }
  });

  it('is not cut where it fits', async () => {
    const { run, servers, moments } = await longRig({ scripted: { one: { audio: { max_seconds: 600 } } } });
    const outcome = await run(kept(wav(paused)), 'one/file');
    expect([servers.one.arrived.length, servers.one.arrived[0]?.body.equals(wav(paused))]).toEqual([1, true]);
    expect([outcome.shares, codesOf(outcome), moments]).toEqual([
      undefined,
      [],
      ['asked one/file', 'answered one/file'],
    ]);
  });

  it('is sent in parts of at most the bytes that the model takes', async () => {
    const { run, servers } = await longRig({ scripted: { one: { audio: { max_file_bytes: 400_000 } } } });
    const outcome = await run(kept(wav(unpaused)), 'one/file');
    expect(wordsOf(outcome).map(({ word }) => word)).toEqual(said(WORDS));
    const bytes = servers.one.arrived.map(({ body }) => body.length);
    expect([bytes.length > 4, Math.max(...bytes) <= 400_000]).toEqual([true, true]);
  });

  it('is sent as it is, at a lower rate, where that makes it small enough', async () => {
    const rate = 48_000;
    const samples = new Int16Array(6 * paused.samples.length).map(
      (_, at) => paused.samples[Math.floor(at / 6)] as number,
    );
    const bytes = Buffer.concat([wavHeader(rate, 2 * samples.length), Buffer.from(samples.buffer)]);
    const { run, servers } = await longRig({ scripted: { one: { audio: { max_file_bytes: bytes.length / 2 } } } });
    servers.one.answers = [answer({ words: [{ word: 'a', start: 0.1, end: 0.2 }], seconds: 1 })];
    const outcome = await run(kept(bytes), 'one/file');
    expect([servers.one.arrived.length, codesOf(outcome)]).toEqual([1, []]);
    expect(servers.one.arrived[0]?.body.readUInt32LE(24)).toBe(16_000);
    expect(outcome.seconds).toBeCloseTo(paused.seconds, 3);
  });

  it('is cut from its copy where it turned out to be too much while it was sent', async () => {
    const { run, servers, files } = await longRig({ scripted: { one: { audio: { max_file_bytes: 400_000 } } } });
    const outcome = await run(arriving(wav(paused)), 'one/file');
    expect(wordsOf(outcome).map(({ word }) => word)).toEqual(said(WORDS));
    expect([servers.one.arrived.length > 4, files.opened]).toEqual([true, 0]);
  });

  it.each<[string, Buffer]>([
    ['a container that is not decoded here', readFileSync('test/fixtures/audio/formats/aac.m4a')],
    ['a model that takes less than ten seconds', wav(paused)],
  ])('is refused as too large with %s, or left to the next model', async (_, bytes) => {
    const { run, servers, files } = await longRig({ scripted: { one: { audio: { max_file_bytes: 5_000 } } } });
    expect((await refusalOf(run(kept(bytes), 'one/file'))).code).toBe('file_too_large');
    servers.two.answers = [answer({ words: [], seconds: 1 })];
    const { attempts } = await run(kept(bytes), 'one/file', { fallbacks: FALLBACK });
    expect(attempts[0]).toEqual({ model: 'one/file', reason: 'file_too_large' });
    expect([servers.one.arrived.length, files.opened]).toEqual([0, 0]);
  });

  it('is not cut into more parts than a file may have, whether its length is known or not', async () => {
    const { run, files } = await longRig({
      scripted: { one: { audio: { max_file_bytes: 400_000 } } },
      longFiles: { partsOfFileMax: 3 },
    });
    // The header says that the samples are as long as the file, whatever that is.
    const endless = Buffer.concat([wavHeader(RATE, undefined), paused.bytes]);
    for (const file of [kept(paused.bytes, RATE), arriving(endless)]) {
      expect((await refusalOf(run(file, 'one/file'))).code).toBe('file_too_large');
      expect(files.opened).toBe(0);
    }
  });

  it('that cannot be decoded goes to the next model', async () => {
    const { run, servers } = await longRig({ scripted: { one: { audio: { max_file_bytes: 5_000 } } } });
    const broken = Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(50_000, 'flac')]);
    servers.two.answers = [answer({ words: [], seconds: 1 })];
    expect(await run(kept(broken), 'one/file', { fallbacks: FALLBACK })).toMatchObject({
      attempts: [{ model: 'one/file', reason: 'unsupported_audio' }],
    });
    expect((await refusalOf(run(kept(broken), 'one/file'))).code).toBe('unsupported_audio');
  });
});

describe('a part that fails', () => {
  /** Fails at the part that has this word whole, or hears. */
  const failsAt =
    (word: number, fails: Answer): Answer =>
    (response, arrived) => {
      const texts: string[] = [];
      hears({ writeHead: () => ({ end: (text: string) => texts.push(text) }) } as never, arrived);
      if (texts.join('').includes(`"w${word}"`)) fails(response, arrived);
      else hears(response, arrived);
    };

  it('is repeated at the next model, and no other part is', async () => {
    const { run, servers, moments } = await longRig({ scripted: { one: LIMIT } });
    servers.one.answers = [failsAt(70, answer({}, 404))];
    const outcome = await run(kept(paused.bytes, RATE), 'one/file', { fallbacks: FALLBACK });
    expect(wordsOf(outcome).map(({ word }) => word)).toEqual(said(WORDS));
    expect(servers.two.arrived).toHaveLength(1);
    expect(outcome.member.slug).toBe('one/file');
    expect(outcome.attempts).toEqual([{ model: 'one/file', reason: 'connect_failed' }]);
    const { shares = [] } = outcome;
    expect(shares.map(({ member }) => member.slug)).toEqual(['one/file', 'two/file']);
    expect(shares.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(paused.seconds, 3);
    const [part] = servers.two.arrived;
    expect(shares[1]?.seconds).toBeCloseTo(((part?.body.length ?? 0) - 44) / 2 / RATE, 2);
    expect(moments.filter((moment) => moment !== 'asked one/file')).toEqual([
      'failed one/file connect_failed',
      'asked two/file',
      'answered two/file',
    ]);
  });

  it('is cut again for a model that takes even less', async () => {
    const { run, servers, files } = await longRig({
      scripted: { one: LIMIT, two: { audio: { max_seconds: 12 } } },
      longFiles: { partsMax: 1 },
    });
    servers.one.answers = [failsAt(70, answer({}, 404))];
    const outcome = await run(kept(paused.bytes, RATE), 'one/file', { fallbacks: FALLBACK });
    expect(wordsOf(outcome).map(({ word }) => word)).toEqual(said(WORDS));
    expect([servers.two.arrived.length, files.opened]).toEqual([2, 0]);
    expect(outcome.shares).toHaveLength(2);
  });

  it('ends the file where no model is left, and the other parts with it', async () => {
    const { run, servers, files, longFiles, upstream } = await longRig({ scripted: { one: LIMIT } });
    servers.one.answers = [failsAt(70, answer({}, 404))];
    servers.two.answers = [answer({}, 404)];
    const refusal = await refusalOf(run(kept(unpaused.bytes, RATE), 'one/file', { fallbacks: FALLBACK }));
    expect(refusal.code).toBe('upstream_exhausted');
    expect([files.opened, longFiles.size, upstream.size]).toEqual([0, 0, 0]);
  });

  it('is repeated once at the same model after a passing failure', async () => {
    const { run, servers } = await longRig({ scripted: { one: LIMIT } });
    let failures = 0;
    servers.one.answers = [
      (response, arrived) => {
        failures++;
        (failures === 2 ? answer({}, 503) : hears)(response, arrived);
      },
    ];
    const outcome = await run(kept(paused.bytes, RATE), 'one/file', { fallbacks: FALLBACK });
    expect(wordsOf(outcome).map(({ word }) => word)).toEqual(said(WORDS));
    expect([servers.two.arrived.length, outcome.shares?.length]).toEqual([0, 1]);
  });
});

describe('the parts of a file', () => {
  /** The most that are at the provider together, and the most files of parts. The first ones wait until as many are there as may be. */
  async function mostAtOnce(longFiles: Partial<LongFilesOptions>, expected: number) {
    const { run, servers, files } = await longRig({ scripted: { one: LIMIT }, longFiles });
    const waiting: (() => void)[] = [];
    let isFree = false;
    let running = 0;
    let most = 0;
    servers.one.answers = [
      (response, arrived) => {
        running++;
        most = Math.max(most, running);
        const go = () => {
          running--;
          hears(response, arrived);
        };
        if (isFree) setImmediate(go);
        else waiting.push(go);
      },
    ];
    const done = Promise.all(['a', 'b'].map(() => run(kept(unpaused.bytes, RATE), 'one/file')));
    await servers.one.until(() => waiting.length === expected);
    isFree = true;
    for (const go of waiting.splice(0)) go();
    for (const outcome of await done) expect(wordsOf(outcome)).toHaveLength(WORDS);
    return { most, files: files.most };
  }

  it.each([
    ['for each file', { partsPerFile: 2 }, 4, 6],
    ['as a rule', {}, 2 * PARTS_PER_FILE, 2 * PARTS_PER_FILE + 2],
    ['for all files of a node', { partsMax: 4 }, 2, 2 * PARTS_PER_FILE + 2],
  ])('are transcribed side by side within a bound %s', async (_, longFiles, expected, filesMax) => {
    const { most, files } = await mostAtOnce(longFiles, expected);
    expect([most, files <= filesMax]).toEqual([expected, true]);
  });

  it('are counted as they are done', async () => {
    const { run, progress } = await longRig({ scripted: { one: LIMIT } });
    await run({ ...kept(paused.bytes, RATE), seconds: paused.seconds }, 'one/file');
    const { parts } = progress.at(-1) as { parts: number };
    expect(progress.map(({ done }) => done).filter((done, index, all) => done !== all[index - 1])).toEqual(
      Array.from({ length: parts }, (_, at) => at + 1),
    );
    expect(progress.every(({ done, parts: all }) => done <= all)).toBe(true);
    expect(progress.at(-1)).toEqual({ done: parts, parts });
  });

  it('end when the client leaves, with nothing left open', async () => {
    const { run, servers, files, longFiles } = await longRig({ scripted: { one: LIMIT } });
    const client = new AbortController();
    servers.one.answers = [hears, hears, () => {}];
    const done = run(kept(paused.bytes, RATE), 'one/file', { signal: client.signal });
    done.catch(() => {});
    await servers.one.until(() => servers.one.arrived.length >= 4);
    client.abort(new Error('The client is gone.'));
    await expect(done).rejects.toThrow('The client is gone.');
    expect([files.opened, longFiles.size]).toEqual([0, 0]);
  });

  it('end when the disk has no room', async () => {
    const { run, files } = await longRig({ scripted: { one: LIMIT } });
    files.bytesMax = 700_000;
    await expect(run(kept(paused.bytes, RATE), 'one/file')).rejects.toThrow('The disk is full.');
    expect(files.opened).toBe(0);
  });
});

describe('a long file whose speakers are to be kept apart', () => {
  const speakers = { ...LIMIT, capabilities: { diarization: true } };
  const codec = {
    read: (_: unknown, { body }: { body: string }) => {
      const { seconds } = JSON.parse(body) as { seconds: number };
      const utterances = [0, 1].map((speaker) => ({ text: `s${speaker}`, start: speaker, end: speaker + 1, speaker }));
      return { type: 'done' as const, result: { utterances, language: 'en', seconds, warnings: [] } };
    },
  };
  const request = { diarization: true };

  it('goes to a model of the chain that takes it whole', async () => {
    const { run, servers } = await longRig({
      scripted: { one: { ...speakers, codec }, two: { capabilities: { diarization: true }, codec } },
    });
    const { member, attempts } = await run(kept(paused.bytes, RATE), 'one/file', { fallbacks: FALLBACK, request });
    expect([member.slug, attempts]).toEqual(['two/file', [{ model: 'one/file', reason: 'file_too_large' }]]);
    expect([servers.one.arrived.length, servers.two.arrived.length]).toEqual([0, 1]);
  });

  it('is cut where there is none, with separate speakers in each part and a warning', async () => {
    const { run } = await longRig({ scripted: { one: { ...speakers, codec } } });
    const outcome = await run(kept(paused.bytes, RATE), 'one/file', { request });
    expect(codesOf(outcome)).toEqual(['speakers_per_part', 'file_cut']);
    expect(outcome.utterances.map(({ speaker }) => speaker)).toEqual(outcome.utterances.map((_, index) => index));
  });

  it('is refused with `strict`', async () => {
    const { run } = await longRig({ scripted: { one: { ...speakers, codec } } });
    const strict = run(kept(paused.bytes, RATE), 'one/file', { request: { ...request, strict: true } });
    expect((await refusalOf(strict)).code).toBe('file_too_large');
  });
});
