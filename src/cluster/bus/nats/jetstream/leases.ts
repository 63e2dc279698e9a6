// Leases in a key-value bucket with one time to live (TTL) for all entries, as server 2.9 has it. An entry's expiry is not
// announced.
import { randomBytes } from 'node:crypto';
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import type { Clock } from '../../../../../machines/clock.ts';
import { isRecord } from '../../../../runtime/plain-data.ts';
import {
  hasEnded,
  isProcessIdentity,
  type ProcessIdentity,
  thisProcess,
} from '../../../../runtime/process-identity.ts';
import { backgroundClock } from '../../../../runtime/telemetry/clock.ts';
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
import { KeyRing, openEntry, sealEntry } from '../../sealing/key-ring.ts';
import {
  ensureStream,
  isWrongSequence,
  type JetStream,
  jetStreamOf,
  type LinkedBus,
  whileConnected,
} from './common.ts';

const NAME = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,3}$/;
const ENTRY_BYTES_MAX = 4096;
/** Entries that are read in parallel while names are listed. */
const READS_MAX = 32;
/** Tries of one acquisition: between a release and the next look, another process may be quicker. */
const TRIES_MAX = 3;
/** The part of a lease's TTL that its holder relies on. The rest is a margin for late timers and unequal clocks. */
const SURE = 13 / 15;

interface NatsLeasesOptions {
  clock?: Clock;
  /** Replicas of the bucket. 1 when absent. */
  replicas?: number;
  /** The TTL, if this process creates the bucket. */
  leaseMs?: number;
}

/** The stored entry of a name. */
interface Entry {
  /** The writing process: a random value of each start. */
  claim: string;
  /** The fencing token. Absent in the write that acquired the name: there it is that write's own sequence in the stream. */
  taken?: number;
  /** In the write that acquired the name: the stream's last sequence when it was sent. */
  after?: number;
  /** Absent in entries of older versions. */
  process?: ProcessIdentity;
  value: LeaseValue;
}

interface Bucket {
  kv: KV;
  stream: JetStream;
  name: string;
  times: LeaseTimes;
  /** Keeps fencing tokens growing when the bucket is created again, with sequences from 1. */
  baseRevision: number;
}

/** `entry` is undefined when it was not written by a node of this gateway. */
type Found = { entry: Entry | undefined; sequence: number; revision: number };

/** Leases on that bus. The first call contacts NATS and creates the bucket if it is missing. */
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
          // The name is free, or its holder was a process that was killed, or this process, which lost it or never got the
          // answer.
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

  /** Whether a name with that prefix was written with another secret. Rejects with BusError. */
  async isForeign(prefix: string): Promise<boolean> {
    const found = await this.#found(prefix);
    return found.some(([, { entry }]) => entry === undefined);
  }

  /** Releases every name. Never rejects. */
  async close(): Promise<void> {
    this.#detach();
    await Promise.all([...this.#held.values()].map((lease) => lease.release()));
  }

  /**
   * Another process holds the name. One of this machine that has ended is not waited for: this is usually its restart. An entry
   * that no node of this gateway wrote may hide a real holder's, and is left until it expires.
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
        // The next call looks for the bucket and creates it if it is missing.
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
      // In memory, a restart of the server would begin the sequences again.
      storage: StorageType.File,
      num_replicas: this.#replicas,
      max_age: nanos(this.#leaseMs),
      max_msgs_per_subject: 1,
      max_msg_size: ENTRY_BYTES_MAX,
      discard: DiscardPolicy.New,
      deny_delete: true,
      allow_rollup_hdrs: true,
      // Read from the leader, not from a replica that may lag behind.
      allow_direct: false,
    });
    // Another process may have created the bucket with another TTL, and that one applies.
    const leaseMs = config.max_age / 1e6;
    if (leaseMs <= 0) throw new Error(`the bucket ${name} keeps entries for ever: remove it, and it is made anew`);
    const kv = await new Kvm(stream.client).open(name);
    const times = { validMs: leaseMs * SURE, renewMs: (leaseMs * RENEW_MS) / LEASE_MS, retryMs: leaseMs / 15 };
    return { kv, stream, name, times, baseRevision: Date.parse(created) };
  }
}

const streamOf = ({ name }: Bucket): string => `KV_${name}`;

const lastSequence = async (bucket: Bucket): Promise<number> =>
  (await bucket.stream.manager.streams.info(streamOf(bucket))).state.last_seq;

/**
 * Whether the process that acquired the name with that revision still holds it: the entry is its own, was not written by a node of
 * this gateway, or is a replay from before the acquisition. A later holder would have written none of these.
 */
function isNoNewer({ entry, revision }: Found, taken: number, { baseRevision }: Bucket): boolean {
  if (entry === undefined) return true;
  if (entry.taken === undefined && entry.after !== undefined) return baseRevision + entry.after < taken;
  return revision <= taken;
}

/** Undefined when no node of this gateway can have written it. */
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

/** The operations on the entry of this name; each rejects with BusError. Sequences are those of the stream. */
interface LeaseWrites {
  /** Overwrites the entry with that sequence. Resolves with the new sequence. */
  renew(sequence: number, value: LeaseValue): Promise<number>;
  /** The sequence of the current entry; undefined when another process has acquired the name since. */
  ownSequence(): Promise<number | undefined>;
  remove(sequence: number): Promise<void>;
}

interface LeaseTimes {
  /** How long the lease is valid after the moment at which a renewal was sent. */
  validMs: number;
  renewMs: number;
  /** The delay before a failed renewal is tried again. */
  retryMs: number;
}

interface Taken {
  name: string;
  revision: number;
  sequence: number;
  value: LeaseValue;
  /** By the monotonic clock, taken before the write was sent. */
  sentAtMs: number;
}

/** One held lease: renews it in time, knows until when it is valid, and reports its loss. */
class NatsLease implements Lease {
  readonly name: string;
  readonly revision: number;
  readonly #clock: Clock;
  readonly #times: LeaseTimes;
  readonly #writes: LeaseWrites;
  readonly #onEnd: (isLost: boolean) => void;
  #value: LeaseValue;
  #sequence: number;
  #validUntilMs = 0;
  #isEnded = false;
  #validity: unknown;
  #next: unknown;
  #renewing: Promise<void> | undefined;

  constructor(
    taken: Taken,
    writes: LeaseWrites,
    { clock, times, onEnd }: { clock: Clock; times: LeaseTimes; onEnd: (isLost: boolean) => void },
  ) {
    this.name = taken.name;
    this.revision = taken.revision;
    this.#sequence = taken.sequence;
    this.#value = taken.value;
    this.#writes = writes;
    this.#clock = clock;
    this.#times = times;
    this.#onEnd = onEnd;
    this.#confirm(taken.sentAtMs);
    this.#renewIn(times.renewMs);
  }

  get isValid(): boolean {
    return !this.#isEnded && this.#clock.now() < this.#validUntilMs;
  }

  update(value: LeaseValue): void {
    this.#value = value;
  }

  /** Connected again: renew now if a renewal is due. */
  renewNow(): void {
    this.#renewIn(0);
  }

  async release(): Promise<void> {
    if (this.#isEnded) return;
    this.#end(false);
    // A renewal that is in progress would write the entry again.
    await this.#renewing;
    try {
      await this.#remove();
    } catch {
      // The entry expires soon.
    }
  }

  async #remove(): Promise<void> {
    try {
      await this.#writes.remove(this.#sequence);
    } catch (error) {
      const sequence = isWrongSequence(error) ? await this.#writes.ownSequence() : undefined;
      if (sequence !== undefined) await this.#writes.remove(sequence);
    }
  }

  #renewIn(delayMs: number): void {
    if (this.#isEnded) return;
    this.#clock.clearTimeout(this.#next);
    this.#next = this.#clock.setTimeout(() => {
      if (this.#isEnded || this.#renewing !== undefined) return;
      this.#renewing = this.#renew().then((delayMs) => {
        this.#renewing = undefined;
        this.#renewIn(delayMs);
      });
    }, delayMs);
  }

  /** Resolves with the time until the next renewal. */
  async #renew(): Promise<number> {
    const sentAtMs = this.#clock.now();
    try {
      this.#sequence = await this.#writes.renew(this.#sequence, this.#value);
      this.#confirm(sentAtMs);
      return this.#times.renewMs;
    } catch (error) {
      if (isWrongSequence(error)) await this.#lookWhose();
      return this.#times.retryMs;
    }
  }

  /** The entry has another sequence; the cause may be an own renewal whose answer was lost. */
  async #lookWhose(): Promise<void> {
    try {
      const sequence = await this.#writes.ownSequence();
      // When that renewal was written is not known, so renew once more to know until when it is valid.
      if (sequence !== undefined) this.#sequence = sequence;
      else this.#end(true);
    } catch {
      // Try again. Its validity does not change.
    }
  }

  #confirm(sentAtMs: number): void {
    if (this.#isEnded) return;
    this.#validUntilMs = sentAtMs + this.#times.validMs;
    this.#clock.clearTimeout(this.#validity);
    this.#validity = this.#clock.setTimeout(() => this.#end(true), this.#validUntilMs - this.#clock.now());
  }

  #end(isLost: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#clock.clearTimeout(this.#next);
    this.#clock.clearTimeout(this.#validity);
    this.#onEnd(isLost);
  }
}
