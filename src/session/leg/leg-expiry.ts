// Some providers limit how long a connection lasts: another one is to take over in good time.
import type { Clock } from '../../../machines/clock.ts';
import type { LiveTiming } from '../../providers/provider.ts';

/** Before the limit: time to find the end of a turn, and to connect anew. */
const MARGIN_MS = 60_000;

/** Gives what stops it. */
export function beforeLimit(clock: Clock, { sessionMaxMs }: LiveTiming, expiring: () => void): () => void {
  if (sessionMaxMs === undefined) return () => {};
  const timer = clock.setTimeout(expiring, Math.max(sessionMaxMs / 2, sessionMaxMs - MARGIN_MS));
  return () => clock.clearTimeout(timer);
}
