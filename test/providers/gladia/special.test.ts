// What is special of Gladia: it has no speakers in live sessions, and says so.
import { expect, it } from 'vitest';
import { live } from '../../../src/providers/gladia/live.ts';
import { legRequest } from '../../suites/provider/requests.ts';

it.each([
  [true, ['ready', 'warned']],
  [false, ['ready']],
])('with diarization %s a session begins with %j', (diarization, expected) => {
  const { state } = live.open(legRequest({ model: 'solaria-1', sampleRate: 16_000, diarization }));
  expect(live.opened?.(state).map(({ type }) => type)).toEqual(expected);
});
