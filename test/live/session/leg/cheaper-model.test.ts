// A live session that reaches a ceiling on spend which leaves cheap models continues with one of its chain: no word is lost or
// transcribed twice, and the ceiling is kept to the micro-dollar.
import { describe, expect, it } from 'vitest';
import type { ListenRequest } from '../../../../src/api/listen.ts';
import { resolveChain } from '../../../../src/live/failover/chain.ts';
import { pricedMembers } from '../../../../src/money/ledger/meter-contract.ts';
import type { RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { ceilingLedger } from '../../../fakes/store/ceiling-ledger.ts';
import { failure, type Puppet, type PuppetConnection, puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, silence, speech, untilEnded } from '../support.ts';

const minute = (amount: string) => ({ unit: 'minute' as const, amount });
/** A second of a and b costs 10,000 micro-USD, one of c 100. */
const PRICES = {
  'puppet/a': { live: minute('0.6') },
  'puppet/b': { live: minute('0.6') },
  'puppet/c': { live: minute('0.006') },
};
const CHAIN = ['a', 'b', 'c'];

interface World {
  rig: SessionRig;
  puppet: Puppet;
  client: RigClient;
  money: ReturnType<typeof ceilingLedger>;
  seconds: number;
}

interface Options {
  /** Seconds of the first model that the ceiling pays for. */
  seconds: number;
  chain?: readonly string[];
  request?: Partial<ListenRequest>;
  breakers?: { failuresMax: number; openMs: number };
}

async function opened({ seconds, chain = CHAIN, request, breakers }: Options): Promise<World> {
  const money = ceilingLedger([{ usd: `${seconds / 100}`, period: 'day', only_up_to: '0.006' }]);
  const { rig, puppet } = puppetRig({
    timing: { stallMs: Number.POSITIVE_INFINITY },
    rig: { settings: { idleMs: 36_000_000 }, prices: PRICES, ledger: money.ledger, ...(breakers && { breakers }) },
  });
  const [model, ...fallbacks] = chain.map((name) => ({ model: `puppet/${name}` }));
  const client = await rig.open({ model: model!.model, fallbacks, ...request });
  return { rig, puppet, client, money, seconds: 0 };
}

const serving = ({ puppet }: World): PuppetConnection =>
  puppet.connections.findLast(({ over }) => !over) ?? puppet.last;

async function speak(world: World, seconds: number): Promise<void> {
  for (let said = 0; said < seconds; said++) {
    world.client.session.audio(speech(0.8));
    world.client.session.audio(silence(0.2));
    await world.rig.advance(1_000, 100);
    world.seconds++;
  }
}

/** What was said since the last final has its final. */
async function ended(world: World, text: string): Promise<void> {
  const leg = serving(world);
  const end = leg.samples / RATE;
  const turn = { turnId: `${world.seconds}`, formattedFollows: false };
  await leg.say({ type: 'turn.ended', ...turn, utterance: { text, start: Math.max(0, end - 1), end } });
}

async function turn(world: World, text: string): Promise<void> {
  await speak(world, 1);
  await ended(world, text);
}

const failovers = ({ client }: World) =>
  client.of('failover').map(({ from, to, reason }) => `${from.slice(-1)} to ${to.slice(-1)}: ${reason}`);
const said = ({ client }: World) => client.finals.map(({ text, model }) => `${text} by ${model.slice(-1)}`);

async function closed({ rig, client, money }: World) {
  client.session.control({ type: 'close' });
  await untilEnded(rig, client);
  expectInOrder(client);
  await expectNothingLeft(rig);
  expect([money.held(), money.audit()]).toMatchObject([0n, { ok: true, faults: [] }]);
  return client.of('session_ended')[0]?.usage.map(({ model, seconds }) => [model.slice(-1), seconds]);
}

describe('a ceiling on spend that leaves cheap models', () => {
  it('has a running session continue with one at the end of a turn, and leaves out the dear ones', async () => {
    const world = await opened({ seconds: 25 });
    await turn(world, 'one');
    await turn(world, 'two');
    await turn(world, 'three');
    expect(failovers(world)).toEqual(['a to c: spend_ceiling']);
    expect(world.puppet.dialled).toEqual(['a', 'c']);
    expect(said(world)).toEqual(['one by a', 'two by c', 'three by c']);
    expect(world.client.of('warning').find(({ code }) => code === 'spend_ceiling_low')?.message).toMatch(
      /The session continues with a cheaper model in 2\d s of audio or at the end of a turn\.$/,
    );
    expect(await closed(world)).toEqual([
      ['a', 1],
      ['c', 2],
    ]);
    expect(world.money.spent()).toEqual({ 'puppet/a': 10_000n, 'puppet/c': 200n });
    expect(world.client.closeCode).toBe(1000);
  });

  it('does not move a session whose hold lasts for another turn', async () => {
    const world = await opened({ seconds: 50 });
    await turn(world, 'one');
    expect(failovers(world)).toEqual([]);
    await speak(world, 25);
    await ended(world, 'two');
    expect([failovers(world), said(world)]).toEqual([['a to c: spend_ceiling'], ['one by a', 'two by a']]);
    await turn(world, 'three');
    expect(await closed(world)).toEqual([
      ['a', 26],
      ['c', 1],
    ]);
  });

  it('has a session continue in the middle of a turn once nothing more is held, with all that has no final', async () => {
    const world = await opened({ seconds: 25 });
    await speak(world, 24);
    expect(failovers(world)).toEqual([]);
    await speak(world, 6);
    expect(failovers(world)).toEqual(['a to c: spend_ceiling']);
    expect(world.client.of('failover')[0]?.replayed_seconds).toBeCloseTo(25, 2);
    expect(serving(world).samples).toBe(30 * RATE);
    await ended(world, 'all');
    expect(said(world)).toEqual(['all by c']);
    expect(await closed(world)).toEqual([['c', 30]]);
    expect(world.money.spent()).toEqual({ 'puppet/c': 3_000n });
  });

  it('has what is left transcribed by the cheap model where the client has ended its audio', async () => {
    const world = await opened({ seconds: 10 });
    world.client.session.audio(speech(20));
    world.client.session.control({ type: 'close' });
    await world.rig.advance(30_000, 100);
    expect([failovers(world), serving(world).samples]).toEqual([['a to c: spend_ceiling'], 20 * RATE]);
    await ended(world, 'all');
    await serving(world).say({ type: 'finished' });
    expect(await closed(world)).toEqual([['c', 20]]);
    expect(world.client.closeCode).toBe(1000);
  });

  it('ends a session after its last final where its chain has no such model', async () => {
    const world = await opened({ seconds: 5, chain: ['a', 'b'] });
    await turn(world, 'one');
    await speak(world, 7);
    expect(world.client.of('warning').find(({ code }) => code === 'spend_ceiling_low')?.message).toMatch(
      /The session ends in \d s of audio if nothing changes\.$/,
    );
    await ended(world, 'two');
    await serving(world).say({ type: 'finished' });
    await untilEnded(world.rig, world.client);
    expect([failovers(world), world.client.closeCode, said(world)]).toEqual([[], 4100, ['one by a', 'two by a']]);
    expect(world.client.of('error').at(-1)?.error.code).toBe('spend_ceiling_reached');
  });

  it('ends a session where the only model that it leaves is known to fail', async () => {
    const world = await opened({ seconds: 5, breakers: { failuresMax: 1, openMs: 600_000 } });
    const { members } = await resolveChain(
      { ...world.client.session.opening.request, mode: 'live', organisationId: 'org_1', model: 'puppet/c' },
      world.rig.chain,
    );
    world.rig.breakers.begun(members[0]!);
    world.rig.breakers.failed(members[0]!, failure('next'));
    await turn(world, 'one');
    await speak(world, 7);
    await ended(world, 'two');
    await serving(world).say({ type: 'finished' });
    await untilEnded(world.rig, world.client);
    expect([failovers(world), world.client.closeCode]).toEqual([[], 4100]);
  });

  it('has a session go back to its first model where that is the cheap one, and stay there', async () => {
    const world = await opened({ seconds: 20, chain: ['c', 'a'], request: { returnToPrimary: true } });
    await turn(world, 'one');
    await serving(world).say({ type: 'failed', failure: failure('next') });
    await world.rig.advance(200);
    await turn(world, 'two');
    expect(failovers(world)).toEqual(['c to a: upstream_error', 'a to c: spend_ceiling']);
    await turn(world, 'three');
    expect(said(world)).toEqual(['one by c', 'two by a', 'three by c']);
    expect(await closed(world)).toEqual([
      ['c', 2],
      ['a', 1],
    ]);
  });

  it('keeps a session from returning to its dear primary, and from failing over to a dear model', async () => {
    const world = await opened({ seconds: 25, request: { returnToPrimary: true } });
    await turn(world, 'one');
    await world.rig.advance(120_000, 1_000);
    await turn(world, 'two');
    await world.rig.advance(120_000, 1_000);
    await turn(world, 'three');
    expect(world.puppet.dialled).toEqual(['a', 'c']);
    world.puppet.open = false;
    await serving(world).say({ type: 'failed', failure: failure('next') });
    await world.rig.advance(20_000, 1_000);
    await untilEnded(world.rig, world.client);
    expect(world.puppet.dialled.filter((name) => name !== 'c')).toEqual(['a']);
    expect(world.client.closeCode).toBe(4101);
  });

  it('moves a session again that is configured to a dear model', async () => {
    const world = await opened({ seconds: 25 });
    await turn(world, 'one');
    await turn(world, 'two');
    const { opening } = world.client.session;
    opening.configure = async () => {
      const request = { ...opening.request, model: 'puppet/b', fallbacks: [{ model: 'puppet/c' }] };
      const { members } = await resolveChain({ ...request, mode: 'live', organisationId: 'org_1' }, world.rig.chain);
      return { request, chain: members, members: pricedMembers(members) };
    };
    world.client.session.control({ type: 'configure', model: 'puppet/b', fallbacks: ['puppet/c'] });
    await world.rig.advance(2_000, 100);
    await turn(world, 'three');
    await world.rig.advance(1_000, 100);
    await turn(world, 'four');
    await turn(world, 'five');
    expect(failovers(world).at(-1)).toBe('b to c: spend_ceiling');
    expect(said(world).at(-1)).toBe('five by c');
    await closed(world);
    const { 'puppet/a': a = 0n, 'puppet/b': b = 0n } = world.money.spent();
    expect(a + b).toBeLessThanOrEqual(250_000n);
  });
});
