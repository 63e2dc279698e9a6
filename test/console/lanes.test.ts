// Where things stand on the timeline of a session, and where watching began.
import { expect, it } from 'vitest';
import type { WatchedFrame } from '../../src/api/console/watching.ts';
import { lanesOf } from '../../src/console/pages/sessions/lanes.ts';

const at = (second: number) => new Date(second * 1000).toISOString();
const opened: WatchedFrame = { kind: 'mark', mark: 'leg_opened', text: 'leg 1', model: 'a/b', sequence: 1, at: at(0) };
const lost: WatchedFrame = { kind: 'mark', mark: 'leg_lost', text: 'connect_failed', sequence: 4, at: at(20) };
const actors = (second: number): WatchedFrame => ({ kind: 'actors', actors: [], sequence: 2, at: at(second) });
const audio = (second: number): WatchedFrame => ({
  kind: 'audio',
  received_seconds: second,
  sent_seconds: second,
  settled_seconds: 0,
  held_usd: '0.00',
  cost_usd: '0.00',
  sequence: 3,
  at: at(second),
});

it.each([
  ['late', [opened, actors(10), audio(15), lost], 0.5],
  ['from the beginning', [opened, actors(0), audio(5), lost], undefined],
  ['by an earlier visitor, and again late', [opened, audio(0.2), actors(10), lost], undefined],
  ['never', [opened, lost], undefined],
])('says where watching began: %s', (_, frames, expected) => {
  expect(lanesOf(frames).watchedFrom).toBe(expected);
});

it('describes the reason of a lost connection', () => {
  const { legs, events } = lanesOf([opened, lost]);
  expect(legs[0]).toMatchObject({ from: 0, to: 1, words: 'a/b, leg 1, lost: could not connect' });
  expect(events).toHaveLength(1);
});
