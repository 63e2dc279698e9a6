// Files go through the live codec.
import type { BatchCodec } from '../provider.ts';

export const batch: BatchCodec = { kind: 'live' };
