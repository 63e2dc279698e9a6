// Planned recycling with every protocol: a leg that comes near its provider's limit is replaced at the end of a turn, and nothing is lost,
// doubled or misplaced. Hours and days of the providers' own limits, by the simulated clock.
import { describe, expect, it } from 'vitest';
import { expectAllHeard, Incident } from '../incident.ts';
import { PROTOCOLS } from '../protocols.ts';

const FOUR_DAYS_MS = 4 * 86_400_000;
const settings = { idleMs: FOUR_DAYS_MS, suspendMs: FOUR_DAYS_MS, longestMs: FOUR_DAYS_MS };
/** Of a tenth of a second, before the silence: one turn, to its end. */
const FIRST_CHUNKS = 19;
/** A leg is to be replaced so long before its limit. */
const MARGIN_MS = 60_000;

const limited = PROTOCOLS.filter(({ timing: { sessionMaxMs } }) => sessionMaxMs !== undefined);

describe.each(limited)('$slug', ({ slug, provider, timing }) => {
  const limitMs = timing.sessionMaxMs as number;

  it.each([
    // A second behind the silence, in the middle of the second turn.
    ['in the middle of speech', limitMs - MARGIN_MS - FIRST_CHUNKS * 100 - 1_000],
    ['in a silence', limitMs],
  ])('gives way to a new connection before its limit, %s, with continuous times', async (_, silentMs) => {
    const incident = new Incident({ settings });
    const caller = await incident.call([slug]);
    incident.speak(caller, { silent: { afterChunk: FIRST_CHUNKS - 1, ms: silentMs } });
    await incident.until(silentMs);
    await incident.ended(caller);
    expect(incident.failures).toEqual([]);
    expectAllHeard(caller, incident);
    expect(incident.dialsTo(provider)).toHaveLength(2);
    const starts = caller.client.finals.filter(({ text }) => text !== '').map(({ start }) => Math.round(start / 2));
    expect(starts).toEqual(incident.turns.map((_, turn) => turn));
    await incident.close();
  });
});
