// Two nodes on one NATS server: sessions of one are described and watched from the other, its breakers are heard of there, and
// neither is in the way when the node, or NATS, is gone.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { WatchedFrame } from '../../../../src/api/console/watching.ts';
import type { Bus } from '../../../../src/cluster/bus/bus.ts';
import type { NatsBus } from '../../../../src/cluster/bus/nats/bus.ts';
import { BREAKER_OPENED } from '../../../../src/cluster/bus/subjects.ts';
import { shareBreakers } from '../../../../src/live/failover/breakers/breaker-hints.ts';
import { Breakers } from '../../../../src/live/failover/breakers/breakers.ts';
import { SessionsElsewhere } from '../../../../src/live/session/watch/watch.ts';
import { WatchService } from '../../../../src/live/session/watch/watch-service.ts';
import { natsServerIsHere } from '../../../fakes/network/nats-server.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { speech } from '../../../live/session/support.ts';
import { busOfTest, serverOfTest, whenConnected } from '../../bus/nats-rig.ts';

/** Resolves when the look gives true, looked at whenever `tell` is called. */
function heard() {
  const watchers = new Set<() => void>();
  return {
    tell: () => {
      for (const watch of [...watchers]) watch();
    },
    until: (look: () => boolean) =>
      new Promise<void>((resolve) => {
        const watch = () => {
          if (!look()) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
  };
}

// It needs the program; see nats-server.ts.
describe.skipIf(!natsServerIsHere)('a session on another node', () => {
  /** A node with sessions, and one that looks at them. */
  async function twoNodes() {
    const server = await serverOfTest();
    const rig = new SessionRig();
    const near = await busOfTest(server, { node: rig.bus.node });
    const far = await busOfTest(server);
    const { sessions, clock, breakers } = rig;
    const service = new WatchService({ bus: near, sessions, clock, breakers, onDrop: () => {} });
    const elsewhere = new SessionsElsewhere({ bus: far, clock: new SimulatedClock(), wallNow: () => new Date(0) });
    return { server, rig, near, far, service, elsewhere };
  }

  it('can be described and watched to its end, with nothing attached before and after', async () => {
    const { rig, service, elsewhere } = await twoNodes();
    const client = await rig.open();
    const { sessionId, organisationId } = client.session.opening;
    expect(await elsewhere.describe(sessionId, organisationId)).toMatchObject({ state: expect.stringMatching(/./) });
    expect([service.size, await elsewhere.describe(sessionId, 'org_other')]).toEqual([0, undefined]);
    const { tell, until } = heard();
    const frames: WatchedFrame[] = [];
    const told: string[] = [];
    elsewhere.watch(sessionId, organisationId, {
      frame: (frame) => {
        if (frame.kind === 'actors') told.push(...frame.actors.map(({ machine }) => machine));
        else frames.push(frame);
        tell();
      },
      ended: (why) => told.push(why) && tell(),
    });
    await until(() => told.length > 0);
    expect([told[0], service.size]).toEqual(['session', 1]);
    client.session.audio(speech(1));
    await rig.advance(2_000);
    client.session.control({ type: 'close' });
    await rig.advance(10_000);
    await until(() => told.includes('ended'));
    const first = frames[0]!.sequence;
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => first + index));
    expect(frames.findLast(({ kind }) => kind === 'step')).toMatchObject({ actor: 'session', status: 'done' });
    expect(frames.at(-1)).toMatchObject({ kind: 'ended', reason: 'client_closed' });
    expect(service.size).toBe(0);
  });

  it('becomes unknown when its node is gone, and stays silent while NATS is away', async () => {
    const { server, rig, near, far, elsewhere } = await twoNodes();
    const client = await rig.open();
    const { sessionId, organisationId } = client.session.opening;
    expect(await elsewhere.describe(sessionId, organisationId)).toBeDefined();
    await near.close();
    expect(await elsewhere.describe(sessionId, organisationId)).toBeUndefined();
    const { tell, until } = heard();
    const told: string[] = [];
    elsewhere.watch(sessionId, organisationId, {
      frame: () => {},
      ended: (why) => told.push(why) && tell(),
    });
    await until(() => told.length > 0);
    expect(told).toEqual(['unknown']);
    await server.kill();
    await whenConnected(far, false);
    expect(await elsewhere.describe(sessionId, organisationId)).toBeUndefined();
  });
});

// It needs the program; see nats-server.ts.
describe.skipIf(!natsServerIsHere)('a breaker on another node', () => {
  const model = { slug: 'loopback/script', credentialId: 'service' };

  function breakersOn(bus: Bus) {
    const clock = new SimulatedClock();
    const { tell, until } = heard();
    const breakers = new Breakers({
      clock,
      failuresMax: 1,
      openMs: 1_000,
      openMsMax: 60_000,
      onChange: tell,
      onFault: (error) => {
        throw error;
      },
    });
    shareBreakers({ bus, breakers, knows: () => true, onDrop: () => {} });
    return { breakers, clock, until: () => until(() => breakers.isOpen(model)) };
  }

  it('opens here for as long; while NATS is away each node goes by what it meets itself, and afterwards they hear each other again', async () => {
    const server = await serverOfTest();
    const buses: NatsBus[] = [await busOfTest(server), await busOfTest(server)];
    const [one, two] = buses.map(breakersOn) as [ReturnType<typeof breakersOn>, ReturnType<typeof breakersOn>];
    let said = 0;
    buses[1]!.subscribe(BREAKER_OPENED, () => said++);
    // What was subscribed is known to the server before anything is said.
    await Promise.all(buses.map((bus) => bus.link.connection.flush()));
    one.breakers.failed(model, { kind: 'next' });
    await two.until();
    two.clock.increment(1_000);
    expect([two.breakers.isOpen(model), said]).toEqual([false, 1]);
    two.breakers.succeeded(model);
    await server.kill();
    await Promise.all(buses.map((bus) => whenConnected(bus, false)));
    one.breakers.failed(model, { kind: 'next', retryAfterMs: 5_000 });
    expect([one.breakers.isOpen(model), two.breakers.isOpen(model)]).toEqual([true, false]);
    await server.restart();
    await Promise.all(buses.map((bus) => whenConnected(bus, true)));
    await Promise.all(buses.map((bus) => bus.link.connection.flush()));
    one.breakers.failed(model, { kind: 'next', retryAfterMs: 30_000 });
    await two.until();
  });
});
