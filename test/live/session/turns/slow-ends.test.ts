// What becomes of the last words of a provider that takes its time with them, or never says that it has said them.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import type { RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { failure, type Puppet, puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, hum, RATE, silence, speech, untilEnded } from '../support.ts';

/** What the puppet's provider needs as a rule, by its timing. */
const USUAL_MS = 10_000;
const final = (end: number, text = 'tail'): Heard => ({
  type: 'turn.ended',
  turnId: text,
  formattedFollows: false,
  utterance: { text, start: 0, end },
});

/** A session that was closed behind this audio. */
async function closed(audio: Uint8Array, ...models: string[]): Promise<Stage> {
  const { rig, puppet } = puppetRig({ timing: { drainMs: USUAL_MS, stallMs: Number.POSITIVE_INFINITY } });
  const [model = 'a', ...others] = models;
  const fallbacks = others.map((other) => ({ model: `puppet/${other}` }));
  const client = await rig.open({ model: `puppet/${model}`, fallbacks });
  client.session.audio(audio);
  client.session.control({ type: 'close' });
  await rig.advance(100, 100);
  return { rig, puppet, client };
}
interface Stage {
  rig: SessionRig;
  puppet: Puppet;
  client: RigClient;
}

describe('a slow tail, with no other model', () => {
  it.each([9, 12, 19.8])('keeps the connection for %d s', async (seconds) => {
    const { rig, puppet, client } = await closed(speech(2));
    await rig.advance(seconds * 1_000 - 100, 100);
    await puppet.last.say(final(2), { type: 'finished' });
    await untilEnded(rig, client);
    expect([client.closeCode, client.finals.map(({ text }) => text), puppet.connections.length]).toEqual([
      1000,
      ['tail'],
      1,
    ]);
    expect(client.of('warning')).toEqual([]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('leads to a replay when it exceeds the session’s limit, and to an error when it stays away', async () => {
    const { rig, puppet, client } = await closed(speech(2));
    await rig.advance(20_500, 100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 2 * RATE]);
    await untilEnded(rig, client);
    expect([client.closeCode, puppet.connections.length]).toEqual([4101, 2]);
    expect(client.of('discontinuity')).toMatchObject([{ from: 0, to: 2 }]);
    await expectNothingLeft(rig);
  });
});

describe('a slow tail, with another model', () => {
  it('moves to it once the provider has had its usual time', async () => {
    const { rig, puppet, client } = await closed(speech(2), 'a', 'b');
    await rig.advance(USUAL_MS, 100);
    expect(puppet.dialled).toEqual(['a', 'b']);
    await puppet.last.say(final(2), { type: 'finished' });
    expect(client.of('failover')).toMatchObject([{ reason: 'stalled', replayed_seconds: 2 }]);
    expect([client.closeCode, client.finals.length]).toEqual([1000, 1]);
  });

  it('stays while more of it arrives', async () => {
    const { rig, puppet, client } = await closed(speech(2), 'a', 'b');
    await rig.advance(USUAL_MS / 2, 100);
    await puppet.last.say({ type: 'partial', turnId: 'tail', utterance: { text: 'ta', start: 0, end: 1 } });
    await rig.advance(USUAL_MS, 100);
    await puppet.last.say(final(2), { type: 'finished' });
    expect([client.closeCode, client.finals.length, puppet.dialled]).toEqual([1000, 1, ['a']]);
  });

  it('stays where the other one has failed before', async () => {
    const { rig, puppet, client } = await closed(speech(2), 'a', 'b');
    await rig.advance(USUAL_MS, 100);
    await puppet.last.say({ type: 'failed', failure: failure('next') });
    await rig.advance(500, 100);
    expect(puppet.dialled).toEqual(['a', 'b', 'a']);
    await rig.advance(18_000, 100);
    await puppet.last.say(final(2), { type: 'finished' });
    expect([client.closeCode, client.finals.length, puppet.dialled.length]).toEqual([1000, 1, 3]);
  });

  it('stays where the other one’s breaker is open', async () => {
    const { rig, puppet, client } = await closed(speech(2), 'a', 'b');
    for (let times = 0; times < 5; times++)
      rig.breakers.failed({ slug: 'puppet/b', credentialId: 'service' }, failure('next'));
    await rig.advance(15_000, 100);
    await puppet.last.say(final(2), { type: 'finished' });
    expect([client.closeCode, client.finals.length, puppet.dialled]).toEqual([1000, 1, ['a']]);
  });
});

describe('a goodbye that does not come', () => {
  const words = speech(1);
  const withRest = (rest: Uint8Array) => new Uint8Array([...words, ...rest]);

  it.each([['a'], ['a', 'b']])('ends the wait at the usual time when only silence is left (%s)', async (...models) => {
    const { rig, puppet, client } = await closed(withRest(silence(2)), ...models);
    await puppet.last.say(final(0.9));
    await rig.advance(USUAL_MS, 100);
    expect([client.closeCode, client.finals.length, puppet.connections.length]).toEqual([1000, 1, 1]);
    expect([client.of('discontinuity'), client.of('failover')]).toEqual([[], []]);
    await expectNothingLeft(rig);
  });

  it('gets the time of a tail when noise is left, and costs nothing then', async () => {
    const { rig, puppet, client } = await closed(withRest(hum(2)));
    await puppet.last.say(final(0.9));
    await rig.advance(USUAL_MS + 1_000, 100);
    expect(client.closeCode).toBeUndefined();
    await rig.advance(USUAL_MS, 100);
    expect([client.closeCode, client.finals.length, puppet.connections.length]).toEqual([1000, 1, 1]);
  });

  it.each([
    ['words that were shown', silence(2), { type: 'partial', turnId: '2', utterance: { text: 'x', start: 1, end: 2 } }],
    ['speech', speech(2), { type: 'speech.started', start: 1 }],
  ] as [string, Uint8Array, Heard][])(
    'does not end the session while %s are without a final',
    async (_, rest, heard) => {
      const { rig, puppet, client } = await closed(withRest(rest));
      await puppet.last.say(final(0.9), heard);
      await rig.advance(2 * USUAL_MS + 500, 100);
      expect([client.closeCode, puppet.connections.length]).toEqual([undefined, 2]);
      await puppet.last.say(final(2, 'rest'), { type: 'finished' });
      expect([client.closeCode, client.finals.map(({ text }) => text)]).toEqual([1000, ['tail', 'rest']]);
    },
  );
});
