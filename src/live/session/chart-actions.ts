// The charts of a session with their actions: each finds its session by the id in its context. Provided once for all sessions of a
// node, since `provide` costs 0.2 ms and 25 kB.
import { fromPromise } from 'xstate';
import type { LegFailure, SessionEndReason } from '../../../machines/events.ts';
import { failoverMachine } from '../../../machines/failover.ts';
import type { SessionError } from '../../../machines/session/types.ts';
import { sessionMachine } from '../../../machines/session.ts';
import type { Attempt } from '../../api/errors.ts';
import { guardActions } from '../../runtime/actors.ts';
import type { LiveSession } from './session.ts';

interface FailoverArgs {
  context: { ownerId: string; index: number };
}

interface SessionArgs {
  context: {
    sessionId: string;
    index: number;
    generation: number;
    failure: LegFailure | null;
    reason: SessionEndReason | null;
    error: SessionError | null;
    attempts: Attempt[];
  };
}

/** @param find a session that has not ended */
export function provideSessionMachine(find: (sessionId: string) => LiveSession | undefined): typeof sessionMachine {
  const session = ({ context }: SessionArgs) => find(context.sessionId);
  const onFault = (name: string, args: SessionArgs, error: unknown) => session(args)?.fault(name, error);
  const failover = failoverMachine.provide({
    actions: guardActions(
      {
        tellChosen: ({ context: { ownerId, index } }: FailoverArgs) =>
          find(ownerId)?.charts.tell({ type: 'failover.chosen', index }),
        askAgain: ({ context: { ownerId } }: FailoverArgs) => find(ownerId)?.recovery.weigh(),
      },
      (name, { context }, error) => find(context.ownerId)?.fault(name, error),
    ),
  });
  const settle = fromPromise<void, { sessionId: string }>(async ({ input }) => find(input.sessionId)?.outbox.flushed());
  return sessionMachine.provide({
    actors: { failover, settle },
    actions: guardActions(
      {
        openLeg: (args: SessionArgs) => session(args)?.recovery.openLeg(args.context.index, args.context.generation),
        closeLeg: (args: SessionArgs) => session(args)?.closeLeg(),
        openGate: (args: SessionArgs) => session(args)?.openGate(args.context.index, args.context.attempts.length),
        closeGate: (args: SessionArgs) => session(args)?.leg.pump.hold(),
        endTurn: (args: SessionArgs) => session(args)?.leg.pump.endTurn(),
        finishLeg: (args: SessionArgs) => session(args)?.finishLeg(),
        rest: (args: SessionArgs) => session(args)?.rest(),
        endAudio: (args: SessionArgs) => session(args)?.endAudio(),
        endTurns: (args: SessionArgs) => session(args)?.charts.turn.stop(),
        decide: (args: SessionArgs) => session(args)?.recovery.decide(args.context.index, args.context.failure),
        tellHeld: (args: SessionArgs) => session(args)?.recovery.steady(),
        announceExpiry: (args: SessionArgs) => session(args)?.settleBetweenTurns(),
        announceDrain: (args: SessionArgs) => session(args)?.announceDrain(),
        announceEnd: (args: SessionArgs) => {
          const { reason, error, attempts } = args.context;
          session(args)?.ending.announce(reason ?? 'error', error, attempts);
        },
      },
      onFault,
    ),
  });
}
