// The store on SQLite, as seen from the main thread: posts calls to the thread that owns the file, so that a slow disk or a
// lock never stalls anything else. What the calls do is tables.ts; several processes may open one directory.
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SuspensionChange } from '../../accounts/keys/calls.ts';
import type { HoldRequest, SessionEnd, SessionHead, SessionRecord } from '../../money/store/calls.ts';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
import { DATABASE_NAME } from '../../store/keep-database.ts';
import { Listeners } from '../../store/listeners.ts';
import { StoreError } from '../../store/store-error.ts';
import { drawFor } from './draw.ts';
import type { Answer, Call, FromWorker, ReplicaRequest, ToWorker, WorkerInput } from './protocol.ts';
import { type AsynchronousCalls, CALL_NAMES, type CallName, type Store } from './store.ts';

const CALLS_MAX = 1024;
/** How long bills that nobody waits for are gathered: one commit costs more than everything that a file writes. */
const GATHER_MS = 100;
/** Bills that are sent together at most, as the thread takes no more into one commit. */
const GATHERED_MAX = 256;
/** The id under which the opening waits, beside the calls, which count from 1. */
const OPENING = 0;

export interface SqliteStoreOptions {
  /** The data directory; made for this user alone when missing. */
  directory: string;
  /** Whether it is one of several, which are written to by entries of a log alone. */
  isReplica?: boolean;
  /** Calls that may wait; one more is rejected with `overflow`. 1024 when absent. */
  callsMax?: number;
  /**
   * Hears once when the thread ends on its own, every call is rejected from then on; and once when a call is refused because another
   * process owns the database since.
   */
  onFault?: (error: StoreError) => void;
}

interface Waiting {
  /** Undefined of the opening. */
  name?: CallName;
  /** A hold that left before bills which are gathered: a refusal is not told before it was asked for behind them. */
  ahead?: Call;
  resolve(value: unknown): void;
  reject(error: StoreError): void;
}

type State = 'opening' | 'open' | 'closing' | 'ended';

/** The store of a directory, and what can be said of its thread. */
export type SqliteStore = StoreThread & AsynchronousCalls;

/** @throws StoreError `cannot_open`, with a sentence for the operator */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const store = new StoreThread(options);
  await store.opened;
  return store as SqliteStore;
}

class StoreThread implements Omit<Store, CallName> {
  static {
    // All calls are posted alike.
    for (const name of CALL_NAMES) {
      Object.defineProperty(StoreThread.prototype, name, {
        value(this: StoreThread, ...args: unknown[]) {
          return this.#call(name, args);
        },
      });
    }
  }

  /** Settles when the thread has opened the file, or could not. */
  readonly opened: Promise<void>;
  readonly #worker: Worker;
  readonly #callsMax: number;
  readonly #onFault: (error: StoreError) => void;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  /** Calls on their way to the thread, together with the others of this turn of the event loop. */
  #outgoing: Call[] = [];
  /** Bills that wait for each other, by the session's id. */
  readonly #gathered = new Map<string, Call>();
  /** Whether a call on its way has to find them written. */
  #isBehindGathered = false;
  #isFlushDue = false;
  #gathering: NodeJS.Timeout | undefined;
  readonly #revocations = new Listeners<string>();
  readonly #suspensions = new Listeners<SuspensionChange>();
  readonly #outbox = new Listeners<void>();
  readonly #leases = new Listeners<void>();
  #state: State = 'opening';
  #endReason = new StoreError('closed', 'The store is closed.');
  #lastId = 0;
  #isOvertaken = false;

  constructor({ directory, isReplica = false, callsMax = CALLS_MAX, onFault = () => {} }: SqliteStoreOptions) {
    this.#callsMax = callsMax;
    this.#onFault = onFault;
    const input: WorkerInput = { file: join(resolve(directory), DATABASE_NAME), isReplica };
    // The compiled file needs none of the flags that this process was started with, and some are refused in threads.
    this.#worker = new Worker(workerFile(import.meta.url, 'worker'), { workerData: input, execArgv: [] });
    this.opened = new Promise((resolve, reject) => this.#waiting.set(OPENING, { resolve: () => resolve(), reject }));
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.on('message', (message: FromWorker) => this.#hear(message));
    this.#worker.on('error', (error) => this.#threadEnded(`failed: ${error.message}`));
    this.#worker.on('exit', (code) => this.#threadEnded(`ended with code ${code}.`));
  }

  /** Calls that wait for their answer. */
  get waitingCalls(): number {
    return this.#waiting.size;
  }

  onKeyRevoked(listener: (keyId: string) => void): () => void {
    return this.#revocations.add(listener);
  }

  onSuspension(listener: (change: SuspensionChange) => void): () => void {
    return this.#suspensions.add(listener);
  }

  onOutbox(listener: () => void): () => void {
    return this.#outbox.add(listener);
  }

  /** Called where holds whose lease is over have to be given back by an entry of the log. */
  onLeases(listener: () => void): () => void {
    return this.#leases.add(listener);
  }

  settleSoon(head: SessionHead, end: SessionEnd): Promise<SessionRecord> {
    return this.#call('settleSession', [head, end], true) as Promise<SessionRecord>;
  }

  /** A request of the replica, behind everything that was asked before. */
  replica(request: ReplicaRequest): Promise<unknown> {
    if (this.#state !== 'open') return Promise.reject(this.#endReason);
    this.#flushAll();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ kind: 'replica', id, request });
    });
  }

  /** Answers the calls made before, then closes the file. */
  close(): Promise<void> {
    if (this.#state === 'opening' || this.#state === 'open') {
      this.#state = 'closing';
      this.#flushAll();
      this.#post({ kind: 'close' });
    }
    return this.#exited;
  }

  /** @param isGathered whether it may wait for others of its kind */
  #call(name: CallName, args: readonly unknown[], isGathered = false): Promise<unknown> {
    if (this.#state !== 'open') return Promise.reject(this.#endReason);
    if (this.#waiting.size >= this.#callsMax) {
      return Promise.reject(
        new StoreError('overflow', `${this.#callsMax} calls to the store are waiting already: try again in a moment.`),
      );
    }
    const id = ++this.#lastId;
    const { drawn, answered } = drawFor(name, Date.now());
    const call = drawn === undefined ? { id, name, args } : { id, name, args, drawn };
    return new Promise((resolve, reject) => {
      const settle = drawn === undefined ? resolve : (value: unknown) => resolve(answered(value));
      const waiting: Waiting = { name, resolve: settle, reject };
      this.#waiting.set(id, waiting);
      if (isGathered) this.#gather(call);
      else this.#send(call, waiting);
    });
  }

  #gather(call: Call): void {
    const { id } = call.args[0] as SessionHead;
    if (this.#gathered.has(id) || this.#gathered.size === GATHERED_MAX) this.#flushAll();
    this.#gathered.set(id, call);
    this.#gathering ??= setTimeout(() => this.#flushAll(), GATHER_MS);
  }

  #send(call: Call, waiting: Waiting): void {
    const isThreadIdle = this.#waiting.size === this.#outgoing.length + this.#gathered.size + 1;
    this.#outgoing.push(call);
    if (!this.#mayOvertake(call)) this.#isBehindGathered = true;
    else if (this.#gathered.size > 0) waiting.ahead = call;
    if (isThreadIdle) this.#flush();
    else this.#flushAtTurnEnd();
  }

  /** A hold that is granted whole or not at all takes no room from bills, and is not to wait for the disk that they wait for. */
  #mayOvertake({ name, args }: Call): boolean {
    if (name !== 'openSession') return false;
    const [{ id }, { wantedMicroUsd, leastMicroUsd }] = args as [SessionHead, HoldRequest];
    return wantedMicroUsd === leastMicroUsd && !this.#gathered.has(id);
  }

  /** While others wait anyway, a message for each call would be most of what a call costs here. */
  #flushAtTurnEnd(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flushAll(): void {
    this.#isBehindGathered = true;
    this.#flush();
  }

  #flush(): void {
    let calls = this.#outgoing;
    this.#outgoing = [];
    if (this.#isBehindGathered) {
      clearTimeout(this.#gathering);
      this.#gathering = undefined;
      this.#isBehindGathered = false;
      calls = [...this.#gathered.values(), ...calls].sort((one, other) => one.id - other.id);
      this.#gathered.clear();
    }
    if (calls.length === 0 || this.#state === 'ended') return;
    try {
      this.#post({ kind: 'calls', calls });
    } catch {
      for (const call of calls) this.#postAlone(call);
    }
  }

  #postAlone(call: Call): void {
    try {
      this.#post({ kind: 'calls', calls: [call] });
    } catch {
      const refusal = new StoreError('invalid', `The call ${call.name} was given what is no plain data.`);
      this.#take(call.id)?.reject(refusal);
    }
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case 'opened':
        if (this.#state === 'opening') this.#state = 'open';
        this.#take(OPENING)?.resolve(undefined);
        break;
      case 'answers':
        for (const answer of message.answers) this.#settle(answer);
        break;
      case 'revoked':
        for (const keyId of message.keyIds) this.#revocations.tell(keyId);
        break;
      case 'suspensions':
        for (const change of message.changes) this.#suspensions.tell(change);
        break;
      case 'outbox':
        this.#outbox.tell();
        break;
      case 'leases':
        this.#leases.tell();
        break;
      case 'replica':
        this.#settle(message);
        break;
      case 'refused':
        this.#end(new StoreError(message.reason, message.message));
        break;
    }
  }

  #settle(answer: Answer): void {
    const call = this.#take(answer.id);
    if (!('rejection' in answer)) {
      call?.resolve(answer.value);
      return;
    }
    if (call?.ahead !== undefined) {
      this.#askBehindGathered(call, call.ahead);
      return;
    }
    const error = new StoreError(answer.rejection.reason, answer.rejection.message);
    call?.reject(error);
    // A claim reports that itself.
    if (error.reason === 'superseded' && call?.name !== 'claimOwnership') this.#overtaken(error);
  }

  /** Bills that were not written yet may have made room for this hold. */
  #askBehindGathered(waiting: Waiting, call: Call): void {
    delete waiting.ahead;
    const id = ++this.#lastId;
    this.#waiting.set(id, waiting);
    this.#outgoing.push({ ...call, id });
    this.#flushAll();
  }

  /** It can be read from, but never written to again by this process. */
  #overtaken(error: StoreError): void {
    if (this.#isOvertaken) return;
    this.#isOvertaken = true;
    this.#onFault(error);
  }

  #take(id: number): Waiting | undefined {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    return call;
  }

  #threadEnded(how: string): void {
    this.#end(new StoreError(this.#state === 'opening' ? 'cannot_open' : 'failed', `The database's thread ${how}`));
  }

  /** Nothing more will come from the thread. The first reason stays; a store that was closed has not failed. */
  #end(reason: StoreError): void {
    const from = this.#state;
    if (from === 'ended') return;
    this.#state = 'ended';
    if (from !== 'closing') this.#endReason = reason;
    for (const call of this.#waiting.values()) call.reject(this.#endReason);
    this.#waiting.clear();
    if (from === 'open') this.#onFault(reason);
  }
}
