// Utterances of a model that takes files only, with a voice detector: noise opens no turn and keeps none open, and costs no request;
// where the detector is not there, is late or fails, every utterance is sent.
import { describe, expect, it } from 'vitest';
import { FakeVoices, voiced } from '../../fakes/audio/fake-voices.ts';
import { settle } from '../../fakes/session-rig.ts';
import { timersOf } from '../session/support.ts';
import { RATE, type Speech, speechOf } from './segmented-fixture.ts';
import { World } from './segmented-world.ts';

/** Sounds, of which those of the given places are voices. */
function soundsOf(words: readonly { pauseMs: number; ms: number }[], isVoice: (word: number) => boolean): Speech {
  const speech = speechOf(words);
  for (const [index, { from, to }] of speech.words.entries()) {
    if (!isVoice(index)) continue;
    const voice = voiced(new Uint8Array(speech.audio.slice(from, to).buffer));
    speech.audio.set(new Int16Array(voice.buffer), from);
  }
  return speech;
}

/** Sends it as it is spoken. */
async function stream(world: World, { audio }: Speech): Promise<void> {
  for (let to = RATE / 10; to < audio.length + RATE / 10; to += RATE / 10) {
    world.send(Math.min(to, audio.length));
    world.clock.increment(100);
    await settle();
  }
}

const texts = (world: World) => world.finals.map(({ text }) => text).filter((text) => text !== '');
const starts = (world: World) =>
  world.of('leg.heard').flatMap(({ heard }) => (heard.type === 'speech.started' ? [heard.start] : []));

const MIXED = [
  { pauseMs: 700, ms: 900 },
  { pauseMs: 900, ms: 1_400 },
  { pauseMs: 1_200, ms: 800 },
];

describe('an utterance of a model that takes files only', () => {
  it.each([
    ['drop', ['word1']],
    ['mark', ['word0', 'word1', 'word2']],
    [undefined, ['word0', 'word1', 'word2']],
  ] as const)(
    'is left out without a voice only if its text would be dropped (speech gate %s)',
    async (speechGate, words) => {
      const speech = soundsOf(MIXED, (word) => word === 1);
      const voices = new FakeVoices();
      const world = await new World(speech, {}, { voices, ...(speechGate === undefined ? {} : { speechGate }) }).open();
      await stream(world, speech);
      await world.finish();
      expect([world.knowing.heard.length, texts(world)]).toEqual([words.length, words]);
      expect(world.covered).toBe(speech.audio.length);
      expect([voices.streams, timersOf(world.clock), world.faults]).toEqual([0, 0, []]);
    },
  );

  it('is always sent when it is shorter than half a second: a whispered word may be missed', async () => {
    const speech = soundsOf([{ pauseMs: 700, ms: 400 }], () => false);
    const world = await new World(speech, {}, { voices: new FakeVoices(), speechGate: 'drop' }).open();
    await stream(world, speech);
    await world.finish();
    expect(world.knowing.heard).toHaveLength(1);
  });

  it.each(['dies', 'refuses', 'silent'] as const)('is sent when the detector %s', async (manner) => {
    const speech = soundsOf(MIXED, () => false);
    const voices = new FakeVoices();
    voices.manner = manner;
    const world = await new World(speech, {}, { voices, speechGate: 'drop' }).open();
    await stream(world, speech);
    const finished = world.finish();
    await world.knowing.http.until(() => world.knowing.heard.length === 3);
    for (let waited = 0; waited < 4; waited++) {
      await settle();
      world.clock.increment(500);
    }
    await finished;
    expect(world.knowing.heard).toHaveLength(3);
    expect(voices.streams).toBe(0);
  });

  it.each([undefined, 'drop'] as const)(
    'ends with its voice though the noise continues, and the noise opens no turn (speech gate %s)',
    async (speechGate) => {
      const speech = soundsOf(
        [
          { pauseMs: 700, ms: 4_000 },
          { pauseMs: 0, ms: 12_000 },
          { pauseMs: 0, ms: 3_000 },
        ],
        (word) => word !== 1,
      );
      const gate = speechGate === undefined ? {} : { speechGate };
      const world = await new World(speech, {}, { voices: new FakeVoices(), ...gate }).open();
      await stream(world, speech);
      await world.finish();
      const [first, last] = [world.knowing.heard[0], world.knowing.heard.at(-1)];
      expect(world.knowing.heard).toHaveLength(2);
      expect((first?.to as number) / RATE).toBeLessThan(6.5);
      expect(first?.to).toBeGreaterThanOrEqual(speech.words[0]!.to);
      expect(last?.from).toBeLessThanOrEqual(speech.words[2]!.from);
      if (speechGate === 'drop') expect((last?.from as number) / RATE).toBeGreaterThan(13);
      expect(last?.to).toBeGreaterThanOrEqual(speech.words[2]!.to);
      expect(starts(world).map(Math.round)).toEqual([1, 17]);
      expect(world.covered).toBe(speech.audio.length);
    },
  );

  it.each([undefined, 'drop'] as const)(
    'has every sample of a voice, wherever it begins in noise (speech gate %s)',
    async (speechGate) => {
      const gate = speechGate === undefined ? {} : { speechGate };
      for (let ms = 2_000; ms < 3_500; ms += 130) {
        const speech = soundsOf(
          [
            { pauseMs: 700, ms },
            { pauseMs: 0, ms: 1_200 },
            { pauseMs: 0, ms: 5_000 },
          ],
          (word) => word === 1,
        );
        const world = await new World(speech, {}, { voices: new FakeVoices(), ...gate }).open();
        await stream(world, speech);
        await world.finish();
        const { from, to } = speech.words[1]!;
        expect(world.knowing.heard.some((range) => range.from <= from && range.to >= to)).toBe(true);
      }
    },
  );
});
