// A leg that sends each utterance as a file: finals, order, pressure, coverage and failures, against a provider that knows
// the speech by heart.
import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/session-rig.ts';
import { timersOf } from '../session/support.ts';
import { RATE, speechOf } from './segmented-fixture.ts';
import { World } from './segmented-world.ts';

const SHORT = speechOf([
  { pauseMs: 700, ms: 900 },
  { pauseMs: 900, ms: 400 },
  { pauseMs: 200, ms: 400 },
  { pauseMs: 1_200, ms: 800 },
]);
const WORDS = ['word0', 'word1 word2', 'word3'];
const texts = (world: World) => world.finals.map(({ text }) => text);

describe('a leg of a model that takes files only', () => {
  it('reports the start of speech, and gives one final per utterance with its times', async () => {
    const world = await new World(SHORT).open();
    world.send();
    await world.finish();
    expect(texts(world)).toEqual(WORDS);
    for (const { words = [], start, end } of world.finals) {
      for (const { word, start: from, end: to } of words) {
        const said = SHORT.words.find(({ text }) => text === word);
        expect([Math.round(from * RATE), Math.round(to * RATE)]).toEqual([said?.from, said?.to]);
      }
      expect([start, end]).toEqual([words[0]?.start, words.at(-1)?.end]);
    }
    const starts = world.of('leg.heard').flatMap(({ heard }) => (heard.type === 'speech.started' ? heard.start : []));
    expect(starts.length).toBe(WORDS.length);
    expect(world.covered).toBe(SHORT.audio.length);
    expect(world.of('leg.failed')).toEqual([]);
    expect([world.gone, world.upstream.size, timersOf(world.clock), world.faults]).toEqual([true, 0, 0, []]);
    expect(world.reports.map(({ sequence }) => sequence)).toEqual(world.reports.map((_, index) => index + 1));
  });

  it.each([undefined, 0, 0.01])(
    'places a text without times at the speech when the provider reports %s s',
    async (seconds) => {
      const read = () => {
        const utterances = [{ text: 'heard', start: 0, end: seconds ?? 0 }];
        return { type: 'done' as const, result: { utterances, language: undefined, seconds, warnings: [] } };
      };
      const world = await new World(SHORT, { read }).open();
      world.send();
      await world.finish();
      expect(world.finals.length).toBe(WORDS.length);
      for (const [index, { start, end }] of world.finals.entries()) {
        const { from, to } = [SHORT.words[0], { from: SHORT.words[1]!.from, to: SHORT.words[2]!.to }, SHORT.words[3]][
          index
        ]!;
        expect(Math.abs(start - from / RATE)).toBeLessThan(0.1);
        expect(Math.abs(end - to / RATE)).toBeLessThan(0.1);
      }
    },
  );

  it('gives the finals in order, also when the answers come in another', async () => {
    const world = await new World(SHORT).open();
    const { knowing } = world;
    knowing.fates = ['late'];
    world.send();
    const finished = world.finish();
    // Everything else is asked for and answered meanwhile.
    await knowing.http.until(() => knowing.heard.length === 3);
    expect(texts(world)).toEqual([]);
    knowing.waiting[0]?.answer();
    await finished;
    expect(texts(world)).toEqual(WORDS);
  });

  it('asks for two utterances at a time, and holds audio back while others wait', async () => {
    const speech = speechOf(Array.from({ length: 12 }, () => ({ pauseMs: 900, ms: 500 })));
    const world = await new World(speech).open();
    const { knowing } = world;
    knowing.fates = Array.from({ length: 12 }, () => 'late');
    const sent = world.send();
    expect(world.held).toBe(true);
    expect(sent).toBeLessThan(speech.audio.length / 2);
    for (let answered = 0; answered < 12; answered++) {
      // The last two: nothing follows them.
      const inFlight = Math.min(2, 12 - answered);
      await knowing.http.until(() => knowing.waiting.length === inFlight);
      expect(knowing.heard.length).toBe(answered + inFlight);
      knowing.waiting.shift()?.answer();
      await world.until(() => world.finals.length > answered);
      world.send();
    }
    await world.finish();
    expect(texts(world)).toEqual(speech.words.map(({ text }) => text));
    expect(world.held).toBe(false);
  });

  it('holds audio back when there is too much without an answer, however few utterances that is', async () => {
    const speech = speechOf([{ pauseMs: 500, ms: 70_000 }]);
    const world = await new World(speech).open();
    world.knowing.fates = ['late', 'late'];
    const sent = world.send();
    expect(sent / RATE).toBeGreaterThan(30);
    expect(sent / RATE).toBeLessThan(40);
    world.leg.command({ type: 'leg.close' });
  });

  it('reports silence, so that no audio is kept for it', async () => {
    const world = await new World(speechOf([{ pauseMs: 30_000, ms: 500 }])).open();
    world.send(29 * RATE);
    expect(world.covered / RATE).toBeGreaterThan(23);
    expect(world.covered / RATE).toBeLessThan(29);
    expect(world.knowing.heard).toEqual([]);
    world.send();
    await world.finish();
    expect(texts(world)).toEqual(['word0']);
  });

  it('ends a turn without words where none were found, and counts it as covered', async () => {
    const world = await new World(SHORT).open();
    world.knowing.fates = ['nothing'];
    world.send();
    await world.until(() => world.finals.length === 1);
    await world.finish();
    expect(texts(world)).toEqual(WORDS.slice(1));
    expect(world.covered).toBe(SHORT.audio.length);
  });

  it('ends an utterance where it is asked to', async () => {
    const world = await new World(SHORT).open();
    const [, second] = SHORT.words;
    world.send((second?.to ?? 0) + 800);
    world.leg.command({ type: 'leg.finalize' });
    await world.until(() => world.finals.length === 2);
    world.send();
    await world.finish();
    expect(texts(world)).toEqual(['word0', 'word1', 'word2', 'word3']);
  });

  it('fills an utterance up with silence that is too short for a file', async () => {
    const world = await new World(SHORT).open();
    const [first] = SHORT.words;
    world.send((first?.from ?? 0) + 800);
    world.leg.command({ type: 'leg.finalize' });
    await world.until(() => world.finals.length === 1);
    expect(Number(world.knowing.http.arrived[0]?.headers['content-length'])).toBe(44 + 2 * RATE);
    // Whatever the provider says of the silence, the turn ends with what was heard.
    expect(world.finals[0]?.end).toBeLessThanOrEqual(((first?.from ?? 0) + 800) / RATE);
    world.leg.command({ type: 'leg.close' });
  });
});

describe('a failure of such a leg', () => {
  it.each([
    ['refuse', 'retry', 'http_500'],
    ['cut', 'retry', 'connection_lost'],
    ['cut_answer', 'retry', 'connection_lost'],
  ] as const)('%s: one utterance fails, and with it the leg', async (fate, kind, code) => {
    const world = await new World(SHORT).open();
    world.knowing.fates = ['answer', fate];
    world.send();
    await world.until(() => world.of('leg.failed').length === 1);
    expect(world.of('leg.failed')[0]?.failure).toMatchObject({ kind, code });
    // What had its final keeps it, and the next leg begins behind it.
    expect(texts(world).length).toBeLessThanOrEqual(1);
    await settle();
    expect([world.gone, timersOf(world.clock)]).toEqual([true, 0]);
    expect(world.reports.at(-1)?.type).toBe('leg.failed');
  });

  it('follows a missing answer only when the utterance’s time is over', async () => {
    const world = await new World(SHORT).open();
    world.knowing.fates = ['stall'];
    world.send(2.6 * RATE);
    await world.knowing.http.until(() => world.knowing.heard.length === 1);
    world.clock.increment(14_000);
    expect(world.of('leg.failed')).toEqual([]);
    world.clock.increment(2_000);
    await world.until(() => world.of('leg.failed').length === 1);
    expect(world.of('leg.failed')[0]?.failure).toMatchObject({ kind: 'next', code: 'answer_timeout' });
  });

  it('ends the turn of unusable audio with one warning, and the leg continues', async () => {
    const unusable = {
      kind: 'caller',
      reason: 'upstream_error',
      code: 'audio_unusable',
      message: 'No speech in this file.',
    } as const;
    const world = await new World(SHORT, { refused: () => unusable }).open();
    world.knowing.fates = ['refuse', 'answer', 'refuse'];
    world.send();
    await world.finish();
    expect(texts(world)).toEqual(['word1 word2']);
    const warnings = world.of('leg.heard').flatMap(({ heard }) => (heard.type === 'warned' ? heard.code : []));
    expect(warnings).toEqual(['utterance_unusable']);
    expect(world.of('leg.finished').length).toBe(1);
  });

  it('follows a frame lost on its way', async () => {
    const world = await new World(SHORT).open();
    world.leg.command({ type: 'leg.audio', sequence: 2 }, new Uint8Array(320));
    expect(world.of('leg.failed')[0]?.failure.code).toBe('audio_lost');
  });

  it('ends every request when the leg is closed', async () => {
    const world = await new World(SHORT).open();
    const { knowing } = world;
    knowing.fates = ['late', 'late'];
    world.send();
    await knowing.http.until(() => knowing.waiting.length === 2);
    world.leg.command({ type: 'leg.close' });
    await knowing.allLeft(2);
    await settle();
    expect([world.gone, timersOf(world.clock)]).toEqual([true, 0]);
    expect(texts(world)).toEqual([]);
  });
});
