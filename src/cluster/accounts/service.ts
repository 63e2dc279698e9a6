// Answers the calls of other nodes on the node that keeps the accounts: opens each request, runs it once, seals the answer. The
// call's group decides what may be asked.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../machines/clock.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import type { LedgerIdentity } from '../../store/identity.ts';
import type { Answering } from '../../store/operation.ts';
import type { Address, Bus, BusBody } from '../bus/bus.ts';
import { accountsService } from '../bus/subjects.ts';
import { announceOwner } from './announcements.ts';
import {
  type AskBody,
  type AskContent,
  accountsKey,
  type Bound,
  FIRST_SHARD,
  type Outcome,
  openContent,
  outcomeOfError,
  partsOf,
  type RestBody,
  readContent,
  readRequest,
  type SaidBody,
  sealContent,
} from './protocol.ts';

const CALLS_MAX = 512;
/** Calls that are remembered under one epoch; then a new epoch begins, and the previous one is still checked for repeats. */
const IDS_MAX = 50_000;
/** Bounds of the kept parts: of requests, and of answers, each. */
const PARTS_BOUNDS = { lengthMax: 32 * 1024 * 1024, keptMs: 30_000 };

/** Why a request was not run. */
type RefusedAsk = 'malformed' | 'unread' | 'replayed' | 'overflow' | 'epoch' | 'late';

export interface AccountsServiceOptions {
  bus: Bus;
  secret: Uint8Array;
  previousSecret?: Uint8Array | undefined;
  /** The fencing token of the lease: grows each time that the accounts change hands. */
  revision: number;
  /** The identity of this ledger. It is sent with each epoch, and every request and answer is bound to the epoch. */
  ledger?: LedgerIdentity;
  /** By the name of the group: `store`, `vault`, … */
  groups: ReadonlyMap<string, Answering>;
  shard?: string;
  /** The service that it answers to. When absent, that of the shard for nodes, and every node hears that this one begins. */
  service?: string;
  /** Whether this node still holds the lease; without it no call is run. Always true when absent. */
  isOwner?: () => boolean;
  clock?: Clock;
  /** Calls that run at the same time; a further one is answered `overflow`. 512 when absent. */
  callsMax?: number;
  /** Calls that are remembered under one epoch; 50 000 when absent. */
  idsMax?: number;
  /** Reports an error of a group that is neither a StoreError nor an ApiError. */
  onFault(call: string, error: unknown): void;
  onRefused?(reason: RefusedAsk): void;
}

export interface AccountsService {
  /** Calls that are running. */
  readonly running: number;
  /** Characters of incomplete requests and of answers whose parts were not fetched yet. */
  readonly waitingLength: number;
  /** Accepts no more requests. Resolves when the accepted ones are answered. */
  stop(): Promise<void>;
}

/** Begins to answer, and announces it to every node. */
export function serveAccounts(options: AccountsServiceOptions): AccountsService {
  const { bus, revision, shard = FIRST_SHARD } = options;
  const service = new Service(options);
  const detach = bus.serve(options.service ?? accountsService(shard), (body, from) => service.answer(body, from));
  const stopAnnouncing =
    options.service === undefined
      ? announceOwner({ bus, clock: options.clock ?? backgroundClock, shard, revision })
      : () => {};
  return {
    get running() {
      return service.running;
    },
    get waitingLength() {
      return service.waitingLength;
    },
    stop() {
      stopAnnouncing();
      detach();
      return service.idle();
    },
  };
}

class Service {
  readonly #options: AccountsServiceOptions;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #keys: readonly Uint8Array[];
  readonly #owner: string;
  #turn = 0;
  /** Calls that were accepted under this epoch and the previous one. */
  #ids = new Set<string>();
  #idsBefore = new Set<string>();
  readonly #running = new Map<string, Promise<SaidBody>>();
  readonly #incoming: MessageParts<string[]>;
  readonly #outgoing: MessageParts<readonly string[]>;

  constructor(options: AccountsServiceOptions) {
    this.#options = options;
    const { secret, previousSecret, revision, clock = backgroundClock } = options;
    this.#clock = clock;
    this.#keys = [secret, ...(previousSecret === undefined ? [] : [previousSecret])].map(accountsKey);
    this.#owner = `${revision}.${randomBytes(6).toString('base64url')}`;
    this.#incoming = new MessageParts({ clock: this.#clock, ...PARTS_BOUNDS });
    this.#outgoing = new MessageParts({ clock: this.#clock, ...PARTS_BOUNDS });
  }

  get running(): number {
    return this.#running.size;
  }

  get waitingLength(): number {
    return this.#incoming.length + this.#outgoing.length;
  }

  get #epoch(): string {
    return `${this.#owner}.${this.#turn}`;
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  async answer(body: BusBody, from: Address): Promise<SaidBody> {
    const request = readRequest(body);
    if (request === undefined) return this.#refuse('malformed');
    const asker = from.slice(0, from.indexOf('/'));
    return request.type === 'accounts.rest' ? this.#rest(request, asker) : this.#ask(request, asker);
  }

  async #ask(request: AskBody, asker: string): Promise<SaidBody> {
    const { id, epoch } = request;
    const sealed = this.#collected(request, asker);
    if (sealed === undefined) return said('accounts.more');
    const bound: Bound = { id, asker, epoch };
    for (const key of this.#keys) {
      const found = openContent(key, 'ask', bound, sealed);
      if (found !== undefined) return this.#take(key, bound, found.content);
    }
    return this.#refuse('unread');
  }

  /** The complete request; undefined while parts are missing. A part out of order is not kept. */
  #collected({ id, part, parts, sealed }: AskBody, asker: string): string | undefined {
    if (parts === 1) return sealed;
    const name = `${asker} ${id}`;
    const before = part === 0 ? [] : this.#incoming.get(name);
    if (before?.length !== part) return '';
    const collected = [...before, sealed];
    if (collected.length < parts) {
      this.#incoming.put(
        name,
        collected,
        collected.reduce((length, each) => length + each.length, 0),
      );
      return undefined;
    }
    this.#incoming.take(name);
    return collected.join('');
  }

  /** The request is authentic. If it arrives twice while it runs, it is run once and answered twice. */
  async #take(key: Uint8Array, bound: Bound, content: unknown): Promise<SaidBody> {
    const name = `${bound.asker} ${bound.id}`;
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    if (this.#ids.has(name) || this.#idsBefore.has(name)) return this.#refuse('replayed');
    const clock = () => sealContent(key, 'clock', bound, this.#clock.now());
    if (bound.epoch !== this.#epoch) {
      this.#options.onRefused?.('epoch');
      const { ledger } = this.#options;
      const epoch = {
        ...said('accounts.epoch', sealContent(key, 'epoch', bound, this.#epoch)),
        clock: clock(),
        owner: sealContent(key, 'owner', bound, this.#options.bus.node),
      };
      return ledger === undefined ? epoch : { ...epoch, ledger: sealContent(key, 'ledger', bound, ledger) };
    }
    const asked = readContent(content);
    // This node was frozen, or the request was on its way for long: its caller has given up, and would not know of what was done.
    if (asked?.untilMs !== undefined && asked.untilMs < this.#clock.now()) {
      this.#options.onRefused?.('late');
      return { ...said('accounts.late'), clock: clock() };
    }
    this.#remember(name);
    const work = this.#outcome(asked).then((outcome) => this.#answered(key, bound, outcome));
    this.#running.set(name, work);
    try {
      return await work;
    } finally {
      this.#running.delete(name);
    }
  }

  #remember(name: string): void {
    this.#ids.add(name);
    if (this.#ids.size < (this.#options.idsMax ?? IDS_MAX)) return;
    this.#idsBefore = this.#ids;
    this.#ids = new Set();
    this.#turn++;
  }

  async #outcome(asked: AskContent | undefined): Promise<Outcome> {
    const { callsMax = CALLS_MAX, isOwner = () => true, groups, onFault, onRefused } = this.#options;
    const answering = asked && groups.get(asked.group);
    if (asked === undefined || answering === undefined) {
      return { store: 'invalid', message: 'The node that keeps the accounts knows no such call.' };
    }
    if (!isOwner()) return { store: 'unreachable', message: 'This node keeps the accounts no more.' };
    if (this.#running.size >= callsMax) {
      onRefused?.('overflow');
      return {
        store: 'overflow',
        message: `${callsMax} calls to the accounts are being done already: try again in a moment.`,
      };
    }
    try {
      return { value: await answering(asked) };
    } catch (error) {
      const outcome = outcomeOfError(error);
      if (outcome !== undefined) return outcome;
      onFault(`${asked.group}.${asked.call}`, error);
      return { store: 'failed', message: 'The node that keeps the accounts could not do it.' };
    }
  }

  #answered(key: Uint8Array, bound: Bound, outcome: Outcome): SaidBody {
    try {
      return this.#sealed(key, bound, outcome);
    } catch (error) {
      this.#options.onFault('answer', error);
      return this.#sealed(key, bound, { store: 'failed', message: 'The answer is no plain data.' });
    }
  }

  #sealed(key: Uint8Array, bound: Bound, outcome: Outcome): SaidBody {
    const parts = partsOf(sealContent(key, 'answer', bound, { ...outcome, nowMs: this.#clock.now() }));
    if (parts === undefined) {
      return this.#sealed(key, bound, { store: 'invalid', message: 'The answer is larger than what can be sent.' });
    }
    if (parts.length > 1) {
      const length = parts.reduce((sum, each) => sum + each.length, 0);
      this.#outgoing.put(`${bound.asker} ${bound.id}`, parts, length);
    }
    return said('accounts.answer', parts[0], parts.length);
  }

  #rest({ id, part }: RestBody, asker: string): SaidBody {
    const name = `${asker} ${id}`;
    const parts = this.#outgoing.get(name);
    const sealed = parts?.[part];
    if (parts === undefined || sealed === undefined) return this.#refuse('malformed');
    if (part === parts.length - 1) this.#outgoing.take(name);
    return said('accounts.answer', sealed, parts.length);
  }

  #refuse(reason: RefusedAsk): SaidBody {
    this.#options.onRefused?.(reason);
    return said('accounts.unread');
  }
}

const said = (type: SaidBody['type'], sealed = '', parts = 1): SaidBody => ({ type, parts, sealed });

interface Kept<Value> {
  value: Value;
  length: number;
  sinceMs: number;
}

interface MessagePartsOptions {
  clock: Pick<Clock, 'now'>;
  /** Bound of all kept characters. */
  lengthMax: number;
  keptMs: number;
}

/**
 * Keeps parts of long requests and answers until the message is complete or was fetched. Bounded in size and time; the oldest is
 * dropped first.
 */
class MessageParts<Value> {
  readonly #options: MessagePartsOptions;
  /** The oldest first. */
  readonly #kept = new Map<string, Kept<Value>>();
  #length = 0;
  #dropped = 0;

  constructor(options: MessagePartsOptions) {
    this.#options = options;
  }

  /** Characters that are kept. */
  get length(): number {
    return this.#length;
  }

  /** Messages that were dropped before they were complete or fetched. */
  get dropped(): number {
    return this.#dropped;
  }

  get(name: string): Value | undefined {
    return this.#kept.get(name)?.value;
  }

  /** Keeps a value, or replaces it by a longer one. */
  put(name: string, value: Value, length: number): void {
    const { clock, lengthMax, keptMs } = this.#options;
    const nowMs = clock.now();
    const sinceMs = this.#kept.get(name)?.sinceMs ?? nowMs;
    this.take(name);
    this.#kept.set(name, { value, length, sinceMs });
    this.#length += length;
    for (const [oldest, { sinceMs: oldestMs }] of this.#kept) {
      if (this.#length <= lengthMax && nowMs - oldestMs < keptMs) return;
      this.take(oldest);
      this.#dropped++;
    }
  }

  take(name: string): Value | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    this.#kept.delete(name);
    this.#length -= kept.length;
    return kept.value;
  }
}
