// What a gateway has to remember beyond all its processes, in a key-value bucket of its own: small records by name, each written
// only over the one that was read. What they say is decided in src/cluster.
import { DiscardPolicy, type KV, RetentionPolicy, StorageType } from 'nats';
import { isRecord } from '../../../runtime/record.ts';
import type { LeaseValue } from '../../leases.ts';
import { ensureStream, isWrongSequence, jetStreamOf, type LinkedBus, whileConnected } from './common.ts';

const RECORD_BYTES_MAX = 4096;

export interface FoundRecord {
  value: LeaseValue;
  /** Of the writing; 0 where there was none. */
  sequence: number;
}

export interface Records {
  /** Undefined where nothing was written. Rejects with BusError. */
  read(name: string): Promise<FoundRecord | undefined>;
  /** Resolves with the sequence; undefined when somebody else has written since `over`, which is 0 for the first writing. Rejects with BusError. */
  write(name: string, value: LeaseValue, over: number): Promise<number | undefined>;
}

/** Records on that bus. A bucket that is missing is made. */
export function natsRecords(bus: LinkedBus, { replicas = 1 }: { replicas?: number } = {}): Records {
  const bucket = `${bus.link.prefix}-records`;

  /** They are asked for a few times a minute: the bucket is looked for each time. */
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
        // Reads come from the server that decides, not from one that may be behind.
        allow_direct: false,
      });
      return work(await stream.client.views.kv(bucket, { bindOnly: true }));
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
