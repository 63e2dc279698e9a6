// One live session: it makes the parts that carry its audio and texts, takes what its client says, and does what its chart decides
// for more than one of them. Bytes and partial texts never come here; the chart hears of boundaries.
import type { DemandedFault, SessionEndReason } from '../../../machines/events.ts';
import * as ends from '../../../machines/session/ends.ts';
import type { sessionMachine } from '../../../machines/session.ts';
import type { ClientMessage, ListenRequest } from '../../api/listen.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import { DisposerStack } from '../../runtime/disposer-stack.ts';
import { IdleTimer } from '../../runtime/timeouts.ts';
import type { ResolvedCandidate } from '../failover/chain.ts';
import { IncomingAudio } from './audio/incoming-audio.ts';
import { AudioIntake } from './audio/intake.ts';
import { Suspension } from './audio/suspension.ts';
import { AudioAccount } from './billing/audio-account.ts';
import type { AbortCode, OrderlyCode } from './billing/end-charges.ts';
import { type SessionFigures, Spending } from './billing/spending.ts';
import { Usage } from './billing/usage.ts';
import { Charts } from './charts.ts';
import { EventWriter } from './event-writer.ts';
import { CheaperModel } from './leg/cheaper-model.ts';
import { CurrentLeg } from './leg/current-leg.ts';
import { LegOutcomes } from './leg/leg-outcomes.ts';
import { PrimaryReturn } from './leg/primary-return.ts';
import { Standby } from './leg/standby.ts';
import type { ClientLine, Outbox } from './outbox.ts';
import { Reconfiguration } from './reconfiguration.ts';
import { Recovery } from './recovery.ts';
import { SessionEnding } from './session-ending.ts';
import type { SessionDependencies, SessionOpening } from './session-opening.ts';
import { chartInputOf, formattedWaitMsOf, outboxOf, pipelineOf, suspendMsOf, timingsOf } from './session-parts.ts';
import { Signals } from './signals.ts';
import { leavesTexts, SessionTexts } from './text/event-texts.ts';
import { EmptyTurns, Turns } from './turns/turns.ts';
import { SessionDelays } from './watch/session-delays.ts';
import { SessionLog } from './watch/session-log.ts';

export class LiveSession {
  readonly opening: SessionOpening;
  /** Epoch milliseconds. */
  readonly openedMs: number;
  readonly charts = new Charts();
  /** For whoever looks at the session. */
  readonly log: SessionLog;
  readonly pipeline: AudioPipeline;
  readonly turns: Turns;
  readonly leg: CurrentLeg;
  readonly recovery: Recovery;
  readonly ending: SessionEnding;
  readonly #dependencies: SessionDependencies;
  readonly #scope: DisposerStack;
  readonly outbox: Outbox;
  readonly #events: EventWriter;
  readonly #usage: Usage;
  readonly #account: AudioAccount;
  readonly #spending: Spending;
  readonly #incoming: IncomingAudio;
  readonly #outcomes: LegOutcomes;
  readonly #return: PrimaryReturn;
  readonly #standby: Standby;
  readonly #cheaper: CheaperModel;
  readonly #idle: IdleTimer;
  readonly #suspension: Suspension;
  readonly #reconfiguration: Reconfiguration;
  #texts: SessionTexts | undefined;
  #isSuspended = false;

  constructor(opening: SessionOpening, line: ClientLine, dependencies: SessionDependencies) {
    this.opening = opening;
    this.openedMs = dependencies.wallNow().getTime();
    this.#dependencies = dependencies;
    const { request, sessionId } = opening;
    const { clock, settings, totals } = dependencies;
    const { showsTranscripts, transcript } = opening;
    this.log = new SessionLog(dependencies.wallNow, dependencies.observe?.(opening), showsTranscripts, transcript);
    const signals = new Signals();
    signals.on('abort', (code, message) => this.abort(code, message));
    signals.on('stop', (reason, code, message) => this.stop(reason, code, message));
    signals.on('fault', (name, error) => this.fault(name, error));
    const { charts, log } = this;
    this.#scope = new DisposerStack((error) => dependencies.onFault(sessionId, 'dispose', error));
    const { pipeline, backlogSecondsMax } = pipelineOf(opening, dependencies);
    this.pipeline = pipeline;
    this.#scope.defer(() => pipeline.dispose());
    const outbox = outboxOf(opening, line, dependencies, log, signals);
    const events = new EventWriter(opening, outbox, totals);
    const usage = new Usage(request.sampleRate, opening.meter.members, clock);
    const account = new AudioAccount(pipeline, usage, request.sampleRate);
    const continuesCheaper = () => this.#cheaper.starved();
    const redactions = () => this.#texts?.redactions;
    const paid = { pipeline, usage, events, signals, continuesCheaper, redactions };
    const spending = new Spending(opening.meter, request.sampleRate, paid);
    this.outbox = outbox;
    this.#configureTexts(request);
    this.#events = events;
    this.#usage = usage;
    this.#account = account;
    this.#spending = spending;
    const intake = new AudioIntake(opening, dependencies, { pipeline, backlogSecondsMax, events, charts, signals });
    const delays = new SessionDelays(clock, request.sampleRate);
    const empties = new EmptyTurns({
      isAskedFor: settings.hearEmptyAgain === 'on',
      pipeline,
      hasNext: () => this.recovery.hasNext,
      fail: (failure) => this.leg.fail(failure),
      events,
    });
    this.turns = new Turns({
      request,
      pipeline,
      account,
      chart: charts.turn,
      events,
      outbox,
      totals,
      empties,
      delays,
      log,
    });
    const legParts = { pipeline, charts, turns: this.turns, spending, delays, log, account, events, signals };
    this.leg = new CurrentLeg(opening, dependencies, legParts);
    this.#scope.defer(() => this.leg.dispose());
    this.recovery = new Recovery(opening, dependencies, { charts, leg: this.leg, pipeline, account, events });
    this.#scope.defer(() => this.recovery.end());
    const { leg, recovery, turns } = this;
    this.#return = new PrimaryReturn(opening, dependencies, { charts, leg, recovery, turns, pipeline, events });
    this.#standby = new Standby(opening, dependencies, { charts, leg, pipeline });
    this.#cheaper = new CheaperModel(opening, dependencies, { charts, leg, recovery, turns, spending, events });
    this.#scope.defer(() => this.#stopSpares());
    const ended = { pipeline, turns, events, outbox, account, spending, log };
    this.ending = new SessionEnding(opening, dependencies, { scope: this.#scope, ...ended });
    this.#keepReady(opening.chain);
    const keepModelsReady = (chain: readonly ResolvedCandidate[]) => this.#keepReady(chain);
    const configureTexts = (changed: ListenRequest) => this.#configureTexts(changed);
    const chainBegins = (index: number, isInPlace: boolean) => this.#chainBegins(index, isInPlace);
    const standbyChanged = () => this.#standby.changed();
    const ofChain = { keepModelsReady, chainBegins, standbyChanged };
    const changing = { charts, recovery, leg, events, spending, pipeline, signals, configureTexts, ...ofChain };
    this.#reconfiguration = new Reconfiguration(opening, dependencies, changing);
    this.#scope.defer(() => this.#reconfiguration.stop());
    this.#outcomes = new LegOutcomes({ pipeline, charts, turns, account, events, recovery, leg, signals });
    this.#idle = new IdleTimer(clock, settings.idleMs, () => charts.tell({ type: 'session.idle' }));
    this.#suspension = new Suspension(clock, suspendMsOf(request, settings), { pipeline, charts, turns });
    const waits = { suspension: this.#suspension, idle: this.#idle };
    this.#incoming = new IncomingAudio({ pipeline, intake, delays, pump: leg.pump, signals, ...waits });
    this.#scope.defer(() => this.#incoming.stop());
  }

  /** From here on. A session whose texts were changed once goes on as one. */
  #configureTexts(request: ListenRequest): void {
    if (this.#texts === undefined && leavesTexts(request)) return;
    if (this.#texts === undefined) {
      const { clock, totals, analyzer } = this.#dependencies;
      const { outbox, log } = this;
      const { organisationId } = this.opening;
      const onFault = (error: unknown) => this.fault('texts', error);
      const texts = new SessionTexts({ outbox, log, clock, totals, analyzer, organisationId, onFault });
      this.#texts = texts;
      outbox.texts = texts;
      this.#scope.defer(() => texts.stop());
    }
    this.#texts.configure(request);
  }

  #chainBegins(index: number, isInPlace: boolean): void {
    this.#return.configured(index, isInPlace);
    this.#standby.configured(index, isInPlace);
  }

  #stopSpares(): void {
    this.#standby.stop();
    this.#return.stop();
  }

  #keepReady(chain: readonly ResolvedCandidate[]): void {
    const release = this.#dependencies.keepReady?.(chain);
    if (release !== undefined) this.#scope.defer(release);
  }

  /** Starts the session: tells the client, and dials the first leg. */
  start(machine: typeof sessionMachine): void {
    const { settings, clock, onState } = this.#dependencies;
    this.#events.started(settings);
    this.#spending.start();
    const timings = timingsOf(this.opening, this.#dependencies);
    this.charts.turn.start(clock, formattedWaitMsOf(timings), {
      deliverFinal: () => this.turns.deliver(),
      tellSettled: () => this.turnSettled(),
      fault: (action, error) => this.fault(action, error),
    });
    this.charts.start(machine, chartInputOf(this.opening, settings, timings, this.recovery.first()), clock, {
      changed: (snapshot) => {
        if (this.#scope.disposed) return;
        onState(this.opening.sessionId, snapshot.value);
        this.log.moved(snapshot.value);
      },
      ended: (end) => {
        this.#incoming.takeWaiting();
        this.ending.end(end);
      },
      failed: (error) => this.fault('chart', error),
    });
    this.#scope.defer(() => this.charts.stop());
  }

  /** Audio bytes, valid during the call. */
  audio(bytes: Uint8Array): void {
    this.#incoming.take(bytes);
  }

  /** A decoded text frame. */
  control(message: ClientMessage): void {
    if (this.#scope.disposed) return;
    this.#idle.touch();
    if (message.type === 'close') this.charts.tell({ type: 'client.close' });
    else if (message.type === 'finalize') {
      this.#texts?.hurry();
      this.leg.pump.finalize();
    } else if (message.type === 'configure') this.#reconfiguration.ask(message);
  }

  /** A text frame that is not a message of ours: the session continues. */
  misunderstood(message: string, param?: string): void {
    if (!this.#scope.disposed) this.#events.error('invalid_request', message, param === undefined ? {} : { param });
  }

  /** Tells the client how many bytes of its audio were taken since the session began. */
  received(bytes: number): void {
    if (!this.#scope.disposed) this.#events.received(bytes);
  }

  /** Ends the session at once: for a fault of the client, or because nothing more may be done for it. */
  abort(code: AbortCode, message: string): void {
    this.charts.tell({ type: 'session.abort', reason: 'error', error: { code, message } });
  }

  /** Ends the session in order, after its last final. */
  stop(reason: SessionEndReason, code: OrderlyCode, message: string): void {
    this.charts.tell({ type: 'session.stop', reason, error: { code, message } });
  }

  /** Tells a simulated provider to fail. Gives whether it is one that hears the session now. */
  breakProvider(fault: DemandedFault): boolean {
    return this.leg.channel.breakDown(fault);
  }

  /** The socket has room again. */
  drained(): void {
    this.outbox.drained();
  }

  /** The socket is gone. What was taken is still finished and counted. */
  gone(): void {
    this.outbox.abandon();
    this.charts.tell({ type: 'client.gone' });
  }

  /** The node is going away. */
  drain(): void {
    this.charts.tell({ type: 'node.drain' });
  }

  /** Audio and money so far. */
  get figures(): SessionFigures {
    return this.#spending.figures();
  }

  // What the charts ask for, where it is more than one part's.

  closeLeg(): void {
    this.#suspension.stop();
    this.leg.close();
    this.#reconfiguration.answered(false);
    this.#usage.connections.closed();
    this.#spending.legEnded();
    this.turns.discard();
  }

  /** What was sent was heard to its end, and nothing waits. */
  rest(): void {
    this.log.legs.suspended();
    this.#events.rested();
    this.#stopSpares();
    this.log.mark('suspended', 'no audio comes');
    this.#isSuspended = true;
    if (!this.#outcomes.rested()) this.#suspension.rest();
  }

  openGate(index: number, attempts: number): void {
    const { slug } = this.opening.chain[index] as ResolvedCandidate;
    const { replaySamples, lost, originSample } = this.leg.openGate();
    if (this.#isSuspended) this.log.mark('resumed', 'audio comes again', { model: slug });
    this.#isSuspended = false;
    this.turns.beginLeg(slug, this.pipeline.legTimeline);
    this.#usage.passedOver(lost?.from ?? this.pipeline.coveredSamples);
    if (lost !== undefined) {
      this.#usage.skip(lost.to);
      this.#events.lost(lost.from, lost.to, 'replay_exceeded');
    }
    this.#account.isLegGood = true;
    this.#suspension.begin();
    this.#spending.heardBy(index);
    this.#return.heardBy(index);
    this.#standby.heardBy(index);
    this.#events.switched(index, attempts, replaySamples, originSample);
    this.leg.pump.flush();
  }

  /** At the end of the session a leg that is alive is given time; one that is released for want of audio is heard again at once. */
  finishLeg(): void {
    this.#outcomes.finishing();
    this.leg.finish(this.pipeline.ended ? this.#dependencies.settings.closeMs : undefined);
  }

  endAudio(): void {
    this.#idle.stop();
    this.#stopSpares();
    this.#incoming.takeWaiting();
    this.pipeline.end();
    // Where every sample has its final, no leg is needed any more.
    if (this.charts.unlinked && this.#outcomes.settle()) return;
    this.#suspension.audio();
    this.leg.pump.flush();
  }

  turnSettled(): void {
    this.recovery.held();
    this.charts.tellIfAwaited({ type: 'turn.settled' });
    this.#cheaper.turnSettled();
    this.#return.turnSettled();
  }

  announceDrain(): void {
    this.#events.draining(this.#dependencies.settings.drainMs);
    this.settleBetweenTurns();
  }

  /** Between two turns there is no boundary to wait for. */
  settleBetweenTurns(): void {
    if (!this.turns.open && this.pipeline.lastSpeechSample(this.pipeline.coveredSamples) === undefined)
      this.charts.tell({ type: 'turn.settled' });
  }

  /** The node goes, and waits no longer: what was not said stays unsaid, and is named. */
  cutOff(): void {
    this.charts.tell({ type: 'session.abort', ...ends.drained });
    this.ending.end(ends.drained);
  }

  fault(name: string, error: unknown): void {
    this.ending.fault(name, error);
  }
}
