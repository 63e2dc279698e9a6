// Who gives back the place that a handshake took: the session when it is over; the edge only where no session came to be.
import { expect, test } from 'vitest';
import { apiError } from '../../../src/api/errors.ts';
import { listenRig, socket } from './listen-rig.ts';

test('leaves the slot to the session, which may have work left, when a socket closes', async () => {
  const { heard, accepted } = listenRig();
  const handlers = await accepted();
  handlers.open(socket);
  handlers.closed(socket, 1006, '');
  expect(heard).toEqual(['open', 'gone']);
});

test('releases the slot of a client that left before its socket opened', async () => {
  const { heard, accepted } = listenRig();
  (await accepted()).closed(socket, 1006, '');
  expect(heard).toEqual(['release', 'abandon']);
});

test('releases the slot of a session that could not be made', async () => {
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

test('releases the slot of a handshake refused for lack of credit', async () => {
  const { heard, answer } = listenRig({
    openMeter: async () => {
      throw apiError('insufficient_credit', 'Nothing is left.');
    },
  });
  expect(await answer()).toMatchObject({ refuse: { status: 402 } });
  expect(heard).toEqual(['release', 'refused insufficient_credit']);
});

const CHANNELS = { query: 'model=loopback/script&channels=3' };

test('releases the slot and hold of each channel when the client leaves at once', async () => {
  const { heard, accepted } = listenRig(CHANNELS);
  (await accepted()).closed(socket, 1006, '');
  expect(heard).toEqual(['release', 'abandon', 'release', 'abandon', 'release', 'abandon']);
});

test.each([
  ['money', 'insufficient_credit', 402],
  ['a place', 'too_many_sessions', 429],
] as const)('channels of which the last finds no %s take nothing', async (_, code, status) => {
  let asked = 0;
  const third = <Granted>(granted: Granted, isHere: boolean): Granted => {
    if (isHere && ++asked === 3) throw apiError(code, 'Nothing is left.');
    return granted;
  };
  const held: string[] = [];
  const isMoney = code === 'insufficient_credit';
  const { answer } = listenRig({
    ...CHANNELS,
    openMeter: async () => {
      third(undefined, isMoney);
      held.push('money');
      return { abandon: () => held.splice(held.indexOf('money'), 1) };
    },
    takeSession: () => {
      third(undefined, !isMoney);
      held.push('place');
      return () => held.splice(held.indexOf('place'), 1);
    },
  });
  expect(await answer()).toMatchObject({ refuse: { status } });
  expect(asked).toBe(3);
  expect(held).toEqual([]);
});

test('channels of which one could not be made end the others', async () => {
  let opened = 0;
  const { heard, accepted } = listenRig({
    ...CHANNELS,
    open: () => {
      if (++opened === 3) throw new Error('It cannot be made.');
      return { fault: () => heard.push('fault') };
    },
  });
  const handlers = await accepted();
  expect(() => handlers.open(socket)).toThrow('It cannot be made.');
  expect(heard).toEqual(['open', 'open', 'open', 'fault', 'fault']);
});
