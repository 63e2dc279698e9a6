// The network in memory: what arrives, when, and how each way of losing a connection looks from both ends.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Wire } from '../../../../src/live/upstream/wire/wire.ts';
import { numberedEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../../../src/vendors/simulation/stage.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import {
  type DialFault,
  type Link,
  SimulatedNetwork,
  type SimulatedNetworkOptions,
} from '../../../fakes/network/simulated-network.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { timersOf } from '../../../live/session/support.ts';
import { WireLog } from '../../../suites/wire.suite.ts';
import { tinyProvider } from './tiny-provider.ts';

const RATE = 8_000;

/** One leg's wire to the tiny provider, ten milliseconds away. */
class World {
  readonly clock = new SimulatedClock();
  readonly log = new WireLog();
  /** How connections ended for the provider. */
  readonly stories: string[] = [];
  readonly network: SimulatedNetwork;
  readonly wire: Wire;
  readonly link: Link;

  constructor(faults: readonly string[] = [], options: SimulatedNetworkOptions = {}, host = 'tiny.test') {
    this.network = new SimulatedNetwork({ latencyMs: 10, ...options });
    const stage = new SimulatorStage({
      simulator: tinyProvider,
      ear: numberedEar({ turnSeconds: 1, interimSeconds: 60 }),
      clock: this.clock,
      faults,
      onEnd: (line) => this.stories.push(`${this.clock.now()} ${line.replace(/^.*finals: \d+\), /, '')}`),
    });
    this.network.serve('tiny.test', stage);
    const endpoint = {
      kind: 'websocket' as const,
      url: `wss://${host}/listen?rate=${RATE}`,
      headers: { Authorization: 'Token good' },
    };
    this.wire = this.network.openSocket(endpoint, this.log, this.clock);
    [this.link] = this.network.links as unknown as [Link];
  }

  async pass(ms: number): Promise<this> {
    for (let passed = 0; passed < ms; passed++) {
      this.clock.increment(1);
      if (passed % 10 === 9 || passed === ms - 1) await settle();
    }
    return this;
  }

  get texts(): string[] {
    return this.log.lines.flatMap((line) => (line.includes('"final"') ? [JSON.parse(line.slice(8)).text] : []));
  }

  /** Nothing is left of the connection: no link, no timer. */
  expectGone(): void {
    expect([this.network.links.size, this.link.state, timersOf(this.clock)]).toEqual([0, 'closed', 0]);
  }
}

describe('a network in memory', () => {
  it('opens after one way and back, carries frames in order each by its latency, and closes in order', async () => {
    const world = new World();
    const { wire, log } = world;
    expect(log.lines).toEqual([]);
    await world.pass(19);
    expect(log.lines).toEqual([]);
    await world.pass(1);
    expect(log.lines).toEqual([
      'opened',
      'message {"type":"hello","id":"1","volume":null}',
      'message {"type":"ready"}',
    ]);
    const frame = numberedAudio(0, RATE);
    wire.send(frame);
    // The caller's buffer is its own again.
    frame.fill(0);
    wire.send(numberedAudio(RATE, RATE + 800));
    wire.send('finish');
    await world.pass(19);
    expect(world.texts).toEqual([]);
    await world.pass(11);
    expect(world.texts).toEqual(['0-8000', '8000-8800']);
    expect(log.lines.at(-1)).toBe('closed 1000 done');
    await world.pass(10);
    expect(world.stories).toEqual(['50 closed by the provider with 1000']);
    world.expectGone();
  });

  it('keeps frames in order when one takes longer', async () => {
    const latencies = [1, 1, 50, 1];
    const world = new World([], {
      latencyMs: (_, direction) => (direction === 'to-provider' ? (latencies.shift() ?? 1) : 1),
    });
    await world.pass(5);
    for (let at = 0; at < 3; at++) world.wire.send(numberedAudio(at * RATE, (at + 1) * RATE));
    await world.pass(60);
    expect(world.texts).toEqual(['0-8000', '8000-16000', '16000-24000']);
  });

  it.each<[string, string[], SimulatedNetworkOptions, string, string]>([
    ['refused by the provider', ['refuse=429'], {}, 'tiny.test', 'refused 429 {"error":"tiny 429"}'],
    [
      'refused by its host',
      [],
      { onDial: (): DialFault => 'refuse' },
      'tiny.test',
      'unreachable The provider could not be reached.',
    ],
    ['to a host that is not there', [], {}, 'other.test', 'unreachable The provider could not be reached.'],
  ])('reports a dial %s after one round trip', async (_, faults, options, host, line) => {
    const world = new World(faults, options, host);
    await world.pass(19);
    expect(world.log.lines).toEqual([]);
    await world.pass(1);
    expect(world.log.lines).toEqual([line]);
    world.expectGone();
  });

  it.each<[string, string[], SimulatedNetworkOptions]>([
    ['the network', [], { onDial: (): DialFault => 'hang' }],
    ['the provider', ['hang'], {}],
  ])('leaves a dial unanswered where %s hangs, until the leg gives up', async (_, faults, options) => {
    const world = new World(faults, options);
    await world.pass(60_000);
    expect(world.log.lines).toEqual([]);
    world.wire.terminate();
    await world.pass(10);
    world.expectGone();
  });

  it.each<['to-client' | 'to-provider' | 'both', number, number]>([
    ['to-client', 0, 10],
    ['to-provider', 10, 0],
    ['both', 0, 0],
  ])(
    'reports a cut %s to the reader there, and one way later to the other end',
    async (direction, clientMs, providerMs) => {
      const world = await new World().pass(25);
      world.link.cut(direction);
      await world.pass(clientMs);
      expect(world.log.lines.at(-1)).toBe('closed 1006');
      await world.pass(Math.max(0, providerMs - clientMs));
      expect(world.stories).toEqual([`${25 + providerMs} lost`]);
      world.expectGone();
    },
  );

  it('cut loses what was on its way there', async () => {
    const world = await new World().pass(25);
    world.wire.send(numberedAudio(0, RATE));
    await world.pass(15);
    world.link.cut('to-client');
    await world.pass(20);
    expect(world.texts).toEqual([]);
  });

  it.each(['to-client', 'to-provider', 'both'] as const)(
    'cut %s before it was open was never reached',
    async (direction) => {
      const world = await new World().pass(5);
      world.link.cut(direction);
      await world.pass(10);
      expect(world.log.lines).toEqual(['unreachable The provider could not be reached.']);
      await world.pass(10);
      world.expectGone();
    },
  );

  it.each(['to-client', 'to-provider', 'both'] as const)(
    'swallows frames as a black hole %s, until wire and provider notice the silence',
    async (direction) => {
      const world = await new World().pass(25);
      world.link.blackhole(direction);
      world.wire.send(numberedAudio(0, RATE));
      await world.pass(19_000);
      expect([world.texts, world.log.lines.length, world.stories]).toEqual([[], 3, []]);
      await world.pass(1_000);
      expect(world.log.lines.at(-1)).toBe('closed 1006');
      await world.pass(20_000);
      expect(world.stories).toHaveLength(1);
      world.expectGone();
    },
  );

  it.each<[string, (world: World) => unknown]>([
    ['as soon as it was made', () => {}],
    ['while it is dialled', (world) => world.pass(15)],
    ['when it is open', (world) => world.pass(30)],
    [
      'while it closes',
      async (world) => {
        await world.pass(30);
        world.wire.close();
        await world.pass(5);
      },
    ],
  ])('reports nothing more when terminated %s, and leaves nothing', async (_, reach) => {
    const world = new World();
    await reach(world);
    const { length } = world.log.lines;
    world.wire.terminate();
    world.wire.terminate();
    world.wire.send('finish');
    world.wire.close();
    await world.pass(30);
    expect(world.log.lines).toHaveLength(length);
    world.expectGone();
  });

  it('closes by the handshake, or after two seconds without an answer', async () => {
    for (const [faults, line] of [
      [[], 'closed 1000'],
      [['slow-close'], 'closed 1006'],
    ] as const) {
      const world = await new World([...faults]).pass(25);
      world.wire.close();
      await world.pass(2_010);
      expect(world.log.lines.at(-1)).toBe(line);
      world.expectGone();
    }
  });

  it('counts what a provider that froze has not read', async () => {
    const world = await new World(['freeze-after=500ms']).pass(25);
    world.wire.send(numberedAudio(0, RATE));
    await world.pass(15);
    expect(world.wire.bufferedBytes).toBe(0);
    world.wire.send(new Uint8Array(1_000));
    world.wire.send('finish');
    expect(world.wire.bufferedBytes).toBe(1_006);
    world.wire.terminate();
    await world.pass(10);
    world.expectGone();
  });

  it('closes a wire that is sent more than a message may hold', async () => {
    const world = await new World(['huge-message']).pass(25);
    expect(world.log.lines.at(-1)).toBe('closed 1006');
    await world.pass(10);
    world.expectGone();
  });
});
