// Who gives back the place that a handshake took: the session when it is over; the edge only where no session came to be.
import { expect, test } from 'vitest';
import { refuse } from '../../../src/api/errors.ts';
import { listenRig, socket } from './listen-rig.ts';

test('a socket that closes leaves the place to its session, which may have work left', async () => {
  const { heard, accepted } = listenRig();
  const handlers = await accepted();
  handlers.open(socket);
  handlers.closed(socket, 1006, '');
  expect(heard).toEqual(['open', 'gone']);
});

test('a client that is gone before its socket was opened holds no place', async () => {
  const { heard, accepted } = listenRig();
  (await accepted()).closed(socket, 1006, '');
  expect(heard).toEqual(['release', 'abandon']);
});

test('a session that could not be made holds no place', async () => {
  const { heard, accepted } = listenRig({
    open: () => {
      throw new Error('It cannot be made.');
    },
  });
  const handlers = await accepted();
  expect(() => handlers.open(socket)).toThrow('It cannot be made.');
  handlers.closed(socket, 1011, '');
  expect(heard).toEqual(['open', 'release', 'abandon']);
});

test('a handshake that is refused for want of money holds no place', async () => {
  const { heard, answer } = listenRig({
    openMeter: async () => {
      throw refuse('insufficient_credit', 'Nothing is left.');
    },
  });
  expect(await answer()).toMatchObject({ refuse: { status: 402 } });
  expect(heard).toEqual(['release', 'refused insufficient_credit']);
});
