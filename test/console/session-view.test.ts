// What the page of a session shows, frame by frame.
import { expect, it } from 'vitest';
import type { WatchedFrame } from '../../src/api/console/watching.ts';
import { NOTHING, viewAfter } from '../../src/console/pages/sessions/watch.ts';

const at = new Date(0).toISOString();
const actor = { node: 'a', about: null, status: 'active' };

it('shows no held money after the session has ended', () => {
  const frames: WatchedFrame[] = [
    {
      kind: 'actors',
      actors: [
        { ...actor, id: 'session', machine: 'session', value: 'live' },
        { ...actor, id: 'money', machine: 'money', value: 'held' },
      ],
      sequence: 1,
      at,
    },
    { kind: 'ended', reason: 'client_closed', turns: 1, failovers: 0, legs: [], sequence: 2, at },
  ];
  const before = frames.slice(0, 1).reduce(viewAfter, NOTHING);
  expect([...before.actors.keys()]).toEqual(['session', 'money']);
  expect([...frames.reduce(viewAfter, NOTHING).actors.keys()]).toEqual(['session']);
});
