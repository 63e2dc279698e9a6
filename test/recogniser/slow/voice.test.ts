// The voice detector with its real model in a real process, and the speech gate with it.
import { afterAll, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Heard } from '../../../machines/events.ts';
import { type GateOutcome, SpeechGate } from '../../../src/live/upstream/speech-gate.ts';
import { Recogniser } from '../../../src/recogniser/recogniser.ts';
import { speechOf } from '../../live/upstream/segmented-fixture.ts';
import { World } from '../../live/upstream/segmented-world.ts';
import { audioOf, Ear, sample, silence } from '../listening.ts';
import { type Clip, honestClips, voicelessClips } from '../voice-clips.ts';
import { voiceProcesses } from '../voice-processes.ts';

const RATE = 16_000;
const VOICE = { task: { kind: 'voice' } };
const open: Recogniser[] = [];

function recogniserOf(): Recogniser {
  const recogniser = new Recogniser({
    ...{ workers: 1, streamsMax: 8, queueBytesMax: 16 * 1024 ** 2, dictationStreamsMax: 16, dictationSlots: 2 },
  });
  open.push(recogniser);
  return recogniser;
}

afterAll(() => Promise.all(open.map((recogniser) => recogniser.close())));

const shared = recogniserOf();

/** Text for the whole clip, as a model that always finds words gives it; and what the gate makes of it. */
function judged({ samples, sampleRate }: Clip, speechGate: 'mark' | 'drop' = 'mark') {
  return new Promise<{ outcome: GateOutcome | undefined; heard: Heard }>((resolve) => {
    let outcome: GateOutcome | undefined;
    const gate = new SpeechGate({
      mode: speechGate,
      sampleRate,
      engine: shared,
      organisationId: 'org_1',
      // Its time stands still: a busy machine decides nothing here.
      clock: new SimulatedClock(),
      pass: (heard) => {
        resolve({ outcome, heard });
        gate.close();
      },
      onOutcome: (is) => {
        outcome = is;
      },
    });
    const pause = new Uint8Array(2 * Math.round(0.6 * sampleRate));
    const audio = Buffer.concat([pause, new Uint8Array(samples.buffer), pause]);
    for (let at = 0; at < audio.length; at += sampleRate / 5) gate.audio(audio.subarray(at, at + sampleRate / 5));
    const utterance = { text: 'Thank you.', start: 0.6, end: 0.6 + samples.length / sampleRate };
    gate.heard({ type: 'turn.ended', turnId: '1', utterance, formattedFollows: false }, 0);
    gate.finish();
  });
}

describe('the speech gate', () => {
  test.each(voicelessClips().map((clip) => [clip.name, clip] as const))(
    'marks, and drops, text for %s',
    async (_name, clip) => {
      expect(await judged(clip)).toMatchObject({ outcome: 'marked', heard: { noSpeech: true } });
      expect(await judged(clip, 'drop')).toMatchObject({ outcome: 'dropped', heard: { utterance: { text: '' } } });
    },
  );

  test('marks no honest speech: short words, whispers, quiet, by telephone, with noise behind it', async () => {
    const clips = honestClips();
    expect(clips.length).toBeGreaterThan(200);
    const marked: string[] = [];
    for (const clip of clips) {
      const { outcome } = await judged(clip);
      if (outcome !== 'spoken') marked.push(`${clip.name}: ${outcome}`);
    }
    expect(marked).toEqual([]);
  }, 120_000);
});

describe('a leg of a model that finds words in noise', () => {
  const NOISE = speechOf([
    { pauseMs: 700, ms: 900 },
    { pauseMs: 900, ms: 1_400 },
    { pauseMs: 1_200, ms: 800 },
  ]);

  test.each(['mark', 'drop'] as const)('has one final a turn, each without speech (%s)', async (speechGate) => {
    const world = await new World(NOISE, {}, { voices: shared, speechGate }).open();
    world.send();
    await world.finish();
    const texts = speechGate === 'mark' ? ['word0', 'word1', 'word2'] : ['', '', ''];
    expect(world.finals.map(({ text, noSpeech }) => [text, noSpeech])).toEqual(texts.map((text) => [text, true]));
    expect(world.covered).toBe(NOISE.audio.length);
    expect([world.of('leg.failed'), world.faults, world.gone]).toEqual([[], [], true]);
  });
});

describe('streams of voices', () => {
  test('report at least after each half second of audio, and where the voices are', async () => {
    const audio = Buffer.concat([silence(2), audioOf(sample('thermostat.wav')), silence(2)]);
    const messages = await new Ear(shared, VOICE).listen(audio);
    const reports = messages.flatMap((message) => (message.type === 'voice' ? [message] : []));
    for (const [at, { until }] of reports.entries()) {
      expect(until - (reports[at - 1]?.until ?? 0)).toBeLessThanOrEqual(0.55);
    }
    expect(reports.at(-1)?.until).toBeCloseTo(audio.length / 2 / RATE, 3);
    const ranges = reports.flatMap((report) => report.ranges);
    const voiced = ranges.reduce((sum, [start, end]) => sum + end - start, 0);
    expect(voiced).toBeGreaterThan(1);
    expect(ranges[0]?.[0]).toBeGreaterThan(1.7);
    expect(ranges.at(-1)?.[1]).toBeLessThan(audio.length / 2 / RATE - 1.5);
  });

  test('are closed with 1011 when their process is killed, and others are opened in a new one', async () => {
    const recogniser = recogniserOf();
    const ear = new Ear(recogniser, VOICE);
    await ear.said('ready');
    const [pid] = voiceProcesses().slice(-1);
    process.kill(pid as number, 'SIGKILL');
    expect((await ear.closed).code).toBe(1011);
    const messages = await new Ear(recogniser, VOICE).listen(silence(1));
    expect(messages.at(-1)).toEqual({ type: 'finished' });
  });

  test('are refused beyond 48', async () => {
    const recogniser = recogniserOf();
    const ears = Array.from({ length: 48 }, () => new Ear(recogniser, VOICE));
    const refused = new Ear(recogniser, VOICE);
    await refused.said('error');
    expect(refused.messages).toMatchObject([{ type: 'error', code: 'recogniser_overloaded' }]);
    for (const { connection } of ears) connection.terminate();
  });
});
