// The scripted provider: plays its script by the position of the audio, whatever the frames, and fails when it is told to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { EngineConnection } from '../../../src/vendors/kit/provider.ts';
import { LoopbackEngine } from '../../../src/vendors/loopback/simulator.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { settle } from '../../fakes/session-rig.ts';
import { timersOf } from '../../live/session/support.ts';

const RATE = 16_000;

interface Stage {
  clock: SimulatedClock;
  engine: LoopbackEngine;
  connection: EngineConnection;
  said: { type: string; [member: string]: unknown }[];
  closed: number[];
}

async function connect(model: string, params: object = {}, interims = true): Promise<Stage> {
  const clock = new SimulatedClock();
  const engine = new LoopbackEngine(clock);
  const said: Stage['said'] = [];
  const closed: number[] = [];
  const connection = engine.connect(
    {},
    {
      open: () => connection.send({ type: 'start', model, sampleRate: RATE, interims, params }),
      message: (json) => said.push(json as Stage['said'][number]),
      drained: () => {},
      closed: (code) => closed.push(code),
    },
  );
  await settle();
  return { clock, engine, connection, said, closed };
}

const textsOf = ({ said }: Stage, type: string) => said.filter((each) => each.type === type).map(({ text }) => text);

describe('the scripted provider', () => {
  it('sends the same finals for any frames', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 40 }), async (sizes) => {
        const stage = await connect('numbered', { turn_seconds: 0.25 }, false);
        const audio = numberedAudio(0, 2 * RATE);
        let at = 0;
        for (const size of [...sizes, 2 * RATE]) {
          stage.connection.send(audio.subarray(at, at + 2 * size));
          at = Math.min(audio.length, at + 2 * size);
        }
        stage.connection.send({ type: 'finish' });
        await settle();
        expect(textsOf(stage, 'final')).toEqual(
          Array.from({ length: 8 }, (_, turn) => `${turn * 4_000}-${(turn + 1) * 4_000}`),
        );
        expect(stage.said.at(-1)).toEqual({ type: 'finished' });
        expect(textsOf(stage, 'finished')).toHaveLength(1);
      }),
      { numRuns: 30 },
    );
  });

  it('says nothing inside a call', async () => {
    const stage = await connect('script');
    const before = stage.said.length;
    stage.connection.send(new Uint8Array(20 * RATE));
    stage.connection.send({ type: 'finish' });
    expect(stage.said.length).toBe(before);
    await settle();
    expect(stage.said.length).toBeGreaterThan(before);
  });

  it('names the gaps and repeats that it receives', async () => {
    const stage = await connect('numbered', { turn_seconds: 600 });
    for (const [from, to] of [
      [0, 100],
      [150, 200],
      [190, 210],
    ] as const) {
      stage.connection.send(numberedAudio(from, to));
    }
    stage.connection.send({ type: 'finalize' });
    await settle();
    expect(textsOf(stage, 'final')).toEqual([`0-100 150-200 ${65_536 + 190}-${65_536 + 210}`]);
  });

  it('begins its script again when it is over, and grows each interim towards its final', async () => {
    const stage = await connect('script', {
      turns: [
        { text: 'a b c', seconds: 1 },
        { text: '', seconds: 0.5 },
      ],
      interim_seconds: 0.25,
    });
    for (let frame = 0; frame < 30; frame++) stage.connection.send(new Uint8Array(3_200));
    await settle();
    expect(textsOf(stage, 'final')).toEqual(['a b c', '', 'a b c', '']);
    expect(textsOf(stage, 'interim').slice(0, 3)).toEqual(['a', 'a b', 'a b c']);
  });

  it('plays delays by the clock, and confirms the end behind the last final', async () => {
    const stage = await connect('script', { ready_delay_ms: 50, final_delay_ms: 300 }, false);
    expect(stage.said).toEqual([]);
    stage.clock.increment(50);
    stage.connection.send(new Uint8Array(RATE));
    stage.connection.send({ type: 'finish' });
    await settle();
    expect(stage.said.map(({ type }) => type)).toEqual(['ready', 'speech_started']);
    stage.clock.increment(300);
    await settle();
    expect(stage.said.map(({ type }) => type)).toEqual(['ready', 'speech_started', 'final', 'finished']);
  });

  it.each<[object, string[], number[]]>([
    [{ how: 'refuse' }, [], [1011]],
    [{ how: 'refuse', code: 4001 }, [], [4001]],
    [{ how: 'hang' }, [], []],
    [{ how: 'error', kind: 'retry', at_seconds: 0.5 }, ['ready', 'speech_started', 'error'], []],
    [{ how: 'close', at_seconds: 0.5 }, ['ready', 'speech_started'], [1011]],
    [{ how: 'stall', at_seconds: 0.5 }, ['ready', 'speech_started'], []],
    [{ how: 'finish' }, ['ready', 'speech_started', 'final'], []],
  ])('fails by %j', async (fail, types, closes) => {
    const stage = await connect('script', { fail, turns: [{ text: 'a', seconds: 60 }] }, false);
    stage.connection.send(new Uint8Array(2 * RATE));
    stage.connection.send({ type: 'finish' });
    await settle();
    stage.clock.increment(60_000);
    await settle();
    expect([stage.said.map(({ type }) => type), stage.closed]).toEqual([types, closes]);
    expect(stage.engine.connections).toBe(closes.length === 0 ? 1 : 0);
  });

  it('forgets everything when it is dropped, and is closed in order when asked', async () => {
    const stage = await connect('script', { final_delay_ms: 1_000 });
    stage.connection.send(new Uint8Array(10 * RATE));
    stage.connection.terminate();
    stage.connection.terminate();
    stage.connection.send(new Uint8Array(2));
    await settle();
    expect([stage.engine.connections, timersOf(stage.clock), stage.closed, textsOf(stage, 'final')]).toEqual([
      0,
      0,
      [],
      [],
    ]);
    const other = await connect('script');
    other.connection.close();
    other.connection.close();
    await settle();
    expect([other.engine.connections, other.closed]).toEqual([0, [1000]]);
  });
});
