// Deepgram's two live protocols under one codec: each leg is spoken to by the protocol of its model.
import type { LegRequest, LiveCodec } from '../provider.ts';
import { failures } from './failures.ts';
import { flux } from './flux.ts';
import { isFlux } from './models.ts';
import { nova } from './nova.ts';

interface State {
  protocol: LiveCodec;
  own: unknown;
}

const protocolOf = ({ model }: LegRequest): LiveCodec => (isFlux(model) ? flux : nova);

export const live: LiveCodec<State> = {
  timing: (request) => protocolOf(request).timing(request),
  open: (request) => {
    const protocol = protocolOf(request);
    const { state: own, endpoint, hello } = protocol.open(request);
    return { state: { protocol, own }, endpoint, hello };
  },
  opened: ({ protocol, own }) => protocol.opened?.(own) ?? [],
  audio: ({ protocol, own }, frame) => protocol.audio(own, frame),
  read: ({ protocol, own }, message) => protocol.read(own, message),
  finalize: ({ protocol, own }) => protocol.finalize(own),
  reconfigure: ({ protocol, own }, before, after) => protocol.reconfigure?.(own, before, after),
  finish: ({ protocol, own }) => protocol.finish(own),
  keepAlive: ({ protocol, own }) => protocol.keepAlive(own),
  wake: ({ protocol, own }) => protocol.wake?.(own) ?? [],
  leave: ({ protocol, own }) => protocol.leave?.(own) ?? [],
  refused: (refusal) => failures.ofRefusal(refusal),
  closed: ({ protocol, own }, code, reason) => protocol.closed(own, code, reason),
};
