// Small records that the gateway keeps beyond the life of its processes, in a key-value bucket. A write succeeds only over the
// version that was read (compare and set).
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { isRecord } from '../../../../runtime/plain-data.ts';
import type { LeaseValue } from '../../leases.ts';
import { ensureStream, isWrongSequence, jetStreamOf, type LinkedBus, whileConnected } from './common.ts';

const RECORD_BYTES_MAX = 4096;

export interface FoundRecord {
  value: LeaseValue;
  /** The sequence of the write; 0 when there was none. */
  sequence: number;
}

export interface Records {
  /** Undefined when nothing was written. Rejects with BusError. */
  read(name: string): Promise<FoundRecord | undefined>;
  /**
   * Resolves with the new sequence, or with undefined when another process has written since `over` (0: no earlier write).
   * Rejects with BusError.
   */
  write(name: string, value: LeaseValue, over: number): Promise<number | undefined>;
}

/** Records on that bus. The bucket is created if it is missing. */
export function natsRecords(bus: LinkedBus, { replicas = 1 }: { replicas?: number } = {}): Records {
  const bucket = `${bus.link.prefix}-records`;

  /** Records are read a few times a minute, so each call looks for the bucket. */
  const ask = <Result>(what: string, work: (kv: KV) => Promise<Result>): Promise<Result> =>
    whileConnected(bus, what, async () => {
      const stream = await jetStreamOf(bus);
      await ensureStream(stream.manager, {
        name: `KV_${bucket}`,
        subjects: [`$KV.${bucket}.>`],
        description: 'Voxgate: which ledger is the one of this gateway',
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        num_replicas: replicas,
        max_msgs_per_subject: 1,
        max_msg_size: RECORD_BYTES_MAX,
        discard: DiscardPolicy.New,
        deny_delete: true,
        allow_rollup_hdrs: true,
        // Read from the leader, not from a replica that may lag behind.
        allow_direct: false,
      });
      return work(await new Kvm(stream.client).open(bucket));
    });

  return {
    read: (name) =>
      ask(`reading the record ${name}`, async (kv) => {
        const found = await kv.get(name);
        if (found === null || found.operation !== 'PUT') return undefined;
        const value: unknown = JSON.parse(Buffer.from(found.value).toString());
        return isRecord(value) ? { value, sequence: found.revision } : undefined;
      }),
    write: (name, value, over) =>
      ask(`writing the record ${name}`, async (kv) => {
        try {
          return await kv.put(name, Buffer.from(JSON.stringify(value)), { previousSeq: over });
        } catch (error) {
          if (isWrongSequence(error)) return undefined;
          throw error;
        }
      }),
  };
}
