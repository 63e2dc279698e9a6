// One live session's host: it owns the audio pipeline, the texts, the outbox and the leg, and does what the session chart
// decides. Bytes and partial texts stay here; the chart hears of boundaries.
import type { Heard, LegFailure, SessionEndReason } from '../../machines/events.ts';
import * as ends from '../../machines/session/ends.ts';
import type { SessionError, SessionEvent } from '../../machines/session/types.ts';
import type { sessionMachine } from '../../machines/session.ts';
import { type Attempt, type ErrorCode, refuse } from '../api/errors.ts';
import type { ClientMessage } from '../api/listen.ts';
import type { AudioPipeline } from '../audio/pipeline.ts';
import type { Envelope } from '../bus/bus.ts';
import type { ChainMember } from '../failover/chain.ts';
import { finalMissing } from '../providers/turn-text.ts';
import { Deadline } from '../runtime/deadline.ts';
import { Scope } from '../runtime/scope.ts';
import { AudioIntake, backlogWords, containerWords } from './audio/intake.ts';
import { Suspension } from './audio/suspension.ts';
import { AudioAccount } from './billing/audio-account.ts';
import type { AbortCode, OrderlyCode } from './billing/end-charges.ts';
import { Spending } from './billing/spending.ts';
import { Usage } from './billing/usage.ts';
import { Charts } from './charts.ts';
import { EventWriter } from './event-writer.ts';
import type { SessionDependencies } from './host.ts';
import { CurrentLeg } from './leg/current-leg.ts';
import type { ClientLine, Outbox } from './outbox.ts';
import { Recovery } from './recovery.ts';
import type { SessionOpening } from './session-opening.ts';
import { chartInputOf, outboxOf, pipelineOf } from './session-parts.ts';
import { Turns } from './turns/turns.ts';

export class LiveSession {
  readonly opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #scope: Scope;
  readonly #outbox: Outbox;
  readonly #events: EventWriter;
  readonly pipeline: AudioPipeline;
  readonly leg: CurrentLeg;
  readonly #turns: Turns;
  readonly #usage: Usage;
  readonly #account: AudioAccount;
  readonly #spending: Spending;
  readonly #intake: AudioIntake;
  readonly #idle: Deadline;
  readonly #suspension: Suspension;
  readonly charts = new Charts();
  readonly recovery: Recovery;

  constructor(opening: SessionOpening, line: ClientLine, dependencies: SessionDependencies) {
    this.opening = opening;
    this.#dependencies = dependencies;
    const { request, sessionId } = opening;
    const { clock, settings, totals, bus } = dependencies;
    this.#scope = new Scope((error) => dependencies.onFault(sessionId, 'dispose', error));
    const { pipeline, backlogSecondsMax } = pipelineOf(opening, dependencies);
    this.pipeline = pipeline;
    this.#scope.defer(() => this.pipeline.dispose());
    this.#outbox = outboxOf(opening, line, dependencies, (message) => this.abort('slow_consumer', message));
    this.#events = new EventWriter(opening, this.#outbox, (code) => totals.refused(code));
    this.#usage = new Usage(request.sampleRate, opening.meter.members, clock);
    this.#account = new AudioAccount(pipeline, this.#usage, request.sampleRate);
    this.#spending = new Spending(opening.meter, this.pipeline, this.#usage, request.sampleRate, {
      extended: () => this.leg.pump(),
      warn: (warning) => this.#events.warn(warning),
      stop: (reason, code, message) => this.stop(reason, code, message),
    });
    this.#intake = new AudioIntake({
      request,
      pipeline: this.pipeline,
      clock,
      totals,
      backlogSecondsMax,
      onContainer: (name) => this.abort('unsupported_audio', containerWords(name, request.encoding)),
      onBacklog: (secondsMax) => this.stop('error', 'audio_backlog_exceeded', backlogWords(secondsMax)),
      onLate: () => this.#events.lateAudio(this.charts.endError),
      onOddRate: (ratio) => this.#events.rateSuspect(ratio),
    });
    this.#turns = new Turns({
      sampleRate: request.sampleRate,
      interimResults: request.interimResults,
      tell: (event) => this.charts.tellTurn(event),
      emit: (event) => this.#outbox.push(event),
      covered: (sample, model) => {
        // A provider may place the end of a turn behind what it was sent.
        this.#usage.covered(Math.min(sample, this.pipeline.sentSamples), model);
        this.pipeline.trim(sample);
      },
      received: () => this.pipeline.receivedSamples,
      onDrop: (name) => totals.dropped(name),
    });
    this.leg = new CurrentLeg(opening, dependencies, this.pipeline, {
      ready: (generation) => this.#ready(generation),
      failed: (generation, failure) => this.#failed(generation, failure),
      finished: (generation) => this.#finished(generation),
      expiring: (generation) => this.#tell({ type: 'upstream.expiring', generation }),
      heard: (heard) => this.#hear(heard),
      drained: () => this.#tell({ type: 'audio.drained' }),
      sent: () => this.#spending.sent(),
      starved: () => this.#spending.starved(),
      waiting: (slug) => this.#account.isOwed && this.#events.waiting(slug),
      fault: (error) => this.fault('audio', error),
    });
    this.recovery = new Recovery(opening, dependencies, this.charts, this.leg);
    this.#scope.defer(() => this.leg.close());
    this.#scope.defer(bus.attach(sessionId, (envelope) => this.#receive(envelope), this.leg.channel.undelivered));
    this.#scope.defer(() => this.recovery.end());
    this.#idle = new Deadline(clock, settings.idleMs, () => this.#tell({ type: 'session.idle' }));
    this.#scope.defer(() => this.#idle.stop());
    this.#suspension = new Suspension(clock, settings.suspendMs, pipeline, {
      quiet: () => this.#tell({ type: 'audio.quiet' }),
      waiting: () => this.#tell({ type: 'audio.waiting' }),
    });
    this.#scope.defer(() => this.#suspension.stop());
  }

  /** Starts the session: tells the client, and dials the first leg. */
  start(machine: typeof sessionMachine): void {
    const { settings, clock, onState } = this.#dependencies;
    this.#events.started(settings);
    this.#spending.start();
    this.charts.start(machine, chartInputOf(this.opening, this.#dependencies, this.recovery.first()), clock, {
      changed: (snapshot) => {
        if (!this.#scope.disposed) onState(this.opening.sessionId, snapshot.value);
      },
      ended: (output) => this.#ended(output),
      failed: (error) => this.fault('chart', error),
    });
    this.#scope.defer(() => this.charts.stop());
  }

  /** Audio bytes, valid during the call. */
  audio(bytes: Uint8Array): void {
    if (this.#scope.disposed) return;
    this.#idle.touch();
    if (this.#intake.take(bytes)) this.#moreAudio();
  }

  #moreAudio(): void {
    this.#suspension.audio();
    this.leg.pump();
  }

  /** A decoded text frame. */
  control(message: ClientMessage): void {
    if (this.#scope.disposed) return;
    this.#idle.touch();
    if (message.type === 'close') this.#tell({ type: 'client.close' });
    else if (message.type === 'finalize') this.leg.finalize();
  }

  /** A text frame that is no message of ours: the session goes on. */
  misunderstood(message: string, param?: string): void {
    if (!this.#scope.disposed) this.#events.error('invalid_request', message, param === undefined ? {} : { param });
  }

  /** Ends the session at once: for a fault of the client, or because nothing more may be done for it. */
  abort(code: AbortCode, message: string): void {
    this.#tell({ type: 'session.abort', reason: 'error', error: { code, message } });
  }

  /** Ends the session in order, after its last final. */
  stop(reason: SessionEndReason, code: OrderlyCode, message: string): void {
    this.#tell({ type: 'session.stop', reason, error: { code, message } });
  }

  /** The socket has room again. */
  drained(): void {
    this.#outbox.drained();
  }

  /** The socket is gone. What was taken is still finished and counted. */
  gone(): void {
    this.#outbox.abandon();
    this.#tell({ type: 'client.gone' });
  }

  /** The node is going away. */
  drain(): void {
    this.#tell({ type: 'node.drain' });
  }

  // What the charts ask for.

  chosen(index: number): void {
    this.#tell({ type: 'failover.chosen', index });
  }

  closeLeg(): void {
    this.#suspension.stop();
    this.leg.close();
    this.#usage.connections.closed();
    this.#turns.discard();
  }

  /** What was sent was heard to its end, and nothing waits. */
  rest(): void {
    this.recovery.legs.became('suspended');
    this.#events.rested();
    if (this.pipeline.ended && this.#isSettled()) this.#settle();
    else this.#suspension.rest();
  }

  openGate(index: number, attempts: number): void {
    const { slug } = this.opening.chain[index] as ChainMember;
    const { originSample, replaySamples, lost } = this.leg.openGate();
    this.#turns.beginLeg(slug, originSample);
    this.#usage.passedOver(lost?.from ?? this.pipeline.coveredSamples);
    if (lost !== undefined) {
      this.#usage.skip(lost.to);
      this.#lost(lost.from, lost.to, 'replay_exceeded');
    }
    this.#account.isLegGood = true;
    this.#suspension.begin();
    this.#spending.heardBy(index);
    this.#events.switched(index, attempts, this.#turns.secondsOf(replaySamples));
    this.leg.pump();
  }

  closeGate(): void {
    this.leg.closeGate();
  }

  finishLeg(): void {
    this.leg.finish();
  }

  endAudio(): void {
    this.#idle.stop();
    this.pipeline.end();
    // Nobody has to be found to hear what was heard already.
    if (this.charts.unlinked && this.#isSettled()) this.#settle();
    else this.#moreAudio();
  }

  deliverFinal(): void {
    this.#turns.deliver();
  }

  turnSettled(): void {
    this.recovery.held();
    this.#tell({ type: 'turn.settled' });
  }

  announceDrain(): void {
    this.#events.draining(this.#dependencies.settings.drainMs);
    this.settleBetweenTurns();
  }

  /** Between two turns there is no boundary to wait for. */
  settleBetweenTurns(): void {
    if (!this.#turns.open && this.pipeline.lastSpeechSample(this.pipeline.coveredSamples) === undefined)
      this.#tell({ type: 'turn.settled' });
  }

  announceEnd(reason: SessionEndReason, error: SessionError | null, attempts: Attempt[]): void {
    this.pipeline.end();
    this.#outbox.beginEnd();
    const { receivedSamples, droppedBytes } = this.pipeline;
    const { isOwed, finalsTo, billedTo } = this.#account.endOf(reason, error?.code ?? null);
    if (finalsTo < receivedSamples) this.#lost(finalsTo, receivedSamples, error?.code ?? reason);
    if (error !== null) this.#events.lastError(error, reason, attempts, isOwed ? this.#turns.number : undefined);
    this.#outbox.push({
      type: 'session_ended',
      reason,
      audio_seconds: this.#turns.secondsOf(receivedSamples),
      ...this.#spending.bill(billedTo),
      ...(droppedBytes === 0 ? {} : { dropped_bytes: droppedBytes }),
    });
  }

  /** Resolves when the client was told everything, as far as it listens. */
  settled(): Promise<void> {
    return this.#outbox.flushed();
  }

  /** The node goes, and waits no longer: what was not said stays unsaid, and is named. */
  cutOff(): void {
    this.#tell({ type: 'session.abort', ...ends.drained });
    this.#ended(ends.drained);
  }

  /** A fault of our own. The client is told, everything is let go of, and no other session notices. */
  fault(name: string, error: unknown): void {
    if (this.#scope.disposed) return;
    this.#dependencies.onFault(this.opening.sessionId, name, error);
    const { reason, error: told } = ends.mistaken;
    this.#tryTo(() => this.announceEnd(reason, told, []));
    this.#tryTo(() => this.#close(told));
    this.#dispose(reason, told.code);
  }

  /** What is left to do for a session that has failed may fail as well. */
  #tryTo(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#dependencies.onFault(this.opening.sessionId, 'fault', error);
    }
  }

  #receive(envelope: Envelope): void {
    try {
      this.leg.receive(envelope);
    } catch (error) {
      this.fault('report', error);
    }
  }

  #ready(generation: number): void {
    this.recovery.ready();
    this.#tell({ type: 'upstream.ready', generation });
  }

  #hear(heard: Heard): void {
    if (heard.type === 'speech.started') this.#events.speechStarted(this.#turns.placedSeconds(heard.start));
    else if (heard.type === 'warned') this.#events.warn(heard);
    else if ('turnId' in heard) {
      this.#turns.hear(heard);
      // A provider may place words behind what it was sent.
      this.#usage.answered(Math.min(this.#turns.heardSamples, this.pipeline.sentSamples));
    }
  }

  /** A leg that finished while words have no final did not finish: they are heard again, never made final by guess. */
  #finished(generation: number): void {
    this.charts.tellTurn({ type: 'turn.flush' });
    if (this.#turns.open) {
      this.#lose(generation, finalMissing);
      return;
    }
    this.#turns.finish();
    this.leg.held();
    if (this.charts.suspending) this.#account.heardWhatWasSent();
    else this.#account.finishedInOrder = true;
    this.#tell({ type: 'upstream.finished', generation });
  }

  /** A leg that was asked to finish and has given every sample its final owes nothing: it need not confirm the end. */
  #failed(generation: number, failure: LegFailure): void {
    this.charts.tellTurn({ type: 'turn.flush' });
    if ((this.charts.finishing || this.charts.suspending) && this.#isSettled()) this.#finished(generation);
    else this.#lose(generation, failure);
  }

  #lose(generation: number, told: LegFailure): void {
    const failure = this.recovery.judge(told);
    this.#account.isLegGood = false;
    this.leg.lost(failure);
    this.#events.lostLeg(failure);
    this.#tell({ type: 'upstream.failed', generation, failure });
    if (this.pipeline.ended && this.charts.unlinked && this.#isSettled()) this.#settle();
  }

  /** The audio has ended and every sample has its final; there is no leg to say so. */
  #settle(): void {
    this.#turns.finish();
    this.#account.finishedInOrder = true;
    this.#tell({ type: 'audio.settled' });
  }

  #isSettled(): boolean {
    return !this.#account.isOwed && !this.#turns.open;
  }

  #lost(fromSample: number, toSample: number, reason: string): void {
    this.#events.lost(this.#turns.secondsOf(fromSample), this.#turns.secondsOf(toSample), reason);
  }

  #ended({ reason, error }: ends.SessionEnd): void {
    this.#close(error);
    this.#dispose(reason, error?.code ?? null);
  }

  /** The socket closes with what the error says to do; in order without one. */
  #close(error: SessionError | null): void {
    const code = error === null ? 1000 : refuse(error.code as ErrorCode, error.message).closeCode;
    this.#outbox.close(code, error?.code ?? '');
  }

  #dispose(reason: SessionEndReason, code: string | null): void {
    if (this.#scope.disposed) return;
    const seconds = this.#turns.secondsOf(this.pipeline.receivedSamples);
    this.#scope.dispose();
    // Whatever goes wrong here, the session is over: its place and its id are free.
    this.#tryTo(() => this.#spending.settle(reason, code, this.#dependencies.wallNow()));
    this.#dependencies.onEnded(this, {
      reason,
      code,
      seconds,
      turns: this.#turns.number,
      failovers: this.#events.failovers,
      undeliveredFinals: this.#outbox.undeliveredFinals,
    });
  }

  #tell(event: SessionEvent): void {
    if (!this.#scope.disposed) this.charts.tell(event);
  }
}
