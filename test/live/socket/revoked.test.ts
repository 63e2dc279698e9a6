// A key that is revoked after its handshake was judged and before its session is there: nobody could have ended that session.
import { expect, test } from 'vitest';
import { listenRig, socket } from './listen-rig.ts';

test.each([
  ['not revoked', false, ['open']],
  ['revoked in between', true, ['open', 'revoke key_1']],
])('opens a session, and revokes it if its key was %s', async (_, isRevoked, expected) => {
  const { heard, state, answer } = listenRig();
  const given = await answer();
  expect(given).toMatchObject({ headers: { 'RateLimit-Remaining': '7' } });
  if (!('accept' in given)) throw new Error('The handshake was refused.');
  state.isRevoked = isRevoked;
  given.accept.open(socket);
  expect(heard).toEqual(expected);
});
