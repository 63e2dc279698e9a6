// What a former owner of the accounts may still answer: nothing that it only reads, from the moment that another one may own them.
import { expect, test } from 'vitest';
import { whileOwner } from '../../../src/node/store/remote-store.ts';
import type { Asked } from '../../../src/store/operation.ts';
import { Rig } from './replica-rig.ts';

const ASKED: Asked = { organisationId: null, call: 'findKey', args: [] };

test('an owner that is cut off answers no read for a second at least before another one owns the accounts', async () => {
  const rig = new Rig();
  const { first, second } = await rig.pair();
  first.log.isCut = true;
  let unsureMs: number | undefined;
  let ownsMs: number | undefined;
  const look = () => {
    if (second.replica.role === 'owning') ownsMs ??= rig.clock.now();
    if (!first.replica.isSure) unsureMs ??= rig.clock.now();
    else expect(unsureMs).toBeUndefined();
    if (ownsMs === undefined) rig.clock.setTimeout(look, 20);
  };
  look();
  await rig.run(6_000);
  expect(Number(ownsMs) - Number(unsureMs)).toBeGreaterThanOrEqual(1_000);
});

test('a read that was begun before the owner was paused is not answered after it', async () => {
  const rig = new Rig();
  const { first, second } = await rig.pair();
  const answers: ((value: string) => void)[] = [];
  const answering = whileOwner(
    () => new Promise<string>((resolve) => void answers.push(resolve)),
    () => first.replica.isSure,
    (call) => call === 'findKey',
  );
  const read = answering(ASKED);
  const written = answering({ ...ASKED, call: 'createKey' });
  first.log.isCut = true;
  await rig.run(5_000);
  expect(second.replica.role).toBe('owning');
  for (const answer of answers) answer('not revoked');
  await expect(read).rejects.toMatchObject({ reason: 'unreachable' });
  // What was written was agreed, whoever owns the accounts now.
  expect(await written).toBe('not revoked');
});

test('an owner whose machine was paused with its clock is not sure before it has written again', async () => {
  const rig = new Rig();
  let wallMs = 1_800_000_000_000;
  const { replica } = rig.replica({ wallNowMs: () => wallMs });
  await replica.start();
  await rig.run(3_500);
  expect(replica.isSure).toBe(true);
  wallMs += 60_000;
  expect(replica.isSure).toBe(false);
  await rig.run(1_500);
  expect(replica.isSure).toBe(true);
});
