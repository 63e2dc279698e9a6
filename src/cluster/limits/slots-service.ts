// Counts the sessions of all nodes by key and organisation, on the node that keeps the accounts. Nodes ask it before each session
// begins.
import type { Clock } from '../../../machines/clock.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import type { Bus } from '../bus/bus.ts';
import { SESSION_SLOTS, SLOTS_ROLL_CALL } from '../bus/subjects.ts';
import type { LimitsMessages, SlotsAnswer, SlotsQuestion } from './messages.ts';

/** Sessions that can be counted; beyond it the nodes apply their shares. */
const PLACES_MAX = 1_000_000;
/** How long a new count waits for the reports of all nodes. */
const COUNTING_MS = 2_000;

interface Place {
  keyId: string;
  organisationId: string;
}

interface Told {
  sync: number;
  places: Map<number, Place>;
}

/** The counter itself. */
class SessionCounter {
  readonly #placesMax: number;
  readonly #nodes = new Map<string, Told>();
  readonly #keys = new Quota();
  readonly #organisations = new Quota();

  constructor(placesMax = PLACES_MAX) {
    this.#placesMax = placesMax;
  }

  /** Sessions of all nodes. */
  get places(): number {
    return this.#keys.used;
  }

  answer(question: SlotsQuestion): SlotsAnswer {
    if (question.op === 'all' && question.isFirst) {
      this.forget(question.node);
      this.#nodes.set(question.node, { sync: question.sync, places: new Map() });
    }
    const told = this.#nodes.get(question.node);
    if (told?.sync !== question.sync) return 'unknown';
    if (question.op === 'take') return this.#take(told, question);
    if (question.op === 'leave') for (const place of question.places) this.#remove(told, place);
    else {
      for (const [keyId, organisationId, places] of question.places) {
        for (const place of places) this.#add(told, place, { keyId, organisationId });
      }
    }
    return 'done';
  }

  /** The node is gone, and its sessions with it. */
  forget(node: string): void {
    const told = this.#nodes.get(node);
    if (told === undefined) return;
    for (const place of [...told.places.keys()]) this.#remove(told, place);
    this.#nodes.delete(node);
  }

  #take(told: Told, question: SlotsQuestion & { op: 'take' }): SlotsAnswer {
    const { place, keyId, organisationId, keyMax, organisationMax } = question;
    // Asked again, because the answer was lost.
    if (told.places.has(place)) return 'done';
    if (this.#keys.shortage(keyId, 1, keyMax)) return 'full:key';
    if (this.#organisations.shortage(organisationId, 1, organisationMax ?? undefined)) return 'full:organisation';
    if (this.places >= this.#placesMax) return 'crowded';
    this.#add(told, place, { keyId, organisationId });
    return 'done';
  }

  #add(told: Told, place: number, { keyId, organisationId }: Place): void {
    if (told.places.has(place)) return;
    told.places.set(place, { keyId, organisationId });
    this.#keys.count(keyId, 1);
    this.#organisations.count(organisationId, 1);
  }

  #remove(told: Told, number: number): void {
    const place = told.places.get(number);
    if (place === undefined) return;
    told.places.delete(number);
    this.#keys.giveBack(place.keyId);
    this.#organisations.giveBack(place.organisationId);
  }
}

interface ServePlacesOptions {
  bus: Pick<Bus, 'serve' | 'publish' | 'isConnected' | 'onConnection'>;
  clock: Clock;
  messages: LimitsMessages;
}

export interface ServedPlaces {
  /** Counted sessions, for the metrics. */
  readonly places: number;
  /** Malformed messages. */
  readonly ignored: number;
  /** Frees the places of a node that is gone. If it comes back, it sends a full report. */
  forget(node: string): void;
  /** A node came, or came back, and may have sessions that are not counted: ask all nodes for a full report. */
  rollCall(): void;
  close(): void;
}

/** Counts for all nodes from now on. Exactly one node does. */
export function serveSlots({ bus, clock, messages }: ServePlacesOptions): ServedPlaces {
  const book = new SessionCounter();
  let ignored = 0;
  let isCounting = true;
  let timer: unknown;
  const rollCall = () => bus.publish(SLOTS_ROLL_CALL, { type: SLOTS_ROLL_CALL });
  /** Until all nodes had time to report, the count is not known. */
  const countAnew = () => {
    isCounting = true;
    clock.clearTimeout(timer);
    timer = clock.setTimeout(() => {
      isCounting = false;
    }, COUNTING_MS);
    rollCall();
  };
  const detach = bus.serve(SESSION_SLOTS, (body) => {
    const question = messages.readQuestion(body);
    if (question === undefined) {
      ignored++;
      throw new Error('The question is not of this gateway.');
    }
    const isUnsure = isCounting || !bus.isConnected;
    return messages.answer(isUnsure && question.op === 'take' ? 'counting' : book.answer(question));
  });
  const detachConnection = bus.onConnection((isConnected) => {
    if (isConnected) countAnew();
  });
  countAnew();
  return {
    get places() {
      return book.places;
    },
    get ignored() {
      return ignored;
    },
    forget: (node) => book.forget(node),
    rollCall,
    close() {
      clock.clearTimeout(timer);
      detachConnection();
      detach();
    },
  };
}
