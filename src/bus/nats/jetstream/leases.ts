// Leases in a key-value bucket whose entries end by themselves: takes names, tells who has them. How one is kept is nats-lease.ts.
// Server 2.9: the whole bucket has one time to live, and nobody is told when an entry ends.
import { randomBytes } from 'node:crypto';
import { DiscardPolicy, type KV, type NatsConnection, nanos, RetentionPolicy, StorageType } from 'nats';
import type { Clock } from '../../../../machines/clock.ts';
import { hasEnded, isProcessIdentity, type ProcessIdentity, thisProcess } from '../../../runtime/process-identity.ts';
import { isRecord } from '../../../runtime/record.ts';
import { backgroundClock } from '../../../telemetry/clock.ts';
import { BusError } from '../../bus.ts';
import {
  type HeldLease,
  LEASE_MS,
  type Lease,
  type Leases,
  type LeaseTaken,
  type LeaseValue,
  RENEW_MS,
} from '../../leases.ts';
import { KeyRing } from '../../sealing/key-ring.ts';
import { openEntry, sealEntry } from '../../sealing/sealed-entry.ts';
import {
  ensureStream,
  isWrongSequence,
  type JetStream,
  jetStreamOf,
  type LinkedBus,
  whileConnected,
} from './common.ts';
import { type LeaseTimes, type LeaseWrites, NatsLease } from './lease.ts';

const NAME = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,3}$/;
const ENTRY_BYTES_MAX = 4096;
/** Entries read at the same time while names are listed. */
const READS_MAX = 32;
/** Between somebody's release and the next look at the name another one can be quicker. */
const TRIES_MAX = 3;
/** The part of a lease that its owner counts on: the rest is for timers that are late and clocks that are not alike. */
const SURE = 13 / 15;

export interface NatsLeasesOptions {
  clock?: Clock;
  /** Servers that keep the bucket. 1 when absent. */
  replicas?: number;
  /** How long a name outlives its last renewal, when this one makes the bucket. */
  leaseMs?: number;
}

/** What is kept under a name. */
interface Entry {
  /** Whoever wrote it: made up at each start. */
  claim: string;
  /** The fencing revision; absent in the writing that has taken the name, whose place in the stream it is. */
  taken?: number;
  /** Of the writing that has taken the name: the last place in the stream when it was sent. */
  after?: number;
  /** Absent in what older versions wrote. */
  process?: ProcessIdentity;
  value: LeaseValue;
}

interface Bucket {
  kv: KV;
  stream: JetStream;
  name: string;
  times: LeaseTimes;
  /** Revisions begin here: a bucket that was made again, with sequences from 1, still gives higher ones than before. */
  baseRevision: number;
}

/** `entry` is undefined where no node of this gateway has written it. */
type Found = { entry: Entry | undefined; sequence: number; revision: number };

/** Leases on that bus. PendingRequests NATS with the first call; a bucket that is missing is made. */
export function natsLeases(bus: LinkedBus, options: NatsLeasesOptions = {}): NatsLeases {
  return new NatsLeases(bus, options);
}

export class NatsLeases implements Leases {
  readonly #bus: LinkedBus;
  readonly #clock: Clock;
  readonly #replicas: number;
  readonly #leaseMs: number;
  readonly #ring: KeyRing;
  readonly #claim = randomBytes(12).toString('hex');
  readonly #process = thisProcess();
  readonly #held = new Map<string, NatsLease>();
  readonly #detach: () => void;
  #bucket: Promise<Bucket> | undefined;
  #connection: NatsConnection | undefined;

  constructor(bus: LinkedBus, { clock = backgroundClock, replicas = 1, leaseMs = LEASE_MS }: NatsLeasesOptions) {
    this.#bus = bus;
    this.#ring = new KeyRing(bus.link.secrets, 'leases');
    this.#clock = clock;
    this.#replicas = replicas;
    this.#leaseMs = leaseMs;
    this.#detach = bus.onConnection((isConnected) => {
      if (isConnected) for (const lease of this.#held.values()) lease.renewNow();
    });
  }

  async acquire(name: string, value: LeaseValue, onLost: () => void): Promise<Lease | LeaseTaken> {
    if (!NAME.test(name))
      throw new TypeError(`"${name}" is no name of a lease: words of letters, digits, _ and - with dots.`);
    const own = this.#held.get(name);
    if (own !== undefined) return { heldBy: value };
    return this.#ask(`taking the name ${name}`, async (bucket) => {
      for (let tries = 1; ; tries++) {
        const found = await this.#read(bucket, name);
        if (found !== undefined && this.#isHeld(found.entry)) return { heldBy: found.entry?.value ?? {} };
        const after = found?.sequence ?? (await lastSequence(bucket));
        const sentAtMs = this.#clock.now();
        try {
          // Nobody has it; or a process that was killed; or this one, which lost it, or never heard that it was given it.
          const bytes = this.#sealed(name, { claim: this.#claim, after, process: this.#process, value });
          const sequence = await (found === undefined
            ? bucket.kv.create(name, bytes)
            : bucket.kv.update(name, bytes, found.sequence));
          return this.#keep(bucket, { name, value, sequence, sentAtMs, onLost });
        } catch (error) {
          if (!isWrongSequence(error) || tries === TRIES_MAX) throw error;
        }
      }
    });
  }

  async list(prefix: string): Promise<HeldLease[]> {
    const found = await this.#found(prefix);
    return found.flatMap(([name, { entry, revision }]) =>
      entry === undefined ? [] : [{ name, value: entry.value, revision }],
    );
  }

  /** Whether a name that begins so is written by somebody with another secret. Rejects with BusError. */
  async isForeign(prefix: string): Promise<boolean> {
    const found = await this.#found(prefix);
    return found.some(([, { entry }]) => entry === undefined);
  }

  /** Gives every name back. Never rejects. */
  async close(): Promise<void> {
    this.#detach();
    await Promise.all([...this.#held.values()].map((lease) => lease.release()));
  }

  /**
   * Somebody else has it. A process of this machine that has ended is not waited for: it is started again a moment after. What
   * nobody of this gateway has written may cover the entry of one who has it: it is waited for until that ends.
   */
  #isHeld(entry: Entry | undefined): boolean {
    if (entry === undefined) return true;
    const { claim, process } = entry;
    return claim !== this.#claim && !(process !== undefined && hasEnded(process));
  }

  #keep(
    bucket: Bucket,
    taken: { name: string; value: LeaseValue; sequence: number; sentAtMs: number; onLost: () => void },
  ): NatsLease {
    const revision = bucket.baseRevision + taken.sequence;
    const lease = new NatsLease({ ...taken, revision }, this.#writes(taken.name, revision), {
      clock: this.#clock,
      times: bucket.times,
      onEnd: (isLost) => {
        if (this.#held.get(taken.name) === lease) this.#held.delete(taken.name);
        if (isLost) taken.onLost();
      },
    });
    this.#held.set(taken.name, lease);
    return lease;
  }

  #writes(name: string, revision: number): LeaseWrites {
    const what = `renewing the name ${name}`;
    const own: Omit<Entry, 'value'> = { claim: this.#claim, taken: revision, process: this.#process };
    return {
      renew: (sequence, value) =>
        this.#ask(what, ({ kv }) => kv.update(name, this.#sealed(name, { ...own, value }), sequence)),
      ownSequence: () =>
        this.#ask(what, async (bucket) => {
          const found = await this.#read(bucket, name);
          return found !== undefined && isNoNewer(found, revision, bucket) ? found.sequence : undefined;
        }),
      remove: (sequence) =>
        this.#ask(`giving back the name ${name}`, ({ kv }) => kv.delete(name, { previousSeq: sequence })),
    };
  }

  #found(prefix: string): Promise<[name: string, found: Found][]> {
    return this.#ask(`listing the names ${prefix}*`, async (bucket) => {
      const start = `$KV.${bucket.name}.`;
      const info = await bucket.stream.manager.streams.info(streamOf(bucket), { subjects_filter: `${start}>` });
      const names = Object.keys(info.state.subjects ?? {})
        .map((subject) => subject.slice(start.length))
        .filter((name) => name.startsWith(prefix))
        .sort();
      const all: [string, Found][] = [];
      for (let first = 0; first < names.length; first += READS_MAX) {
        const some = names.slice(first, first + READS_MAX);
        const found = await Promise.all(some.map((name) => this.#read(bucket, name)));
        for (const [index, each] of found.entries()) if (each !== undefined) all.push([some[index] as string, each]);
      }
      return all;
    });
  }

  #sealed(name: string, entry: Entry): Uint8Array {
    return sealEntry(this.#ring, name, Buffer.from(JSON.stringify(entry)));
  }

  async #read({ kv, baseRevision }: Bucket, name: string): Promise<Found | undefined> {
    const found = await kv.get(name);
    if (found === null || found.operation !== 'PUT') return undefined;
    const entry = decode(openEntry(this.#ring, name, found.value));
    return { entry, sequence: found.revision, revision: entry?.taken ?? baseRevision + found.revision };
  }

  /** Rejects with BusError. */
  #ask<Result>(what: string, work: (bucket: Bucket) => Promise<Result>): Promise<Result> {
    return whileConnected(this.#bus, what, async () => {
      const { connection } = this.#bus.link;
      if (connection !== this.#connection) this.#bucket = undefined;
      this.#connection = connection;
      this.#bucket ??= this.#open();
      const opening = this.#bucket;
      try {
        return await work(await opening);
      } catch (error) {
        // It is looked for, and made where it is missing, with the next call.
        if (this.#bucket === opening && !isWrongSequence(error) && !(error instanceof BusError))
          this.#bucket = undefined;
        throw error;
      }
    });
  }

  async #open(): Promise<Bucket> {
    const stream = await jetStreamOf(this.#bus);
    const name = `${this.#bus.link.prefix}-leases`;
    const { config, created } = await ensureStream(stream.manager, {
      name: `KV_${name}`,
      subjects: [`$KV.${name}.>`],
      description: 'Voxgate: which node has which name',
      retention: RetentionPolicy.Limits,
      // In memory a restart of the server would begin the sequences again.
      storage: StorageType.File,
      num_replicas: this.#replicas,
      max_age: nanos(this.#leaseMs),
      max_msgs_per_subject: 1,
      max_msg_size: ENTRY_BYTES_MAX,
      discard: DiscardPolicy.New,
      deny_delete: true,
      allow_rollup_hdrs: true,
      // Reads come from the server that decides, not from one that may be behind.
      allow_direct: false,
    });
    // Somebody else may have made it with another time, and entries end by that.
    const leaseMs = config.max_age / 1e6;
    if (leaseMs <= 0) throw new Error(`the bucket ${name} keeps entries for ever: remove it, and it is made anew`);
    const kv = await stream.client.views.kv(name, { bindOnly: true });
    const times = { validMs: leaseMs * SURE, renewMs: (leaseMs * RENEW_MS) / LEASE_MS, retryMs: leaseMs / 15 };
    return { kv, stream, name, times, baseRevision: Date.parse(created) };
  }
}

const streamOf = ({ name }: Bucket): string => `KV_${name}`;

const lastSequence = async (bucket: Bucket): Promise<number> =>
  (await bucket.stream.manager.streams.info(streamOf(bucket))).state.last_seq;

/**
 * Whether whoever took the name with that revision still has it: the entry is its own, or was written by nobody of this gateway,
 * or before it took the name, and put there once more. Somebody who has taken the name since can have written none of these.
 */
function isNoNewer({ entry, revision }: Found, taken: number, { baseRevision }: Bucket): boolean {
  if (entry === undefined) return true;
  if (entry.taken === undefined && entry.after !== undefined) return baseRevision + entry.after < taken;
  return revision <= taken;
}

/** Undefined where no node of this gateway can have written it. */
function decode(bytes: Uint8Array | undefined): Entry | undefined {
  if (bytes === undefined) return undefined;
  try {
    const entry: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (!isRecord(entry) || typeof entry.claim !== 'string' || !isRecord(entry.value)) return undefined;
    const { claim, taken, after, process, value } = entry;
    return {
      claim,
      value,
      ...(Number.isSafeInteger(taken) && { taken: taken as number }),
      ...(Number.isSafeInteger(after) && { after: after as number }),
      ...(isProcessIdentity(process) && { process }),
    };
  } catch {
    return undefined;
  }
}
