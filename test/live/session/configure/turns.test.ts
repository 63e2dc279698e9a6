// What becomes of the turn under way when a session turns to another model: it is finished where it began, and billed there.
import { describe, expect, it } from 'vitest';
import { resolveChain } from '../../../../src/live/failover/chain.ts';
import { pricedMembers } from '../../../../src/money/ledger/meter-contract.ts';
import { type RigClient, settle } from '../../../fakes/session-rig.ts';
import { puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, speech, untilEnded } from '../support.ts';

type Rig = ReturnType<typeof puppetRig>['rig'];

/** As the edge would give it. */
function configurable(rig: Rig, client: RigClient): void {
  const { opening } = client.session;
  opening.configure = async ({ model = '' }) => {
    const request = { ...opening.request, model };
    const { members } = await resolveChain({ ...request, mode: 'live', organisationId: 'org_1' }, rig.chain);
    return { request, chain: members, members: pricedMembers(members) };
  };
}

const heard = (text: string, end: number) => ({ turnId: '0', utterance: { text, start: 0, end } }) as const;

async function changedInATurn() {
  const { rig, puppet } = puppetRig({
    timing: { stallMs: Number.POSITIVE_INFINITY },
    rig: { settings: { idleMs: 600_000 } },
  });
  const client = await rig.open({ model: 'puppet/a' });
  configurable(rig, client);
  client.session.audio(speech(2));
  await rig.advance(2_000);
  await puppet.last.say({ type: 'partial', ...heard('it goes on', 2) });
  client.session.control({ type: 'configure', model: 'puppet/b' });
  await settle();
  await rig.advance(29_900, 1_000);
  expect(puppet.dialled).toEqual(['a']);
  expect(puppet.last.controls).not.toContain('finalize');
  await rig.advance(200);
  return { rig, puppet, client };
}

describe('a turn that has not ended 30 s after a change', () => {
  it('ends at its leg, so that the model that transcribed it is billed', async () => {
    const { rig, puppet, client } = await changedInATurn();
    expect(puppet.last.controls).toContain('finalize');
    await puppet.last.say({ type: 'turn.ended', formattedFollows: false, ...heard('it goes on', 2) });
    await rig.advance(100);
    expect(puppet.dialled).toEqual(['a', 'b']);
    expect(client.of('configured')).toMatchObject([{ model: 'puppet/b', from: 2, replayed_seconds: 0 }]);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: 'puppet/a', seconds: 2 }]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('goes to the new model again where it gets no final in five seconds', async () => {
    const { rig, puppet, client } = await changedInATurn();
    await rig.advance(5_000, 1_000);
    expect(puppet.dialled).toEqual(['a', 'b']);
    expect(client.of('configured')).toMatchObject([{ from: 0, replayed_seconds: 2 }]);
  });
});
