// The place that a session takes of its key's: held until the session is over, whether its client is there or not, and given
// back once, however the session ends.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { silence, untilEnded } from '../support.ts';

const delayed = { turns: [{ text: 'one two', seconds: 1 }], final_delay_ms: 9_000 };

it('holds a departed client’s slot until its audio has been processed', async () => {
  const rig = new SessionRig();
  const client = await rig.open({ providerParams: delayed });
  client.session.audio(silence(2));
  await rig.advance(500);
  client.session.gone();
  await rig.advance(5_000);
  expect([client.released, rig.engine.connections]).toEqual([0, 1]);
  await untilEnded(rig, client);
  expect([client.released, rig.engine.connections]).toEqual([1, 0]);
});

it('releases a slot although the settlement fails', async () => {
  const rig = new SessionRig();
  const client = await rig.open();
  Object.assign(client.session.opening.meter, {
    settle() {
      throw new Error('The books are on fire.');
    },
  });
  client.session.gone();
  await untilEnded(rig, client);
  expect([client.released, rig.sessions.size, rig.faults.length]).toEqual([1, 0, 1]);
});

/** A rig, and what breaks the connections that its legs have to the provider. */
function breakableRig(): { rig: SessionRig; breakAll(): void } {
  const rig = new SessionRig({ settings: { idleMs: 20_000, drainMs: 5_000 } });
  const { engine } = rig;
  const connect = engine.connect.bind(engine);
  const open: (() => void)[] = [];
  engine.connect = (query, listener) => {
    const connection = connect(query, listener);
    open.push(() => {
      connection.terminate();
      listener.closed(1006, '');
    });
    return connection;
  };
  const breakAll = () => {
    for (const breakOne of open.splice(0)) breakOne();
  };
  return { rig, breakAll };
}

const happenings: Readonly<Record<string, (client: RigClient, rig: SessionRig, breakAll: () => void) => void>> = {
  audio: ({ session }) => session.audio(silence(0.7)),
  close: ({ session }) => session.control({ type: 'close' }),
  gone: ({ session }) => session.gone(),
  abort: ({ session }) => session.abort('message_too_big', 'Too big.'),
  fault: ({ session }) => session.fault('test', new Error('A fault of our own.')),
  revoke: (_, { sessions }) => sessions.revoke('key_1'),
  suspend: (_, { sessions }) => sessions.suspend('org_1'),
  drain: (_, { sessions }) => void sessions.drain(),
  shed: (_, { sessions }) => sessions.shed(),
  stop: (_, { sessions }) => sessions.close(),
  lost: (_, __, breakAll) => breakAll(),
};

it('releases a slot once in any order of events, and only after its leg closed', async () => {
  const plan = fc.array(fc.tuple(fc.constantFrom(...Object.keys(happenings)), fc.integer({ min: 0, max: 1_500 })), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(plan, async (steps) => {
      const { rig, breakAll } = breakableRig();
      const client = await rig.open({ providerParams: delayed });
      for (const [name, waitMs] of steps) {
        happenings[name]?.(client, rig, breakAll);
        await rig.advance(waitMs, 500);
        if (rig.engine.connections > 0 && client.summary === undefined) expect(client.released).toBe(0);
      }
      await untilEnded(rig, client, 120);
      await rig.advance(1_000, 500);
      expect([client.released, rig.sessions.size, rig.engine.connections]).toEqual([1, 0, 0]);
    }),
    { numRuns: 60 },
  );
});
