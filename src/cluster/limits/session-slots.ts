// Session slots of this node, of limits on concurrent sessions: asks the counting node before each session begins. While that does not answer, this node admits sessions up to its share of the limit, and sends a full report afterwards.
import type { Clock } from '../../../machines/clock.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import { type Address, type Bus, BusError, type Detach } from '../bus/bus.ts';
import { SESSION_SLOTS, SLOTS_ROLL_CALL } from '../bus/subjects.ts';
import type { LimitsMessages, SlotsAnswer, SlotsOfKey, SlotsQuestion } from './messages.ts';

/** Timeout of a handshake's question. */
const ANSWER_MS = 1_000;
/** After a timeout, do not ask again for this long; shorter after "no responders". */
const PAUSE_MS = 2_000;
const PAUSE_MS_NOBODY = 500;
const AGAIN_MS = 500;
const AGAIN_MS_MAX = 10_000;
/** Tries when the counting node begins again meanwhile. */
const TRIES_MAX = 3;
/** Places in one message: some tens of thousands of bytes. */
const TOLD_MAX = 5_000;
/** Keys in one message of new places. */
const ADDED_MAX = 400;
/** An id takes about as much space as this many numbers. */
const ROOM_OF_ID = 10;

export interface SlotRequest {
  keyId: string;
  organisationId: string;
  keyMax: number;
  /** Null without a limit. */
  organisationMax: number | null;
}

/** `isShare`: the counting node could not be asked, so this node's share was applied. `leave` may be called twice. */
export type SlotTaken = { leave(): void } | { full: 'key' | 'organisation'; max: number; isShare: boolean };

interface SessionSlotsOptions {
  bus: Pick<Bus, 'node' | 'address' | 'request' | 'subscribe' | 'onConnection'>;
  clock: Clock;
  messages: LimitsMessages;
  share: LimitShare;
  /** Whether the counting node is known not to answer: it is not asked then. */
  isCounterAway?: (() => boolean) | undefined;
}

type Place = Pick<SlotRequest, 'keyId' | 'organisationId'>;
type Say = SlotsQuestion extends infer Each ? (Each extends unknown ? Omit<Each, 'node' | 'sync'> : never) : never;

export class SessionSlots {
  /** Sessions that were admitted without the counting node. */
  trusted = 0;
  readonly #options: SessionSlotsOptions;
  readonly #from: Address;
  readonly #detach: Detach[];
  readonly #places = new Map<number, Place>();
  readonly #keys = new Quota();
  readonly #organisations = new Quota();
  #lastPlace = 0;
  #sync = 0;
  /** Resolves with whether the counting node knows all places of this node; undefined while no report was sent. */
  #told: Promise<boolean> | undefined;
  #adding: number[] = [];
  #leaving: number[] = [];
  #isTelling = false;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #timer: unknown;
  #closed = false;

  constructor(options: SessionSlotsOptions) {
    const { bus } = options;
    this.#options = options;
    this.#from = bus.address('limits');
    const tellAll = () => {
      this.#told = undefined;
      this.#pausedUntilMs = Number.NEGATIVE_INFINITY;
      void this.#ready();
    };
    this.#detach = [
      bus.subscribe(SLOTS_ROLL_CALL, tellAll),
      bus.onConnection((isConnected) => {
        if (isConnected) tellAll();
      }),
    ];
  }

  /** Sessions of this node that are counted. */
  get size(): number {
    return this.#places.size;
  }

  async take(request: SlotRequest): Promise<SlotTaken> {
    this.#options.share.look();
    // The own sessions are known here; if they alone reach the limit, it is full.
    const full = this.#fullAt(request, (max) => max);
    if (full !== undefined) return { ...full, isShare: false };
    const place = ++this.#lastPlace;
    const answer = await this.#askFor(place, request);
    if (answer === 'done') return this.#leaver(place);
    if (answer === 'full:key' || answer === 'full:organisation') {
      const isOfKey = answer === 'full:key';
      const max = isOfKey ? request.keyMax : (request.organisationMax ?? 0);
      return { full: isOfKey ? 'key' : 'organisation', max, isShare: false };
    }
    return this.#trust(place, request);
  }

  close(): void {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
    for (const detach of this.#detach) detach();
  }

  /** Asks under the current report; an answer under an older one may not be counted any more. */
  async #askFor(place: number, request: SlotRequest): Promise<SlotsAnswer | undefined> {
    const { keyId, organisationId, keyMax, organisationMax } = request;
    for (let tries = 1; tries <= TRIES_MAX && (await this.#ready()); tries++) {
      const sync = this.#sync;
      const answer = await this.#ask({ op: 'take', place, keyId, organisationId, keyMax, organisationMax });
      if (answer === undefined) return undefined;
      if (answer === 'unknown' && sync === this.#sync) this.#told = undefined;
      else if (sync === this.#sync) {
        // Add it at once, so that a full report that begins now includes it.
        if (answer === 'done') this.#keep(place, request);
        return answer;
      }
    }
    return undefined;
  }

  /** The counting node could not be asked: apply the share. */
  #trust(place: number, request: SlotRequest): SlotTaken {
    const full = this.#fullAt(request, (max) => this.#options.share.of(max));
    if (full !== undefined) return { ...full, isShare: true };
    this.trusted++;
    this.#keep(place, request);
    this.#adding.push(place);
    void this.#tell();
    return this.#leaver(place);
  }

  #fullAt({ keyId, organisationId, keyMax, organisationMax }: SlotRequest, most: (max: number) => number) {
    const ofKey = most(keyMax);
    if (this.#keys.shortage(keyId, 1, ofKey)) return { full: 'key' as const, max: ofKey };
    if (organisationMax === null) return undefined;
    const ofAll = most(organisationMax);
    const isFull = this.#organisations.shortage(organisationId, 1, ofAll) !== undefined;
    return isFull ? { full: 'organisation' as const, max: ofAll } : undefined;
  }

  #keep(place: number, { keyId, organisationId }: SlotRequest): void {
    this.#places.set(place, { keyId, organisationId });
    this.#count({ keyId, organisationId }, 1);
  }

  #leaver(place: number): SlotTaken {
    return {
      leave: () => {
        const known = this.#places.get(place);
        if (known === undefined) return;
        this.#places.delete(place);
        this.#count(known, -1);
        this.#leaving.push(place);
        void this.#tell();
      },
    };
  }

  #count({ keyId, organisationId }: Place, by: number): void {
    this.#keys.count(keyId, by);
    this.#organisations.count(organisationId, by);
  }

  /** Whether the counting node knows all places; sends a full report if it does not. */
  #ready(): Promise<boolean> {
    const { clock, isCounterAway } = this.#options;
    if (this.#closed || clock.now() < this.#pausedUntilMs) return Promise.resolve(false);
    if (isCounterAway?.()) {
      this.#told = undefined;
      this.#again();
      return Promise.resolve(false);
    }
    if (this.#told === undefined) {
      const telling = this.#tellAll();
      this.#told = telling;
      void telling.then((isTold) => {
        if (!isTold && this.#told === telling) this.#told = undefined;
      });
    }
    return this.#told;
  }

  async #tellAll(): Promise<boolean> {
    const sync = ++this.#sync;
    this.#adding = [];
    this.#leaving = [];
    const parts = partsOf(this.#places);
    for (const [index, places] of parts.entries()) {
      const answer = await this.#ask({ op: 'all', isFirst: index === 0, places });
      // A newer report began meanwhile and includes the rest.
      if (sync !== this.#sync) return (await this.#told) ?? false;
      if (answer !== 'done') {
        this.#again();
        return false;
      }
    }
    this.#failures = 0;
    void this.#tell();
    return true;
  }

  /** Sends changes since the full report. Changes that happen meanwhile go with the next message. */
  async #tell(): Promise<void> {
    if (this.#isTelling || this.#told === undefined) return;
    this.#isTelling = true;
    try {
      while (this.#adding.length + this.#leaving.length > 0 && (await this.#ready())) {
        const sync = this.#sync;
        const answer = await this.#ask(this.#changes());
        if (answer === undefined || answer === 'done' || sync !== this.#sync) continue;
        // Another node counts now and needs a full report.
        this.#told = undefined;
        await this.#ready();
      }
    } finally {
      this.#isTelling = false;
    }
  }

  #changes(): Say {
    const added = new Map(this.#adding.splice(0, ADDED_MAX).flatMap((each) => this.#entryOf(each)));
    const [places] = partsOf(added);
    if (added.size > 0 && places !== undefined) return { op: 'all', isFirst: false, places };
    return { op: 'leave', places: this.#leaving.splice(0, TOLD_MAX) };
  }

  #entryOf(place: number): [number, Place][] {
    const known = this.#places.get(place);
    return known === undefined ? [] : [[place, known]];
  }

  /**
   * Undefined when there was no answer; the report is then sent again later, so that the other nodes' limits include these
   * sessions.
   */
  async #ask(say: Say): Promise<SlotsAnswer | undefined> {
    const { bus, clock, messages } = this.#options;
    const body = messages.question({ node: bus.node, sync: this.#sync, ...say });
    try {
      const answer = messages.readAnswer(await bus.request(SESSION_SLOTS, this.#from, body, ANSWER_MS));
      if (answer !== undefined) return answer;
    } catch (error) {
      const isLate = error instanceof BusError && error.reason === 'timeout';
      this.#pausedUntilMs = clock.now() + (isLate ? PAUSE_MS : PAUSE_MS_NOBODY);
    }
    this.#told = undefined;
    this.#again();
    return undefined;
  }

  #again(): void {
    const { clock } = this.#options;
    if (this.#timer !== undefined || this.#closed) return;
    const afterMs = Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** Math.min(10, this.#failures++));
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      if (clock.now() < this.#pausedUntilMs) this.#again();
      else void this.#ready();
    }, afterMs);
  }
}

/** Splits into messages of bounded size; at least one. */
function partsOf(places: ReadonlyMap<number, Place>): SlotsOfKey[][] {
  const byKey = new Map<string, { organisationId: string; places: number[] }>();
  for (const [place, { keyId, organisationId }] of places) {
    const known = byKey.get(keyId);
    if (known === undefined) byKey.set(keyId, { organisationId, places: [place] });
    else known.places.push(place);
  }
  const parts: SlotsOfKey[][] = [[]];
  let count = 0;
  for (const [keyId, { organisationId, places: all }] of byKey) {
    for (let at = 0; at < all.length; at += TOLD_MAX) {
      const some = all.slice(at, at + TOLD_MAX);
      const room = some.length + ROOM_OF_ID;
      if (count > 0 && count + room > TOLD_MAX) {
        parts.push([]);
        count = 0;
      }
      parts.at(-1)?.push([keyId, organisationId, some]);
      count += room;
    }
  }
  return parts;
}

/** A node that was silent for this long, while others could be heard, does not count any more. */
const SHRINK_MS = 30_000;

interface LimitShareOptions {
  clock: Pick<Clock, 'now'>;
  bus: { readonly isConnected: boolean };
  /** Nodes that serve clients and are heard of now, this one included. */
  edges(): number;
}

/**
 * The share of a limit that this node applies alone while it cannot reach the others: the limit divided by the nodes that served
 * clients when they were last heard.
 */
export class LimitShare {
  readonly #options: LimitShareOptions;
  #known = 1;
  #fewerSinceMs: number | undefined;

  constructor(options: LimitShareOptions) {
    this.#options = options;
  }

  /**
   * At least one. While the bus is down no node is heard, so the number only shrinks after it is certain. Call it when a node
   * comes or goes, and before each use.
   */
  look(): number {
    const { clock, bus, edges } = this.#options;
    const heard = edges();
    if (heard >= this.#known) this.#known = heard;
    if (heard >= this.#known || !bus.isConnected) {
      this.#fewerSinceMs = undefined;
      return this.#known;
    }
    this.#fewerSinceMs ??= clock.now();
    if (clock.now() - this.#fewerSinceMs >= SHRINK_MS) {
      this.#known = Math.max(1, heard);
      this.#fewerSinceMs = undefined;
    }
    return this.#known;
  }

  /** At least one. */
  of(max: number): number {
    return Math.max(1, Math.floor(max / this.look()));
  }
}
