// A lane that is behind leaves out silence in pauses, and nothing else; the leg's timeline says where.
import { describe, expect, test } from 'vitest';
import type { AudioPipeline, LaneContract } from '../../src/audio/pipeline.ts';
import { samplesOf } from '../fakes/audio/numbered-audio.ts';
import { type Random, seeded } from '../fakes/random.ts';
import { ANY_SIZE, AT_LEAST_50_MS, pipelineOf, RATE } from './pipeline-fixture.ts';

const REAL_TIME: LaneContract = { ...AT_LEAST_50_MS, speedMax: 1, burstMs: 500 };

/** Talk, each loud sample of which differs from those around it. */
function talk(parts: readonly { seconds: number; isLoud: boolean }[]): Int16Array {
  const samples = new Int16Array(parts.reduce((sum, { seconds }) => sum + Math.round(seconds * RATE), 0));
  let at = 0;
  for (const { seconds, isLoud } of parts) {
    const end = at + Math.round(seconds * RATE);
    for (; at < end; at++) if (isLoud) samples[at] = (at % 2 === 0 ? 1 : -1) * (2_000 + (at % 20_000));
  }
  return samples;
}

const wire = (samples: Int16Array): Uint8Array => new Uint8Array(samples.slice().buffer);

/** Words and pauses as they come. */
const drawn = (random: Random, words: number) =>
  Array.from({ length: words }, () => [
    { seconds: 0.1 + random.next(), isLoud: true },
    { seconds: random.pick([0.05, 0.2, 0.4, 0.8, 2, 6]) * (0.5 + random.next()), isLoud: false },
  ]).flat();

/** One leg of a session: takes what may leave, and holds every sample of it against the session's audio. */
class Leg {
  readonly pipeline: AudioPipeline;
  readonly #audio: Int16Array;
  given = 0;
  turnEnds: number[] = [];
  origin = 0;

  constructor(pipeline: AudioPipeline, audio: Int16Array) {
    this.pipeline = pipeline;
    this.#audio = audio;
  }

  open(contract: LaneContract, nowMs: number): void {
    this.origin = this.pipeline.openLane(contract, nowMs).originSample;
    this.given = 0;
  }

  pump(nowMs: number): void {
    const { pipeline } = this;
    for (let frame = pipeline.next(nowMs); frame !== undefined; frame = pipeline.next(nowMs)) {
      const heard = samplesOf(frame.bytes).subarray(0, frame.samples);
      for (let i = 0; i < heard.length; i++) {
        if (heard[i] !== this.#audio[pipeline.legTimeline.startOf(this.given + i)])
          throw new Error(`Sample ${this.given + i} of the leg is not where its timeline says.`);
      }
      this.given += frame.samples;
      expect(pipeline.sentSamples).toBe(pipeline.legTimeline.startOf(this.given));
      if (frame.endsTurn) this.turnEnds.push(pipeline.sentSamples);
    }
  }

  /** Until all is given out. Returns when. */
  finish(nowMs: number): number {
    let now = nowMs;
    for (this.pump(now); !this.pipeline.drained; this.pump(now)) now += this.pipeline.waitMs(now);
    return now;
  }
}

describe('a backlog on a leg that takes no more than real time', () => {
  test('plays to the sample without its silence, with any pauses and without losing sound', () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = seeded(seed);
      const audio = talk(drawn(random, 12));
      const pipeline = pipelineOf({ replayMs: 600_000, memoryBytesMax: random.pick([100_000, 8_000_000]) });
      pipeline.push(wire(audio));
      pipeline.end();
      const leg = new Leg(pipeline, audio);
      leg.open(REAL_TIME, 0);
      const tookMs = leg.finish(0);
      const sounds = audio.filter((sample) => sample !== 0).length;
      // Of each pause at most what is kept, less than a frame more, and what is not worth leaving out.
      expect(tookMs).toBeLessThanOrEqual((sounds * 1000) / RATE + 12 * 500);
      expect(leg.given).toBeGreaterThanOrEqual(sounds);
      // Whoever fails over from it hears all of it again, from where a final has ended.
      const covered = Math.round(random.next() * pipeline.receivedSamples);
      pipeline.trim(covered);
      leg.open(random.pick([REAL_TIME, { ...ANY_SIZE, speedMax: 1.25, burstMs: 1_000 }]), tookMs);
      const tail = audio.subarray(covered, leg.origin).filter((sample) => sample !== 0).length;
      expect(tail).toBeLessThanOrEqual(0.2 * RATE);
      leg.finish(tookMs);
      pipeline.dispose();
    }
  });

  test('keeps 300 ms of each pause', () => {
    const audio = talk([
      { seconds: 3, isLoud: true },
      { seconds: 5, isLoud: false },
      { seconds: 2, isLoud: true },
    ]);
    const pipeline = pipelineOf();
    pipeline.push(wire(audio));
    pipeline.end();
    const leg = new Leg(pipeline, audio);
    leg.open(REAL_TIME, 0);
    leg.finish(0);
    const keptMs = ((leg.given - 5 * RATE) * 1000) / RATE;
    expect(keptMs).toBeGreaterThanOrEqual(300);
    // A window of loudness, and the rest of a step.
    expect(keptMs).toBeLessThanOrEqual(345);
    pipeline.dispose();
  });

  test('says once of each pause that it ends a turn, as long as the pause was, and of none that does not', () => {
    const audio = talk([
      { seconds: 2, isLoud: false },
      ...[0.9, 3, 1.1].flatMap((seconds) => [
        { seconds: 1, isLoud: true },
        { seconds, isLoud: false },
      ]),
      { seconds: 1, isLoud: true },
    ]);
    const pipeline = pipelineOf();
    pipeline.push(wire(audio));
    pipeline.end();
    const leg = new Leg(pipeline, audio);
    leg.open({ ...REAL_TIME, turnPauseMs: 1_000 }, 0);
    leg.finish(0);
    // Told before the next word, of which the leg has heard nothing yet.
    expect(leg.turnEnds.map((sample) => Math.ceil((sample * 10) / RATE) / 10)).toEqual([7.8, 9.9]);
    pipeline.dispose();
  });

  test('keeps a noisy room during soft speech, and skips steady noise', () => {
    const noise = (level: number) => (_: number, i: number) => (Math.floor(i / 8) % 2 === 0 ? level : -level);
    const seconds = (count: number, level: number) => Array.from({ length: count * RATE }, noise(level));
    // -72 dBFS, a voice at -60, and again; the first seconds are for learning what the noise is.
    const soft = Int16Array.from([8, 32, 8, 32, 8].flatMap((level) => seconds(level === 8 ? 6 : 2, level)));
    const pipeline = pipelineOf();
    pipeline.push(wire(soft));
    pipeline.end();
    const leg = new Leg(pipeline, soft);
    leg.open(REAL_TIME, 0);
    leg.finish(0);
    expect(leg.given / RATE).toBeGreaterThan(4 + 3 * 0.3);
    expect(leg.given / RATE).toBeLessThan(4 + 3 * 0.5);
    pipeline.dispose();
  });

  test('skips an hour of silence in seconds, within the memory of a replay', () => {
    const pipeline = pipelineOf({ replayMs: 60_000 });
    const minute = new Uint8Array(60 * RATE * 2);
    for (let count = 0; count < 60; count++) pipeline.push(minute);
    pipeline.openLane(REAL_TIME, 0);
    let most = 0;
    let now = 0;
    while (pipeline.receivedSamples - pipeline.sentSamples > RATE && now < 60_000) {
      while (pipeline.next(now) !== undefined) most = Math.max(most, pipeline.bufferedBytes);
      now += 100;
    }
    expect(now).toBeLessThan(15_000);
    expect(most).toBeLessThan(6 * 1024 * 1024);
    pipeline.dispose();
  });
});

test('skips nothing without a backlog, with any pauses and splits', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = seeded(seed);
    const audio = talk(drawn(random, 8));
    const pipeline = pipelineOf();
    const leg = new Leg(pipeline, audio);
    leg.open(REAL_TIME, 0);
    const chunk = random.pick([320, 1_600, 4_000]);
    for (let at = 0; at < audio.length; at += chunk) {
      pipeline.push(wire(audio.subarray(at, at + chunk)));
      leg.pump((at * 1000) / RATE);
    }
    pipeline.end();
    leg.finish((audio.length * 1000) / RATE);
    expect([leg.given, pipeline.legTimeline.skips]).toEqual([audio.length, 0]);
    pipeline.dispose();
  }
});

test.each([8_000, 11_025, 24_000])('maps a leg’s audio to its timeline at %i Hz', (sampleRate) => {
  for (let seed = 1; seed <= 2; seed++) {
    const random = seeded(seed);
    const parts = drawn(random, 10);
    const audio = Int16Array.from(talk(parts), (sample, i) =>
      sample === 0 ? 0 : Math.round(9_000 * Math.sin(i / 9) + 0.5),
    );
    const pipeline = pipelineOf();
    pipeline.push(wire(audio));
    pipeline.end();
    pipeline.openLane({ ...REAL_TIME, sampleRate }, 0);
    let given = 0;
    let now = 0;
    const heard = new Uint8Array(audio.length);
    while (!pipeline.drained) {
      const frame = pipeline.next(now);
      if (frame === undefined) {
        now += pipeline.waitMs(now);
        continue;
      }
      for (const sample of samplesOf(frame.bytes)) {
        const session = pipeline.legTimeline.startOf(Math.round((given * RATE) / sampleRate));
        if (Math.abs(sample) > 500) heard[session] = 1;
        given++;
      }
    }
    expect(pipeline.legTimeline.skips).toBeGreaterThan(0);
    // The filter blurs by a millisecond.
    const blur = RATE / 1000;
    const wrong: number[] = [];
    for (let at = blur; at + 2 * blur < audio.length; at += blur) {
      const around = audio.subarray(at - blur, at + 2 * blur);
      const isHeard = heard.subarray(at, at + blur).includes(1);
      const [sounds, isSilent] = [around.every((sample) => sample !== 0), around.every((sample) => sample === 0)];
      if ((sounds || isSilent) && isHeard !== sounds) wrong.push(at);
    }
    expect(wrong).toEqual([]);
    pipeline.dispose();
  }
});

describe('a replay', () => {
  /** Two words and what is between them, all of it sent; then a final up to so many seconds, and the next leg. */
  const replayFrom = (coveredSeconds: number, pauseSeconds: number, contract = REAL_TIME) => {
    const audio = talk([
      { seconds: 1.1, isLoud: true },
      { seconds: pauseSeconds, isLoud: false },
      { seconds: 0.15, isLoud: true },
      { seconds: 1, isLoud: false },
    ]);
    // A quiet room, at -55 dBFS.
    const heard = audio.map((sample, i) => (sample === 0 ? (Math.floor(i / 32) % 2 === 0 ? 60 : -60) : sample));
    const pipeline = pipelineOf();
    pipeline.push(wire(heard));
    pipeline.end();
    pipeline.openLane(ANY_SIZE, 0);
    while (pipeline.next(0) !== undefined);
    pipeline.trim(coveredSeconds * RATE);
    const leg = new Leg(pipeline, heard);
    leg.open(contract, 0);
    leg.finish(0);
    pipeline.dispose();
    return { origin: leg.origin / RATE, given: leg.given / RATE };
  };

  test.each([
    ['after the sound of the last word, which lasts beyond its reported end', 1, 0.5, 1.1],
    ['at the end of the last final where all is quiet', 1.3, 0.5, 1.3],
    ['at once where the next word has begun, however short it is', 1.65, 0.5, 1.65],
    ['at once where the last word lasts longer than words sound', 0.5, 0.5, 0.5],
  ])('begins %s', (_, covered, pause, origin) => {
    expect(replayFrom(covered, pause).origin).toBeCloseTo(origin, 5);
  });

  test('shrinks 41 s with 40 s of a quiet room to two seconds', () => {
    const { origin, given } = replayFrom(1.05, 40, { ...REAL_TIME, speedMax: 1.25, burstMs: 1_000 });
    expect(origin).toBeLessThan(2);
    expect(given).toBeLessThan(2);
  });
});
