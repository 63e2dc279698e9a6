// Deepgram's two live protocols: each leg uses the protocol of its model.
import type { LiveCodec } from '../kit/provider.ts';
import { flux } from './flux.ts';
import { isFlux } from './models.ts';
import { nova } from './nova.ts';

export const live = (model: string): LiveCodec => (isFlux(model) ? flux : nova);
