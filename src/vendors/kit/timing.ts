// What most live protocols want of their time.
import type { LiveTiming } from './provider.ts';

/** A provider's timing: what it says, and for the rest what most have. */
export const liveTiming = (
  own: Partial<LiveTiming> & Pick<LiveTiming, 'speedMax' | 'drainMs' | 'stallMs'>,
): LiveTiming => ({
  frame: { minMs: 20, idealMs: 100, maxMs: 1_000, tail: 'short' },
  burstMs: 1_000,
  connectMs: 5_000,
  readyMs: 5_000,
  keepAliveMs: undefined,
  answers: 'late',
  formattedWaitMs: 0,
  sessionMaxMs: undefined,
  unconfirmedMax: undefined,
  endpointing: undefined,
  turnPauseMs: Number.POSITIVE_INFINITY,
  ...own,
});
