// Asks for a leg, on this node or another: the node that is best placed, and the next one where that has no room; waits while the
// bus is away, asks again while no node answers, and closes a leg that was opened too late. What comes of a leg that is open is
// not known here. The failures of legs that are the bus's are here as well.
import type { Clock } from '../../../../machines/clock.ts';
import type { LegFailure, LegRefused, OpenLeg } from '../../../../machines/events.ts';
import { type Address, type Bus, type BusBody, BusError, type Detach } from '../../../cluster/bus/bus.ts';
import { OPEN_LEG } from '../../../cluster/bus/subjects.ts';
import type { Placement, PlacementRequest } from '../../../cluster/placement.ts';
import type { ResolvedCandidate } from '../../failover/chain.ts';
import { isLegOpened, isLegRefused } from '../../upstream/service/leg-messages.ts';
import { speechGateOf } from '../../upstream/voice-ranges.ts';
import type { SessionOpening } from '../session-opening.ts';

/** A node answers at once: it opens the leg, and tells later what came of it. */
const ANSWER_MS = 1_000;
/** Pauses between two questions while no node answers any, and how long that may last. */
const PAUSE_MS = { first: 100, max: 1_000 };
const NOBODY_MS_MAX = 15_000;

export const unopened: LegFailure = {
  kind: 'next',
  reason: 'connect_failed',
  code: 'no_upstream_node',
  message: 'No node could open a connection to the provider.',
  own: true,
};

/** Nothing that the provider did: the session's charts forgive it. */
const inside = (code: string, message: string): LegFailure => ({
  kind: 'retry',
  reason: 'upstream_error',
  code,
  message,
  own: true,
});

export const lostReport = inside('report_lost', 'A message of the provider was lost inside the gateway.');
/** The leg is on another node, and was lost on the way there: that node, the bus, or a message. */
export const legLost = inside('leg_lost', 'The node with the connection to the provider was lost.');
/** The leg said nothing for too long, not even that it is there. */
export const legSilent = inside('leg_silent', 'The node with the connection to the provider does not answer.');

/** No node opened the leg: none is there, or none has room for it. */
export class LegUnplaced extends Error {
  override readonly name = 'LegUnplaced';
}

/**
 * How far a session is with finding a node for its leg: it waits for its turn to dial the model, asks a node, waits for the bus or for a
 * node that has room, or has one.
 */
export type PlacingState = 'none' | 'queued' | 'asking' | 'waiting_for_bus' | 'waiting_for_node' | 'placed';

export interface LegDialerCalls {
  stands(state: PlacingState): void;
  /** A node has opened the leg; its reports may have come before. */
  opened(leg: Address): void;
  failed(failure: LegFailure, error: unknown): void;
}

export interface LegDialerOptions {
  bus: Bus;
  clock: Clock;
  request: OpenLeg;
  placementRequest: PlacementRequest;
  /** Absent: any node that answers is asked. */
  placement: Pick<Placement, 'choose' | 'missed'> | undefined;
}

export class LegDialer {
  readonly #options: LegDialerOptions;
  readonly #calls: LegDialerCalls;
  #stopped = false;
  #pauseMs = PAUSE_MS.first;
  /** Since when no node has answered, though the bus was connected. */
  #nobodySinceMs: number | undefined;
  /** Those that were asked in this round, and have no room or do not offer it. */
  #passed: Set<string>;
  /** A node has failed to open it. */
  #fault: unknown;
  /** Why a node would not open it. */
  #refusal: Error | undefined;
  #timer: unknown;
  #unlisten: Detach | undefined;

  constructor(options: LegDialerOptions, calls: LegDialerCalls) {
    this.#options = options;
    this.#calls = calls;
    this.#passed = new Set(options.placementRequest.except);
    this.#ask();
  }

  /** The leg is not wanted any more: one that is opened anyway is closed at once. */
  stop(): void {
    this.#stopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#unlisten?.();
    this.#unlisten = undefined;
  }

  #ask(): void {
    this.#calls.stands('asking');
    const { bus, request, placementRequest, placement } = this.#options;
    const session = request.session as Address;
    const choice = placement?.choose({ ...placementRequest, except: this.#passed }) ?? 'anybody';
    if (choice === 'nobody') {
      // Later: who asks for a leg is in the middle of something.
      queueMicrotask(() => this.#nobodyCan());
      return;
    }
    const node = choice === 'anybody' ? undefined : choice.node;
    const { isConnected } = bus;
    const asked =
      node === undefined
        ? bus.request(OPEN_LEG, session, request, ANSWER_MS)
        : bus.requestOf(node, OPEN_LEG, session, request, ANSWER_MS);
    asked.then(
      (answer) => this.#answered(answer, node),
      (error: unknown) => {
        if (!this.#stopped) this.#refused(error, isConnected, node);
      },
    );
  }

  #answered(answer: BusBody, node: string | undefined): void {
    const { bus, request } = this.#options;
    if (isLegOpened(answer)) {
      const leg = answer.leg as Address;
      // Let go of while it was opened: it may never say anything that it could be told so for.
      if (this.#stopped) bus.send(leg, request.session as Address, { type: 'leg.close' });
      else this.#calls.opened(leg);
      return;
    }
    if (this.#stopped) return;
    if (isLegRefused(answer)) {
      this.#refusal = refusedWith(answer, request);
      this.#passOver(node, this.#refusal);
    } else this.#calls.failed(unopened, new Error(`A leg was asked for, and "${answer.type}" came.`));
  }

  #refused(error: unknown, wasConnected: boolean, node: string | undefined): void {
    const reason = error instanceof BusError ? error.reason : undefined;
    const hasFailed = reason === undefined || reason === 'handler_failed';
    if (node !== undefined && !hasFailed && reason !== 'unknown_actor') this.#options.placement?.missed(node);
    if (reason === 'disconnected' && !wasConnected) this.#waitForBus();
    else if (reason === 'unknown_node') this.#waitForNode(error);
    else if (reason === 'unknown_actor') this.#passOver(node, error);
    else if (hasFailed && node === undefined) this.#calls.failed(unopened, error);
    else if (hasFailed) {
      this.#fault = error;
      this.#passOver(node, error);
    }
    // Without an answer a leg may be open anyway: the next attempt has a generation of its own.
    else this.#calls.failed(legLost, error);
  }

  /** Another node is asked at once. */
  #passOver(node: string | undefined, error: unknown): void {
    if (node === undefined) {
      this.#waitForNode(error);
      return;
    }
    this.#passed.add(node);
    this.#ask();
  }

  #nobodyCan(): void {
    if (this.#stopped) return;
    const { except } = this.#options.placementRequest;
    const error = this.#fault ?? this.#refusal ?? new LegUnplaced('No node of this gateway can open the leg now.');
    this.#passed = new Set(except);
    // Who has tried a node before knows of a failure that says more.
    if (this.#fault !== undefined || except.size > 0) this.#calls.failed(unopened, error);
    else this.#waitForNode(error);
  }

  /** Nothing has left this node: the client's audio waits, and the session's own limits continue. */
  #waitForBus(): void {
    this.#calls.stands('waiting_for_bus');
    this.#nobodySinceMs = undefined;
    this.#pauseMs = PAUSE_MS.first;
    const { bus } = this.#options;
    if (bus.isConnected) {
      this.#askAfter(PAUSE_MS.first);
      return;
    }
    this.#unlisten = bus.onConnection((isConnected) => {
      if (!isConnected || this.#unlisten === undefined) return;
      this.#unlisten();
      this.#unlisten = undefined;
      this.#ask();
    });
  }

  #waitForNode(error: unknown): void {
    const now = this.#options.clock.now();
    this.#nobodySinceMs ??= now;
    if (now - this.#nobodySinceMs >= NOBODY_MS_MAX) {
      this.#calls.failed(unopened, error);
      return;
    }
    this.#calls.stands('waiting_for_node');
    this.#askAfter(this.#pauseMs);
    this.#pauseMs = Math.min(PAUSE_MS.max, this.#pauseMs * 2);
  }

  #askAfter(ms: number): void {
    this.#timer = this.#options.clock.setTimeout(() => this.#ask(), ms);
  }
}

const refusedWith = ({ shortOf }: LegRefused, { slug }: OpenLeg): Error =>
  new LegUnplaced(
    shortOf === 'model' ? `The node does not know the model ${slug}.` : 'The node has no room for a leg.',
  );

/** The request for a leg, as it is sent over the bus. */
export function openLegOf(
  { request, sessionId, organisationId }: SessionOpening,
  member: ResolvedCandidate,
  session: Address,
  generation: number,
  isWatched: boolean,
): OpenLeg {
  const gate = speechGateOf(request.speechGate, member.card);
  return {
    type: 'leg.open',
    session,
    sessionId,
    generation,
    slug: member.slug,
    sampleRate: member.sampleRate,
    language: member.language ?? null,
    // Also for a client that wants none: a leg that hears a long turn shows by them that it is alive.
    interimResults: true,
    diarization: member.diarization,
    params: { ...member.params },
    credentialId: member.credentialId,
    organisationId,
    ...(request.turnEvents ? { turnEvents: true } : {}),
    ...(gate === 'off' ? {} : { speechGate: gate }),
    ...(member.rule === undefined ? {} : { rule: member.rule }),
    ...(isWatched ? { watched: true } : {}),
  };
}
