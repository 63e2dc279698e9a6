// The machines as they are explored: their samples from machines/index.ts, and what of their context decides.
import type { AnyMachineSnapshot } from 'xstate';
import type { BreakerContext } from '../../machines/breaker.ts';
import type { FailoverContext } from '../../machines/failover.ts';
import { machines } from '../../machines/index.ts';
import type { SessionContext } from '../../machines/session/types.ts';
import type { UpstreamContext } from '../../machines/upstream.ts';
import { type Exploration, explore, type Samples, type Subject } from '../fakes/explore.ts';

export interface ExploredSubject {
  /** Id of the machine; several subjects may explore one. */
  id: string;
  subject: Subject;
  explored: Exploration;
}

const projections: Readonly<Record<string, (context: never) => unknown>> = {
  session: ({ index, next, failure, reason }: SessionContext) => [index, next, failure?.kind, reason !== null],
  failover: ({ failures: _, ...context }: FailoverContext) => ({
    ...context,
    tried: new Set(context.tried).size,
    ownLosses: Math.min(context.ownLosses, 1),
  }),
  breaker: ({ failures, opened, waitMs }: BreakerContext) => [Math.min(failures, 2), Math.min(opened, 3), waitMs],
  upstream: ({ failure, isAlive, waitMs }: UpstreamContext) => [failure?.code, isAlive, waitMs],
  'api-key': (context) => context,
  'client-token': (context) => context,
  node: (context) => context,
  'provider-key': (context) => context,
};

/** Every machine with its sample input. */
export const subjects: readonly ExploredSubject[] = machines
  .map(({ id, machine, input, samples }) => ({
    id,
    subject: { machine, input, samples: id === 'session' ? ofCurrentLeg(samples) : samples },
  }))
  .map(({ id, subject }) => ({ id, subject, explored: explore(subject, projections[id]) }));

export function subjectOf(id: string): ExploredSubject {
  const found = subjects.find((subject) => subject.id === id);
  if (found === undefined) throw new Error(`There is no machine "${id}".`);
  return found;
}

/** Legs are numbered without end: whatever a leg can say is said by the current one, and by the one before it. */
function ofCurrentLeg(samples: Samples): (snapshot: AnyMachineSnapshot) => Samples {
  const kinds = new Map(samples.map((sample) => [JSON.stringify({ ...sample, generation: undefined }), sample]));
  return ({ context }) =>
    [...kinds.values()].flatMap((sample) =>
      'generation' in sample
        ? [
            { ...sample, generation: context.generation },
            { ...sample, generation: context.generation - 1 },
          ]
        : [sample],
    );
}
