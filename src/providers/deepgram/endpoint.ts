// Where Deepgram is reached, how a request shows its key, and what both live protocols want of their time.
import type { LiveTiming, ProviderAccess } from '../provider.ts';

const PUBLIC_URL = 'https://api.deepgram.com';

export const baseUrlOf = ({ baseUrl }: ProviderAccess): string => baseUrl ?? PUBLIC_URL;

export const authorization = ({ credential }: ProviderAccess): { authorization: string } => ({
  authorization: `Token ${credential ?? ''}`,
});

/** What Flux documents nothing of its own for is taken from `/v1/listen`. */
export const TIMING = {
  // https://developers.deepgram.com/docs/stt-troubleshooting-websocket-data-and-net-errors: 1.25 times real time.
  speedMax: 1.25,
  burstMs: 1_000,
  connectMs: 5_000,
  readyMs: 5_000,
  drainMs: 8_000,
  formattedWaitMs: 0,
  sessionMaxMs: undefined,
  endpointing: undefined,
} satisfies Partial<LiveTiming>;
