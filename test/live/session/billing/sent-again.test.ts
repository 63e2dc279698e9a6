// What a session reports to the ledger of audio that its legs were sent more than once, or in vain.
import { describe, expect, it } from 'vitest';
import type { SessionEnd } from '../../../../src/money/store/calls.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { speech, untilEnded } from '../support.ts';

/** Three seconds of speech in one turn; with `fail`, the first leg fails after one of them. */
async function play(fail: object | undefined, isConfigured = false) {
  const rig = new SessionRig();
  const client = await rig.open({
    providerParams: {
      turns: [{ text: 'one two three', seconds: 3 }],
      ...(fail && { fail: { at_seconds: 1, ...fail } }),
    },
    fallbacks: [{ model: 'loopback/numbered', provider_params: { turn_seconds: 3 } }],
  });
  client.session.audio(speech(1.5));
  if (isConfigured) client.session.control({ type: 'configure', language: 'en' });
  client.session.audio(speech(1.4));
  await rig.advance(25_000, 250);
  client.session.control({ type: 'close' });
  await untilEnded(rig, client);
  const [settled] = rig.ledger.settled.values();
  const end: SessionEnd | undefined = settled?.end;
  if (end === undefined) throw new Error('It was not settled.');
  return { ...end, failovers: client.of('failover') };
}

describe('what was sent again', () => {
  it('is nothing of a session whose legs all work, also where it is configured', async () => {
    expect((await play(undefined)).sentAgain).toEqual([]);
    expect((await play(undefined, true)).sentAgain).toEqual([]);
  });

  it('is in vain for the leg that failed, and a replay for the fallback, as its client sees it', async () => {
    const { sentAgain, lines, failovers } = await play({ how: 'error', kind: 'next' });
    const failed = sentAgain?.find(({ reason }) => reason === 'failed');
    const replayed = sentAgain?.find(({ reason }) => reason === 'replayed');
    expect([failed?.model, replayed?.model]).toEqual(['loopback/script', 'loopback/numbered']);
    const replayedMs = failovers.reduce((sum, { replayed_seconds: seconds }) => sum + seconds * 1000, 0);
    expect(replayedMs).toBeGreaterThan(0);
    expect(replayed?.audioMs).toBeCloseTo(replayedMs, -1);
    // Nothing but the replay was in vain, and it is within what the fallback is charged.
    expect(failed?.audioMs).toBeGreaterThanOrEqual(replayed?.audioMs ?? 0);
    expect(replayed?.audioMs).toBeLessThanOrEqual(
      lines.find(({ model }) => model === 'loopback/numbered')?.audioMs ?? 0,
    );
  });
});
