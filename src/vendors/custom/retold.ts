// Codecs in the name of somebody else: what they tell people of is an operator's own server, and not the service that it is like.
import type { LegFailure } from '../../../machines/events.ts';
import type { BatchStep, HttpBatchCodec, LiveCodec, SocketEndpoint, Step } from '../provider.ts';

/** @param names each with what takes its place in every message, the longest first */
export function retold(names: readonly (readonly [from: string, to: string])[]) {
  const text = (message: string) => names.reduce((told, [from, to]) => told.replaceAll(from, () => to), message);
  const failure = (told: LegFailure): LegFailure => ({ ...told, message: text(told.message) });
  const step = <Told extends Step>(told: Told): Told => {
    if (told.type === 'failed') return { ...told, failure: failure(told.failure) };
    return told.type === 'warned' ? { ...told, message: text(told.message) } : told;
  };
  // Most of what is heard names nobody.
  const steps = (told: Step[]): Step[] => (told.some(isTold) ? told.map(step) : told);
  const socket = (told: SocketEndpoint | LegFailure) => ('message' in told ? failure(told) : told);
  const fileStep = (told: BatchStep): BatchStep => {
    if (told.type === 'failed') return { ...told, failure: failure(told.failure) };
    if (told.type === 'request') return told;
    const warnings = told.result.warnings.map((warning) => ({ ...warning, message: text(warning.message) }));
    return { ...told, result: { ...told.result, warnings } };
  };

  return {
    live<State>(codec: LiveCodec<State>): LiveCodec<State> {
      const { socketOf, opened, wake, refused } = codec;
      return {
        ...codec,
        ...(socketOf && { socketOf: (state, answer) => socket(socketOf(state, answer)) }),
        ...(opened && { opened: (state) => steps(opened(state)) }),
        read: (state, message) => steps(codec.read(state, message)),
        finalize: (state) => steps(codec.finalize(state)),
        finish: (state) => steps(codec.finish(state)),
        ...(wake && { wake: (state) => steps(wake(state)) }),
        ...(refused && { refused: (refusal) => failure(refused(refusal)) }),
        closed: (state, code, reason) => step(codec.closed(state, code, reason)),
      };
    },

    batch<State>(codec: HttpBatchCodec<State>): HttpBatchCodec<State> {
      const { refused } = codec;
      return {
        ...codec,
        begin(request) {
          const { state, step: first } = codec.begin(request);
          return { state, step: fileStep(first) };
        },
        read: (state, answer) => fileStep(codec.read(state, answer)),
        ...(refused && { refused: (state, refusal) => failure(refused(state, refusal)) }),
      };
    },
  };
}

const isTold = ({ type }: Step): boolean => type === 'failed' || type === 'warned';
