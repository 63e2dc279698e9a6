// The end of a session: what its client is told and billed, the close of its socket, and the release of everything it holds.
import type { SessionEndReason } from '../../../machines/events.ts';
import * as ends from '../../../machines/session/ends.ts';
import type { SessionError } from '../../../machines/session/types.ts';
import { type Attempt, apiError, type ErrorCode } from '../../api/errors.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { DisposerStack } from '../../runtime/disposer-stack.ts';
import type { AudioAccount } from './billing/audio-account.ts';
import type { Spending } from './billing/spending.ts';
import { type EventWriter, secondsOf } from './event-writer.ts';
import type { Outbox } from './outbox.ts';
import type { SessionDependencies, SessionOpening } from './session-opening.ts';
import type { Turns } from './turns/turns.ts';
import type { SessionLog } from './watch/session-log.ts';

/** The parts of the session that its end concerns. */
export interface SessionEndingParts {
  scope: DisposerStack;
  pipeline: AudioPipeline;
  turns: Pick<Turns, 'number'>;
  events: EventWriter;
  outbox: Outbox;
  account: AudioAccount;
  spending: Spending;
  log: Pick<SessionLog, 'legs' | 'withoutTranscripts' | 'end'>;
}

export class SessionEnding {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #parts: SessionEndingParts;

  constructor(opening: SessionOpening, dependencies: SessionDependencies, parts: SessionEndingParts) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#parts = parts;
  }

  /** The last events: what is left without a final, the error, and the bill. */
  announce(reason: SessionEndReason, error: SessionError | null, attempts: Attempt[]): void {
    const { pipeline, outbox, account, events, turns, spending } = this.#parts;
    pipeline.end();
    outbox.beginEnd();
    const { receivedSamples, droppedBytes } = pipeline;
    const { isOwed, finalsTo, billedTo } = account.endOf(reason, error?.code ?? null);
    if (finalsTo < receivedSamples) events.lost(finalsTo, receivedSamples, error?.code ?? reason);
    if (error !== null) events.lastError(error, reason, attempts, isOwed ? turns.number : undefined);
    outbox.push({
      type: 'session_ended',
      reason,
      audio_seconds: this.#secondsReceived,
      ...spending.bill(billedTo),
      ...(droppedBytes === 0 ? {} : { dropped_bytes: droppedBytes }),
    });
  }

  /** A fault of our own. The client is told, everything is released, and no other session notices. */
  fault(name: string, error: unknown): void {
    if (this.#parts.scope.disposed) return;
    this.#dependencies.onFault(this.#opening.sessionId, name, error);
    this.#tryTo(() => this.announce(ends.mistaken.reason, ends.mistaken.error, []));
    this.end(ends.mistaken);
  }

  /** The socket is closed and everything let go of: whatever goes wrong here, the session's place and its id are free. */
  end({ reason, error }: ends.SessionEnd): void {
    const { scope, events, outbox, turns, spending, log } = this.#parts;
    this.#tryTo(() => this.#close(error));
    if (scope.disposed) return;
    const code = error?.code ?? null;
    const seconds = this.#secondsReceived;
    scope.dispose();
    // Before the ledger knows of the end.
    void this.#opening.transcript?.end();
    this.#tryTo(() => spending.settle(reason, code, this.#dependencies.wallNow()));
    const { failovers } = events;
    const { undeliveredFinals } = outbox;
    const ended = { kind: 'ended', reason, turns: turns.number, failovers, legs: log.legs.atEnd } as const;
    this.#tryTo(() =>
      log.end(ended, () => {
        const { money: _, ...audio } = spending.figures();
        return { kind: 'audio', ...audio };
      }),
    );
    const summary = { reason, code, seconds, turns: turns.number, failovers, undeliveredFinals };
    this.#dependencies.onEnded(this.#opening, summary, log.withoutTranscripts);
  }

  /** With what the error says to do; in order without one. */
  #close(error: SessionError | null): void {
    const code = error === null ? 1000 : apiError(error.code as ErrorCode, error.message).closeCode;
    this.#parts.outbox.close(code, error?.code ?? '');
  }

  /** What is left to do for a session that has failed may fail as well. */
  #tryTo(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#dependencies.onFault(this.#opening.sessionId, 'fault', error);
    }
  }

  get #secondsReceived(): number {
    return secondsOf(this.#parts.pipeline.receivedSamples, this.#opening.request.sampleRate);
  }
}
