// Dictation with the real model in a real process: what it understands, what it leaves out, and what becomes of a process that ends.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { StreamMessage } from '../../../src/recogniser/protocol.ts';
import { Recogniser, type RecogniserOptions } from '../../../src/recogniser/recogniser.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { firstKeyIn, startVoxgate } from '../../fakes/processes/voxgate.ts';
import { seeded } from '../../fakes/random.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { audioOf, Ear, finalsOf, queryFor, sample, silence, textsOf } from '../listening.ts';

const RATE = 16_000;
const LAST_RESORT = { VOXGATE_LAST_RESORT: 'local/dictation-en' };
const open: Recogniser[] = [];

function recogniserOf(options: Partial<RecogniserOptions> = {}): Recogniser {
  const recogniser = new Recogniser({
    ...{ workers: 1, streamsMax: 8, queueBytesMax: 16 * 1024 ** 2, dictationStreamsMax: 16, dictationSlots: 2 },
    ...options,
  });
  open.push(recogniser);
  return recogniser;
}

afterAll(() => Promise.all(open.map((recogniser) => recogniser.close())));

const shared = recogniserOf();
const query = queryFor('local/dictation-en');
const listen = (audio: Uint8Array, recogniser = shared): Promise<StreamMessage[]> =>
  new Ear(recogniser, query).listen(audio);

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/[^a-z' ]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);

function pcmOf(seconds: number, at: (sample: number) => number): Uint8Array {
  return new Uint8Array(Int16Array.from({ length: seconds * RATE }, (_, n) => Math.round(32_767 * at(n))).buffer);
}

/** Processes that this one started and that run a speech model. */
function modelProcesses(parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
        const isChild = Number(rest.split(' ')[1]) === parent;
        return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('dictation/worker');
      } catch {
        return false;
      }
    });
}

describe('what it understands', () => {
  test('an unknown sentence, with punctuation and words in their order', async () => {
    const speech = sample('alignment.wav');
    const finals = finalsOf(await listen(audioOf(speech)));
    const heard = finals.map(({ text }) => text).join(' ');
    expect(wordsOf(heard)).toEqual(
      expect.arrayContaining(['bridge', 'crosses', 'river', 'every', 'morning', 'school']),
    );
    expect(heard).toMatch(/^[A-Z].*[.?!]$/);
    for (const { words, start, end, estimated } of finals) {
      const times = words.flatMap((word) => [word.start, word.end]);
      expect(times).toEqual([...times].sort((one, other) => one - other));
      expect([times[0], times.at(-1), estimated]).toEqual([start, end, true]);
    }
  });

  test('the same text however the audio is cut', async () => {
    const audio = audioOf(sample('thermostat.wav'));
    const whole = textsOf(await listen(audio));
    expect(wordsOf(whole.join(' '))).toContain('temperature');
    for (const chunkBytes of [640, 3_201, 64_000]) {
      expect(textsOf(await new Ear(shared, query).listen(audio, chunkBytes))).toEqual(whole);
    }
  });

  test('many streams at once, each its own', async () => {
    const [one, other] = [audioOf(sample('thermostat.wav')), audioOf(sample('alignment.wav'))];
    const alone = [textsOf(await listen(one)), textsOf(await listen(other))];
    const heard = await Promise.all(Array.from({ length: 10 }, (_, at) => listen(at % 2 === 0 ? one : other)));
    expect(heard.map(textsOf)).toEqual(heard.map((_, at) => alone[at % 2]));
  });

  test('three hundred short utterances of one recording, each with its own final', async () => {
    const recogniser = recogniserOf({ queueBytesMax: 64 * 1024 ** 2 });
    const yes = audioOf(sample('yes.wav'));
    const recording = Buffer.concat(Array.from({ length: 300 }, () => [yes, silence(0.6)]).flat());
    const finals = finalsOf(await listen(recording, recogniser));
    expect(finals.length).toBe(300);
    const starts = finals.map(({ start }) => start);
    expect(starts).toEqual([...starts].sort((early, late) => early - late));
  }, 120_000);
});

describe('what it leaves out', () => {
  const random = seeded(41);
  const noise = () => random.next() * 2 - 1;
  const chord = [220, 277.18, 329.63, 440];
  test.each<[string, Uint8Array]>([
    ['silence', silence(20)],
    ['quiet noise', pcmOf(20, () => 0.003 * noise())],
    ['loud noise', pcmOf(20, () => 0.2 * noise())],
    ['the hum of a mains', pcmOf(20, (n) => 0.3 * Math.sin((2 * Math.PI * 50 * n) / RATE))],
    ['a chord', pcmOf(20, (n) => 0.1 * chord.reduce((sum, hz) => sum + Math.sin((2 * Math.PI * hz * n) / RATE), 0))],
    [
      'a dial tone',
      pcmOf(20, (n) => 0.2 * (Math.sin((2 * Math.PI * 350 * n) / RATE) + Math.sin((2 * Math.PI * 440 * n) / RATE))),
    ],
    ['clicks', pcmOf(20, (n) => (n % 4_000 < 20 ? 0.8 * noise() : 0))],
  ])('%s', async (_name, audio) => {
    expect(textsOf(await listen(audio))).toEqual([]);
  });
});

describe('its process', () => {
  test('starts with the first stream', async () => {
    const before = modelProcesses().length;
    const recogniser = recogniserOf();
    expect(modelProcesses().length).toBe(before);
    await listen(silence(0.1), recogniser);
    expect(modelProcesses().length).toBe(before + 1);
    await recogniser.close();
    expect(modelProcesses().length).toBe(before);
  });

  test('is not given the keys of providers', async () => {
    const others = new Set(modelProcesses());
    process.env.EXAMPLE_API_KEY = 'example-secret';
    const recogniser = recogniserOf();
    await listen(silence(0.1), recogniser);
    delete process.env.EXAMPLE_API_KEY;
    const [pid] = modelProcesses().filter((each) => !others.has(each));
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    expect([environment.includes('PATH='), environment.includes('example-secret')]).toEqual([true, false]);
  });

  test.each<[string, number, Record<string, string>, Record<string, string>]>([
    ['starts when a session begins that names it as a fallback', 1, {}, { fallbacks: 'local/dictation-en' }],
    ['starts when a session begins that has it as last resort', 1, LAST_RESORT, {}],
    ['does not start for a session that has it as last resort in English alone', 0, LAST_RESORT, { language: 'fr' }],
    ['does not start for a session that does not name it', 0, {}, {}],
  ])('%s', async (_, count, env, query) => {
    const others = new Set(modelProcesses());
    const live = await startLiveGateway(env);
    const client = live.connect({ model: 'loopback/script', ...query });
    await client.event('session_started');
    expect(modelProcesses().filter((pid) => !others.has(pid)).length).toBe(count);
    client.send({ type: 'close' });
    await client.close();
  });

  test('serves the first stream at once when it was started ahead', async () => {
    const recogniser = recogniserOf();
    const before = modelProcesses().length;
    recogniser.keepReady('dictation-en');
    expect(modelProcesses().length).toBe(before + 1);
    expect(textsOf(await listen(audioOf(sample('yes.wav')), recogniser)).length).toBe(1);
    expect(modelProcesses().length).toBe(before + 1);
  });

  test('ends after five idle minutes', async () => {
    const before = modelProcesses().length;
    const clock = new SimulatedClock();
    const recogniser = recogniserOf({ clock });
    await listen(silence(0.1), recogniser);
    clock.increment(299_999);
    expect(modelProcesses().length).toBe(before + 1);
    clock.increment(1);
    await expect.poll(() => modelProcesses().length).toBe(before);
  });

  test('closes its streams with 1011 when it is killed, and the next stream has another', async () => {
    const faults: string[] = [];
    const others = new Set(modelProcesses());
    const recogniser = recogniserOf({ onFault: ({ message }) => faults.push(message) });
    const ears = [new Ear(recogniser, query), new Ear(recogniser, query)];
    await Promise.all(ears.map((ear) => ear.said('ready')));
    for (const pid of modelProcesses().filter((each) => !others.has(each))) process.kill(pid, 'SIGSEGV');
    expect(await Promise.all(ears.map(({ closed }) => closed))).toEqual(
      ears.map(() => ({ code: 1011, reason: 'The recogniser failed.' })),
    );
    expect(faults).toEqual(['A process of the recogniser ended with SIGSEGV.']);
    expect(textsOf(await listen(audioOf(sample('thermostat.wav')), recogniser)).length).toBe(1);
  });

  test('ends with the gateway, however that ends', async () => {
    const directory = temporaryDirectory();
    const gateway = startVoxgate(['serve'], { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: directory });
    const address = await new Promise<string>((resolve) => {
      let text = '';
      gateway.stdout.on('data', (data) => {
        text += data;
        const port = /"port":(\d+)/.exec(text)?.[1];
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
      });
    });
    await expect.poll(() => firstKeyIn(directory)).toBeDefined();
    const form = new FormData();
    form.append('model', 'local/dictation-en');
    form.append('file', new Blob([readFileSync(new URL('../../fixtures/audio/yes.wav', import.meta.url))]), 'yes.wav');
    const headers = { authorization: `Bearer ${firstKeyIn(directory)}` };
    const answer = await fetch(`${address}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
    expect(await answer.json()).toMatchObject({ text: expect.stringMatching(/^Ye/) });
    const [child] = modelProcesses(gateway.pid);
    expect(child).toBeTypeOf('number');
    gateway.kill('SIGKILL');
    const isThere = () =>
      execFileSync('sh', ['-c', `test -e /proc/${child} && echo yes || echo no`], { encoding: 'utf8' }).trim();
    await expect.poll(isThere, { timeout: 10_000 }).toBe('no');
  }, 60_000);
});

test('refuses a stream beyond the limit by name', async () => {
  const recogniser = recogniserOf({ dictationStreamsMax: 1 });
  const first = new Ear(recogniser, query);
  expect((await new Ear(recogniser, query).closed).reason).toBe('recogniser_overloaded');
  first.connection.terminate();
  expect(textsOf(await listen(audioOf(sample('yes.wav')), recogniser)).length).toBe(1);
});
