// One replica of the accounts: follows the log, claims it when its owner has gone, and writes to it as the owner. Nothing is
// applied that the log has not accepted, on the owner too.
import type { Clock } from '../../../machines/clock.ts';
import { textOfPlain } from '../../runtime/plain-data.ts';
import { isSameOutcome, type ReplicaPosition } from '../../store/replica-position.ts';
import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';
import type { Detach } from '../bus/bus.ts';
import { type Follows, hashOfEntry, LogConflict, type LogMessage, type ReplicatedLog } from '../bus/replicated-log.ts';
import { bytesOfTexts, entryOfBytes, type LogCall, type LogEntry, type LogEntryKind } from './entry.ts';
import { LogClock } from './log-clock.ts';
import type { ReplicaStore } from './replica-store.ts';

/** Calls of one entry. */
const CALLS_MAX = 256;
/** Proposals that wait. */
const QUEUE_MAX = 4_096;
/** Bytes of the calls of one entry; with its envelope it stays below the default limit of NATS servers. */
const CALLS_BYTES_MAX = 900 * 1024;
/** Messages that did not count, at most, between two places in the log. */
const REWIND_MARGIN = 64;
/** A replica looks this often whether the owner has gone. */
const LOOK_MS = 250;
/** A timer that is later than this shows that the process was paused. */
const LATE_MS = 500;
/** Before an append whose outcome is not known is sent again. */
const AGAIN_MS = 100;
/** Entries that are written again at most where the log has lost its end: a replica that lacks more begins with a copy. */
const RESTORED_MAX = 1_000;
/** Times that an entry is tried whose database is locked by another process; the database itself waits half a second each time. */
const LOCKED_MAX = 6;
/** An owner that stops waits for the log for this long. */
const RELEASE_MS = 5_000;

export const REPLICA_TIMES = {
  /** An owner without calls writes an entry this often. */
  heartbeatMs: 1_000,
  /** An owner relies on its ownership for this long after it sent an entry that was accepted. */
  sureMs: 2_000,
  /** Without an entry for this long, the owner has gone. */
  takeoverMs: 3_000,
} as const;

export type ReplicaRole = 'following' | 'claiming' | 'owning' | 'ended';

/**
 * - `left`: one node keeps the accounts without the log now
 * - `deposed`: another replica has claimed the log
 * - `diverged`: this database has entries that the log does not have
 * - `different`: the same entries led to another content here
 * - `behind`: the log no longer has the entries that come next
 * - `foreign`: the log is that of another ledger
 * - `version`: an entry needs a newer version of the gateway
 * - `disk`: an entry could not be written: the disk is full, or the disk or the file failed
 * - `locked`: another process kept the database locked
 * - `changed`: another process has applied entries to this database
 */
export type ReplicaEnd =
  | 'left'
  | 'deposed'
  | 'diverged'
  | 'different'
  | 'behind'
  | 'foreign'
  | 'version'
  | 'disk'
  | 'locked'
  | 'changed';

/** Why an entry could not be applied, by the reason of the store. */
const APPLY_ENDS: Partial<Record<StoreErrorReason, ReplicaEnd>> = {
  busy: 'locked',
  conflict: 'changed',
  invalid: 'version',
};

export interface ReplicaOptions<Answer> {
  log: ReplicatedLog;
  store: ReplicaStore<Answer>;
  clock: Clock;
  wallNowMs(): number;
  ledger: string;
  /** The node, as its operator calls it. */
  node: string;
  /** Version of the operations that this node knows. */
  version: number;
  /** May claim now: no other replica has more entries than `number`. Rejects when it may never claim. */
  mayClaim?(number: number): Promise<boolean>;
  /** The same of an owner that the log has not answered for a while. */
  mayContinue?(number: number): boolean | Promise<boolean>;
  /** After each entry, for the other replicas. */
  onPosition?(position: ReplicaPosition): void;
  onOwner(epoch: number): void;
  /**
   * This replica neither follows nor owns any more; its database is as it was at `position`. Called at most once.
   *
   * @param detail what the database said, where it failed
   */
  onEnd(reason: ReplicaEnd, position: ReplicaPosition, detail?: string): void;
  /** The log does not accept what this replica writes, and why. Called once until it is accepted again. */
  onStuck?(error: unknown): void;
  times?: { heartbeatMs: number; sureMs: number; takeoverMs: number };
  /** No other replica can have more entries: claims without waiting. */
  isFirst?: boolean;
  /** Added to `takeoverMs`, so that replicas do not claim at the same moment. */
  claimDelayMs?: number;
}

const NO_ANSWER = 'The log of the accounts does not answer.';
const NOT_OWNER = 'This node does not own the accounts.';
const unsent = (message: string): StoreError => new StoreError('unreachable', message, { isUnsent: true });

interface Proposed<Answer> {
  calls: readonly LogCall[];
  version: number;
  /** Of each call, as it is in the entry, and the bytes of all. */
  texts: readonly string[];
  byteLength: number;
  resolve(answers: Answer[]): void;
  reject(error: StoreError): void;
}

export class Replica<Answer = unknown> {
  readonly #options: ReplicaOptions<Answer>;
  readonly #times: { heartbeatMs: number; sureMs: number; takeoverMs: number };
  readonly #logClock: LogClock;
  #role: ReplicaRole = 'following';
  #position!: ReplicaPosition;
  /** The last sequence that was looked at: of the position, or of a message behind it that does not count. */
  #seenSequence = 0;
  #heardMs = 0;
  /** When the last entry was applied. */
  #entryMs: number | undefined;
  /** When the last accepted entry was sent. */
  #sentMs = Number.NEGATIVE_INFINITY;
  #sentWallMs = Number.NEGATIVE_INFINITY;
  #detach: Detach = () => {};
  #timer: unknown;
  #queue: Proposed<Answer>[] = [];
  #isTaking = false;
  #isWriting = false;
  #isReleasing = false;
  /** Of the queue, those that are in the entry that is being written. */
  #inFlight = 0;
  #idle: (() => void)[] = [];
  #ignored = 0;
  #isStuckTold = false;

  constructor(options: ReplicaOptions<Answer>) {
    this.#options = options;
    this.#times = options.times ?? REPLICA_TIMES;
    this.#logClock = new LogClock(options.clock, options.wallNowMs);
  }

  get role(): ReplicaRole {
    return this.#role;
  }

  get position(): ReplicaPosition {
    return this.#position;
  }

  /** Since the last entry was applied, milliseconds; undefined before the first one of this process. */
  get entryAgeMs(): number | undefined {
    return this.#entryMs === undefined ? undefined : this.#options.clock.now() - this.#entryMs;
  }

  /** Messages of the log that did not count: of deposed owners, or repeats. */
  get ignored(): number {
    return this.#ignored;
  }

  /** Whether no other replica can own the log now: reads of an owner that is not sure may be old. */
  get isSure(): boolean {
    const { clock, wallNowMs } = this.#options;
    // The clock of a virtual machine may stand still while that is paused; its wall clock is set afterwards.
    const isWallSure = Math.abs(wallNowMs() - this.#sentWallMs) < this.#times.sureMs;
    return this.#role === 'owning' && isWallSure && clock.now() - this.#sentMs < this.#times.sureMs;
  }

  /** The log has not answered for as long as an owner may be silent. */
  get #isStuck(): boolean {
    return this.#isWriting && this.#options.clock.now() - this.#sentMs >= this.#times.takeoverMs;
  }

  /** What was not sent yet is not kept for later: its callers may ask another owner. */
  #refuseWaiting(sentence: string): void {
    for (const { reject } of this.#queue.splice(this.#inFlight)) reject(unsent(sentence));
  }

  /** Follows the log from where the database ends. Rejects when the database cannot tell. */
  async start(): Promise<void> {
    this.#position = await this.#options.store.position();
    this.#seenSequence = this.#position.sequence;
    const [last] = await this.#options.store.kept(this.#position.number - 1);
    const entry = last && entryOfBytes(last);
    if (entry !== undefined) this.#logClock.resume(entry.nowMs);
    const { isFirst = false, claimDelayMs = 0 } = this.#options;
    this.#follow(isFirst ? this.#times.takeoverMs + claimDelayMs : 0);
  }

  /**
   * The answers, once the log has accepted the calls and this database contains them. Rejects with StoreError: `unreachable` when
   * this replica is not the owner, or stopped being it before it knew the outcome.
   *
   * @param version of the operations that the calls need
   */
  propose(calls: readonly LogCall[], version = 1): Promise<Answer[]> {
    if (this.#role !== 'owning' || this.#isReleasing) return Promise.reject(unsent(NOT_OWNER));
    if (this.#isStuck) return Promise.reject(unsent(NO_ANSWER));
    const texts = calls.map(textOfPlain);
    const byteLength = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (calls.length > CALLS_MAX || byteLength > CALLS_BYTES_MAX) {
      const message = `${calls.length} calls of ${byteLength} bytes are more than one entry of the log takes (${CALLS_MAX} and ${CALLS_BYTES_MAX}).`;
      return Promise.reject(new StoreError('invalid', message, { isUnsent: true }));
    }
    if (this.#queue.length >= QUEUE_MAX) {
      return Promise.reject(
        new StoreError('overflow', `${QUEUE_MAX} writes to the accounts are waiting already: try again in a moment.`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ calls, version, texts, byteLength, resolve, reject });
      void this.#write();
    });
  }

  /**
   * Stops; an owner answers its calls first and lets another replica claim at once, unless the log does not answer for some seconds.
   * Never rejects.
   *
   * @param successor the replica that is to claim; any when absent
   */
  async release(successor?: string): Promise<void> {
    if (this.#role === 'owning' && !this.#isReleasing) {
      this.#isReleasing = true;
      const { clock } = this.#options;
      let timer: unknown;
      const late = new Promise<void>((resolve) => {
        timer = clock.setTimeout(() => resolve(), RELEASE_MS);
      });
      await Promise.race([this.#handOver(successor), late]);
      clock.clearTimeout(timer);
    }
    this.#stop();
  }

  async #handOver(successor?: string): Promise<void> {
    if (this.#isWriting) await new Promise<void>((resolve) => this.#idle.push(resolve));
    if (!this.#isOf('owning')) return;
    this.#isWriting = true;
    await this.#append('release', [], successor).catch(() => {});
  }

  /**
   * Of an owner: its database is the only one from now on, and contains no position in the log any more. The other replicas end as
   * `left`. Rejects with StoreError when this replica stopped being the owner before.
   */
  async leave(): Promise<void> {
    this.#isReleasing = true;
    if (this.#isWriting) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#isWriting = true;
    const isLeft = this.#isOf('owning') && (await this.#append('leave', [])) !== undefined;
    this.#stop();
    if (!isLeft) throw unsent(NOT_OWNER);
  }

  #stop(): void {
    this.#role = 'ended';
    this.#detach();
    this.#options.clock.clearTimeout(this.#timer);
    this.#refuseWaiting(NOT_OWNER);
    const lost = new StoreError(
      'unreachable',
      'This node no longer owns the accounts; the call may have been applied.',
    );
    for (const { reject } of this.#queue.splice(0)) reject(lost);
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #end(reason: ReplicaEnd, detail?: string): void {
    if (this.#role === 'ended') return;
    this.#stop();
    this.#options.onEnd(reason, this.#position, detail);
  }

  #follow(waitedMs = 0): void {
    this.#role = 'following';
    this.#heardMs = this.#options.clock.now() - waitedMs;
    this.#detach = this.#options.log.read(this.#seenSequence + 1, {
      message: async (message) => {
        this.#isTaking = true;
        await this.#take(message).finally(() => {
          this.#isTaking = false;
        });
      },
      removed: () => this.#end('behind'),
    });
    this.#look();
  }

  /** Claims the log once its owner has been silent for long enough. */
  #look(): void {
    const { clock, claimDelayMs = 0 } = this.#options;
    clock.clearTimeout(this.#timer);
    const dueMs = clock.now() + LOOK_MS;
    this.#timer = clock.setTimeout(() => {
      if (this.#role !== 'following') return;
      // This process did not run: it may have missed what the owner wrote.
      if (clock.now() - dueMs > LATE_MS) this.#heardMs = clock.now();
      const silentMs = clock.now() - this.#heardMs;
      if (this.#isTaking || silentMs < this.#times.takeoverMs + claimDelayMs) this.#look();
      else void this.#claim();
    }, LOOK_MS);
  }

  async #take({ sequence, bytes }: LogMessage): Promise<void> {
    if (this.#role !== 'following') return;
    const entry = entryOfBytes(bytes);
    if (sequence <= this.#seenSequence) return this.#wentBack(sequence, entry);
    this.#seenSequence = sequence;
    if (entry === undefined) return this.#ignore();
    const { number, epoch } = this.#position;
    // A database that contains no entry yet may be another one, or of another time, than the one that the log began with.
    if (number === 0 && entry.node !== this.#options.node) return this.#end('behind');
    if (entry.ledger !== this.#options.ledger) return this.#end('foreign');
    if (this.#isNext(entry)) return this.#applyNext(entry, bytes, sequence);
    if (entry.number <= number && (await this.#options.store.hashAt(entry.number)) === hashOfEntry(bytes)) {
      // Another replica has written again what the log had lost.
      this.#heardMs = this.#options.clock.now();
      await this.#options.store.moved(entry.number, sequence);
      if (entry.number === number) this.#position = { ...this.#position, sequence };
      return this.#ignore();
    }
    // Of a deposed owner, or of one that claimed at the same moment and was second.
    if (entry.epoch < epoch || (entry.epoch === epoch && entry.number <= number)) return this.#ignore();
    this.#end(entry.number > number + 1 ? 'behind' : 'diverged');
  }

  /** The log was created again, or has lost its end: what it has now is read from a little before the place of the next entry. */
  #wentBack(sequence: number, entry: LogEntry | undefined): void {
    if (entry === undefined) {
      this.#ignore();
      return;
    }
    this.#detach();
    this.#rewind(sequence, entry.number);
    this.#follow();
  }

  #isNext(entry: LogEntry): boolean {
    const { number, hash, epoch } = this.#position;
    return entry.number === number + 1 && entry.previous === hash && entry.epoch >= epoch;
  }

  #ignore(): void {
    this.#ignored++;
  }

  async #applyNext(entry: LogEntry, bytes: Uint8Array, sequence: number): Promise<void> {
    if (entry.version > this.#options.version) return this.#end('version');
    if (this.#position.number > 0 && !isSameOutcome(entry.outcome, this.#position.outcome))
      return this.#end('different');
    await this.#apply(entry, bytes, sequence);
    if (entry.kind === 'leave') return this.#end('left');
    this.#heardMs = this.#options.clock.now() - this.#claimEarlierMs(entry);
  }

  /** An owner that stops is not waited for. */
  #claimEarlierMs({ kind, successor }: LogEntry): number {
    const { node, claimDelayMs = 0 } = this.#options;
    if (kind !== 'release' || (successor !== undefined && successor !== node)) return 0;
    return this.#times.takeoverMs + (successor === node ? claimDelayMs : 0);
  }

  /** Undefined when it could not be applied, which ends this replica. */
  async #apply(entry: LogEntry, bytes: Uint8Array, sequence: number): Promise<Answer[] | undefined> {
    const hash = hashOfEntry(bytes);
    for (let tries = 1; ; tries++) {
      try {
        const { answers, outcome } = await this.#options.store.apply(entry, bytes, {
          hash,
          sequence,
          leaves: this.#leaves(entry),
        });
        this.#position = { epoch: entry.epoch, number: entry.number, hash, sequence, outcome };
        this.#seenSequence = Math.max(this.#seenSequence, sequence);
        this.#logClock.saw(entry.nowMs);
        this.#entryMs = this.#options.clock.now();
        this.#options.onPosition?.(this.#position);
        return answers;
      } catch (error) {
        const { reason, message } = error instanceof StoreError ? error : new StoreError('failed', String(error));
        if (reason === 'busy' && tries < LOCKED_MAX) continue;
        this.#end(APPLY_ENDS[reason] ?? 'disk', message);
        return undefined;
      }
    }
  }

  /** The database is the only one after this entry. */
  #leaves({ kind, node }: LogEntry): boolean {
    return kind === 'leave' && node === this.#options.node;
  }

  async #claim(): Promise<void> {
    this.#role = 'claiming';
    this.#detach();
    try {
      const isOwner =
        (await this.#mayClaim()) && (await this.#meetsEnd()) && (await this.#append('claim', [])) !== undefined;
      if (isOwner && this.#isOf('claiming')) return this.#own();
    } catch (error) {
      this.#tellStuck(error);
    }
    if (this.#isOf('claiming')) this.#follow();
  }

  /** The role changes while something is awaited. */
  #isOf(role: ReplicaRole): boolean {
    return this.#role === role;
  }

  /** An owner whose entries were not accepted for so long that another replica may have claimed the log. */
  async #mayContinue(): Promise<boolean> {
    return (await this.#options.mayContinue?.(this.#position.number)) ?? true;
  }

  async #mayClaim(): Promise<boolean> {
    return (await this.#options.mayClaim?.(this.#position.number)) ?? true;
  }

  /** Whether the log ends with this replica's last entry; what the log has lost of its end is written again. */
  async #meetsEnd(): Promise<boolean> {
    const { sequence, last } = await this.#options.log.end();
    if (sequence > this.#seenSequence) return false;
    const entry = last && entryOfBytes(last.bytes);
    const { number, sequence: ownSequence } = this.#position;
    if (last !== undefined && hashOfEntry(last.bytes) === this.#position.hash) {
      await this.#foundAt(sequence);
      return true;
    }
    if (entry !== undefined && entry.ledger !== this.#options.ledger) {
      this.#end('foreign');
      return false;
    }
    if (entry !== undefined && this.#isLater(entry)) {
      if (entry.number > number) this.#rewind(sequence, entry.number);
      else this.#end('diverged');
      return false;
    }
    // What stands behind the last entry does not count.
    if (number > 0 && !(sequence === this.#seenSequence && sequence > ownSequence)) {
      await this.#restoreEnd(sequence, last, entry?.number ?? 0);
    }
    if (number === 0) this.#seenSequence = sequence;
    return true;
  }

  /** Of an owner that came after this replica's last entry. */
  #isLater({ epoch, number }: LogEntry): boolean {
    const own = this.#position;
    return epoch > own.epoch || (epoch === own.epoch && number > own.number);
  }

  /** The last entry is there in the log now. */
  async #foundAt(sequence: number): Promise<void> {
    this.#seenSequence = sequence;
    if (this.#position.sequence === sequence) return;
    this.#position = { ...this.#position, sequence };
    await this.#options.store.moved(this.#position.number, sequence);
  }

  /** The log was created again, with other sequences: search for the next entry from a little before its expected place. */
  #rewind(sequence: number, number: number): void {
    const after = Math.max(0, number - this.#position.number);
    this.#seenSequence = Math.max(0, sequence - 1 - after - REWIND_MARGIN);
    this.#position = { ...this.#position, sequence: Math.min(this.#position.sequence, this.#seenSequence) };
  }

  /** Writes again the entries behind that number. */
  async #restoreEnd(sequence: number, last: LogMessage | undefined, number: number): Promise<void> {
    const { log, store } = this.#options;
    let follows: Follows = { sequence, id: last && hashOfEntry(last.bytes) };
    this.#seenSequence = sequence;
    for (const bytes of await store.kept(Math.max(number, this.#position.number - RESTORED_MAX))) {
      const id = hashOfEntry(bytes);
      const written = await log.append(bytes, id, follows);
      follows = { sequence: written, id };
      const entry = entryOfBytes(bytes) as LogEntry;
      await store.moved(entry.number, written);
      this.#seenSequence = written;
      if (entry.number === this.#position.number) this.#position = { ...this.#position, sequence: written };
    }
  }

  #own(): void {
    this.#role = 'owning';
    this.#options.onOwner(this.#position.epoch);
    this.#beat();
  }

  #beat(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    if (!this.#isOf('owning')) return;
    const dueMs = this.#sentMs + this.#times.heartbeatMs - clock.now();
    this.#timer = clock.setTimeout(
      () => {
        if (clock.now() - this.#sentMs >= this.#times.heartbeatMs) void this.#write(true);
        this.#beat();
      },
      Math.max(dueMs, LOOK_MS),
    );
  }

  /** Writes what waits, entry by entry. */
  async #write(isHeartbeat = false): Promise<void> {
    if (this.#isWriting || this.#role !== 'owning') return;
    this.#isWriting = true;
    try {
      if (isHeartbeat && this.#queue.length === 0) await this.#append('calls', []);
      while (this.#queue.length > 0 && this.#isOf('owning')) await this.#writeNext();
    } catch {
      // This replica has ended, and has said so.
    } finally {
      this.#isWriting = false;
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  async #writeNext(): Promise<void> {
    const together = this.#together();
    this.#inFlight = together.length;
    const answers = await this.#append('calls', together);
    if (answers === undefined) return;
    this.#queue.splice(0, together.length);
    this.#inFlight = 0;
    let at = 0;
    for (const { calls, resolve } of together) {
      resolve(answers.slice(at, at + calls.length));
      at += calls.length;
    }
  }

  /** As many of the waiting calls as one entry takes. */
  #together(): Proposed<Answer>[] {
    let calls = 0;
    let bytes = 0;
    const end = this.#queue.findIndex((each) => {
      calls += each.calls.length;
      bytes += each.byteLength;
      return calls > CALLS_MAX || bytes > CALLS_BYTES_MAX;
    });
    return this.#queue.slice(0, end < 0 ? undefined : Math.max(1, end));
  }

  /** The answers of an entry that the log accepted and this database contains; undefined when this replica ended instead. */
  async #append(
    kind: LogEntryKind,
    proposed: readonly Proposed<Answer>[],
    successor?: string,
  ): Promise<Answer[] | undefined> {
    const { ledger, node } = this.#options;
    const { epoch, number, hash, outcome } = this.#position;
    const head = {
      ...{ kind, ledger, node, outcome },
      version: proposed.reduce((needed, each) => Math.max(needed, each.version), 1),
      epoch: kind === 'claim' ? epoch + 1 : epoch,
      number: number + 1,
      previous: hash,
      nowMs: this.#logClock.nowMs(),
      ...(successor !== undefined && { successor }),
    };
    const bytes = bytesOfTexts(
      head,
      proposed.flatMap(({ texts }) => texts),
    );
    const sentWallMs = this.#options.wallNowMs();
    const accepted = await this.#appendSurely(bytes);
    if (accepted === undefined) return undefined;
    this.#sentMs = accepted.sentMs;
    this.#sentWallMs = sentWallMs;
    const entry: LogEntry = { ...head, calls: proposed.flatMap(({ calls }) => calls) };
    return this.#apply(entry, bytes, accepted.sequence);
  }

  /** Sends it until its outcome is known. Undefined when another entry is in its place: then an owner is deposed. */
  async #appendSurely(bytes: Uint8Array): Promise<{ sequence: number; sentMs: number } | undefined> {
    const { log, clock } = this.#options;
    const id = hashOfEntry(bytes);
    // Of the first try: which one the log accepted is not known.
    const sentMs = clock.now();
    for (;;) {
      const follows: Follows = {
        sequence: this.#seenSequence,
        id:
          this.#seenSequence === this.#position.sequence && this.#position.hash !== ''
            ? this.#position.hash
            : undefined,
      };
      try {
        const sequence = await log.append(bytes, id, follows);
        this.#isStuckTold = false;
        return { sequence, sentMs };
      } catch (error) {
        if (this.#isStuck) this.#tellStuck(error);
        if (error instanceof LogConflict) {
          const found = await this.#afterConflict(id).catch(() => 'unknown' as const);
          if (typeof found === 'number') return { sequence: found, sentMs };
          if (found === 'deposed') {
            if (this.#role === 'owning') this.#end('deposed');
            return undefined;
          }
        }
      }
      if (this.#isOf('ended')) return undefined;
      if (this.#isStuck) this.#refuseWaiting(NO_ANSWER);
      if (this.#isStuck && this.#role === 'owning' && !(await this.#mayContinue())) {
        this.#end('deposed');
        return undefined;
      }
      await new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), AGAIN_MS));
    }
  }

  /** Whether it was written by a replica that claimed the log: not by this one, and not by one that was deposed. */
  async #isOfOtherOwner(entry: LogEntry, bytes: Uint8Array): Promise<boolean> {
    if (this.#isNext(entry)) return true;
    const { epoch } = this.#position;
    if (entry.ledger !== this.#options.ledger || entry.epoch < epoch) return false;
    return entry.epoch > epoch || (await this.#options.store.hashAt(entry.number)) !== hashOfEntry(bytes);
  }

  #tellStuck(error: unknown): void {
    // Normal: another process was quicker.
    if (this.#isStuckTold || error instanceof LogConflict) return;
    this.#isStuckTold = true;
    this.#options.onStuck?.(error);
  }

  /** The sequence of the own entry, if the log has it after all; `again` when the log had lost its end, which was restored. */
  async #afterConflict(id: string): Promise<number | 'deposed' | 'again'> {
    const { log, clock } = this.#options;
    const found = await log.at(this.#seenSequence + 1);
    if (found !== undefined) {
      if (hashOfEntry(found.bytes) === id) return found.sequence;
      const entry = entryOfBytes(found.bytes);
      if (entry !== undefined && (await this.#isOfOtherOwner(entry, found.bytes))) return 'deposed';
      this.#seenSequence = found.sequence;
      this.#ignore();
      return 'again';
    }
    // The log has lost its end, and with it the entry of another owner where there may be one.
    if (this.#role !== 'owning' || clock.now() - this.#sentMs >= this.#times.takeoverMs) return 'deposed';
    return (await this.#meetsEnd()) ? 'again' : 'deposed';
  }
}
