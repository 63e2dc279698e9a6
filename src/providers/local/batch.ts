// Files go through the live codec, so that both modes give the same words and times.
import type { BatchCodec } from '../provider.ts';

export const batch: BatchCodec = { kind: 'live' };
