// Sessions here, their legs in other processes, and a real NATS between them, in real time: processes are killed and stopped,
// and no sample is lost.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type NatsBus, openNatsBus } from '../../../../src/cluster/bus/nats/bus.ts';
import { upstreamPlacement } from '../../../../src/cluster/placement.ts';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { heartbeatOf } from '../../../fakes/far-rig.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../../fakes/network/nats-server.ts';
import type {
  UpstreamNodeOptions,
  UpstreamNodeOrder,
  UpstreamNodeReport,
} from '../../../fakes/processes/upstream-node.ts';
import { SECRETS } from '../../../fakes/secrets.ts';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';

const RATE = 16_000;
const SESSIONS = 20;
/** From the loss of a leg to the next that has the audio. */
const RECOVERY_MS_MAX = 5_000;
const KILLS = Number(process.env.NATS_KILLS ?? 3);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

class UpstreamNode {
  readonly name: string;
  readonly child: ChildProcess;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.child = child;
  }

  static async start(url: string, name: string): Promise<UpstreamNode> {
    const options: UpstreamNodeOptions = { url, prefix: 'far', node: name };
    const child = fork(
      new URL('../../../fakes/processes/upstream-node.ts', import.meta.url),
      [JSON.stringify(options)],
      {
        execArgv: ['--import', 'tsx'],
      },
    );
    const node = new UpstreamNode(name, child);
    ends.push(() => node.kill());
    await once(child, 'message');
    return node;
  }

  async ask(order: UpstreamNodeOrder): Promise<UpstreamNodeReport> {
    const told = once(this.child, 'message');
    this.child.send(order);
    return (await told)[0] as UpstreamNodeReport;
  }

  async legs(): Promise<number> {
    return ((await this.ask('tell')) as { legs: number }).legs;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

/** A speaker in real time, and when it heard what. */
class Speaker {
  readonly client: RigClient;
  /** When the session was told that its leg is a new one. */
  reconnectedAtMs: number[] = [];
  #tellHeard = (): void => {};
  /** Resolves with the first final. */
  readonly heard = new Promise<void>((resolve) => {
    this.#tellHeard = resolve;
  });

  constructor(client: RigClient) {
    this.client = client;
    const keep = client.send.bind(client);
    client.send = (text) => {
      if (text.includes('upstream_reconnected')) this.reconnectedAtMs.push(performance.now());
      if (text.includes('"is_final":true')) this.#tellHeard();
      return keep(text);
    };
  }

  async speak(seconds: number): Promise<void> {
    const startedAt = performance.now();
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      this.client.session.audio(numberedAudio((tenth * RATE) / 10, ((tenth + 1) * RATE) / 10));
      await after(Math.max(0, startedAt + (tenth + 1) * 100 - performance.now()));
    }
    this.client.session.control({ type: 'close' });
    await this.client.ended();
  }
}

interface World {
  server: NatsServer;
  bus: NatsBus;
  nodes: UpstreamNode[];
  speakers: Speaker[];
  rig: SessionRig;
}

async function start(sessions = SESSIONS): Promise<World> {
  const server = await startNatsServer();
  ends.push(() => server.stop());
  const bus = await openNatsBus({
    secrets: SECRETS,
    servers: [server.url],
    prefix: 'far',
    node: 'edge01',
    startMs: 10_000,
  });
  ends.push(() => bus.close());
  const names = ['up0001', 'up0002'];
  const beats = names.map(heartbeatOf);
  const members = { node: bus.node, nodes: () => beats, onNodes: () => () => {} };
  const placement = upstreamPlacement({ members, bus, clock: systemClock });
  const rig = new SessionRig({ clock: systemClock, bus, placement, settings: { longestMs: 600_000 } });
  ends.push(() => rig.sessions.close());
  const nodes = await Promise.all(names.map((name) => UpstreamNode.start(server.url, name)));
  const speakers: Speaker[] = [];
  for (let session = 0; session < sessions; session++) {
    const request = { model: 'loopback/numbered', providerParams: { turn_seconds: 0.9, final_delay_ms: 100 } };
    speakers.push(new Speaker(await rig.open(request)));
  }
  return { server, bus, nodes, speakers, rig };
}

/** Everybody speaks, and has heard a final of it. */
const allHeard = ({ speakers }: World) => Promise.all(speakers.map(({ heard }) => heard));

function expectNothingLost({ speakers }: World, seconds: number): void {
  for (const { client } of speakers) {
    expect([client.closeCode, client.of('error'), client.of('discontinuity')]).toEqual([1000, [], []]);
    expectWhole(client.finals, seconds * RATE);
  }
}

/** The longest that a session was without a leg, from the loss on; each session lost its own once. */
function expectRecovered({ speakers }: World, lost: number, lostAtMs: number, knownMs: number): void {
  const tookMs = speakers.flatMap(({ reconnectedAtMs }) => reconnectedAtMs.map((at) => at - lostAtMs));
  expect(tookMs.length).toBeGreaterThanOrEqual(lost);
  expect(Math.max(...tookMs)).toBeLessThan(knownMs + RECOVERY_MS_MAX);
  console.info(`recovered within ${Math.round(Math.max(...tookMs))} ms: ${tookMs.length} legs`);
}

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('sessions with their legs in other processes', () => {
  it('lose no sample when the process is killed, and have another leg within five seconds', async () => {
    const world = await start();
    const spoken = Promise.all(world.speakers.map((speaker) => speaker.speak(6)));
    await allHeard(world);
    const [one, two] = world.nodes as [UpstreamNode, UpstreamNode];
    const lost = await one.legs();
    expect([lost > 0, lost + (await two.legs())]).toEqual([true, SESSIONS]);
    const lostAtMs = performance.now();
    one.child.kill('SIGKILL');
    await spoken;
    expectNothingLost(world, 6);
    expectRecovered(world, lost, lostAtMs, 0);
    expect(await two.legs()).toBe(0);
  }, 60_000);

  it('lose no sample when the process is stopped, and have another leg within five seconds', async () => {
    const world = await start();
    const spoken = Promise.all(world.speakers.map((speaker) => speaker.speak(9)));
    await allHeard(world);
    const [one, two] = world.nodes as [UpstreamNode, UpstreamNode];
    const lost = await one.legs();
    const lostAtMs = performance.now();
    one.child.kill('SIGSTOP');
    await spoken;
    expectNothingLost(world, 9);
    expectRecovered(world, lost, lostAtMs, 0);
    one.child.kill('SIGCONT');
    // It wakes up, and hears that its sessions have let go of their legs.
    await vi.waitFor(async () => expect([await one.legs(), await two.legs()]).toEqual([0, 0]), 5_000);
  }, 60_000);

  it(
    `lose no sample when NATS is killed ${KILLS} times`,
    async () => {
      const world = await start();
      const seconds = KILLS * 2 + 3;
      const spoken = Promise.all(world.speakers.map((speaker) => speaker.speak(seconds)));
      for (let kill = 0; kill < KILLS; kill++) {
        await after(1_500);
        await world.server.kill();
        await after(500);
        await world.server.restart();
      }
      await spoken;
      expectNothingLost(world, seconds);
    },
    60_000 + KILLS * 5_000,
  );

  it('lose no sample when NATS stands still for ten seconds', async () => {
    const world = await start();
    const spoken = Promise.all(world.speakers.map((speaker) => speaker.speak(14)));
    await allHeard(world);
    world.server.freeze();
    await after(10_000);
    world.server.thaw();
    await spoken;
    expectNothingLost(world, 14);
  }, 60_000);

  it('go to another node between two turns when theirs is going away', async () => {
    const world = await start();
    const spoken = Promise.all(world.speakers.map((speaker) => speaker.speak(6)));
    await allHeard(world);
    const [one, two] = world.nodes as [UpstreamNode, UpstreamNode];
    expect(await one.ask('drain')).toEqual({ drained: true });
    expect([await one.legs(), await two.legs()]).toEqual([0, SESSIONS]);
    await spoken;
    expectNothingLost(world, 6);
    // Nothing had failed.
    expect(world.speakers.flatMap(({ reconnectedAtMs }) => reconnectedAtMs)).toEqual([]);
  }, 60_000);
});
