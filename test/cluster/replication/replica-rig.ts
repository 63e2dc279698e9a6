// Replicas over one log in memory, with simulated time.
import { hashOfEntry } from '../../../src/cluster/bus/replicated-log.ts';
import { bytesOfEntry, type LogEntry } from '../../../src/cluster/replication/entry.ts';
import { Replica, type ReplicaEnd, type ReplicaOptions } from '../../../src/cluster/replication/replica.ts';
import { seeded } from '../../fakes/random.ts';
import { EventClock } from '../../simulation/event-clock.ts';
import { LogClient, LogServer } from './faulty-log.ts';
import { add, type ModelAnswer, ModelStore } from './model-store.ts';

export class Rig {
  readonly clock = new EventClock();
  readonly server = new LogServer();

  replica(more: Partial<ReplicaOptions<ModelAnswer>> = {}) {
    const store = new ModelStore(this.clock);
    const log = new LogClient(this.server, this.clock, seeded(1), { lostRequests: 0, lostAnswers: 0, delayMsMax: 2 });
    const ends: ReplicaEnd[] = [];
    const stuck: unknown[] = [];
    const replica = new Replica<ModelAnswer>({
      ...{ log, store, clock: this.clock },
      wallNowMs: () => 1_800_000_000_000,
      ledger: 'led_0',
      node: 'accounts-0',
      version: 1,
      onOwner: () => {},
      onEnd: (reason) => ends.push(reason),
      onStuck: (error) => stuck.push(error),
      ...more,
    });
    return { replica, store, log, ends, stuck };
  }

  /** An owner with a call that both have, and a replica that follows it. */
  async pair() {
    const first = this.replica();
    const second = this.replica({ claimDelayMs: 500 });
    await first.replica.start();
    await second.replica.start();
    await this.run(3_500);
    const answered = first.replica.propose([add(1, 'a', 5)]);
    await this.run(100);
    await answered;
    return { first, second };
  }

  async run(forMs: number): Promise<void> {
    await this.clock.run(this.clock.now() + forMs, () => false);
  }

  /** Writes what no replica of this test writes. */
  async write(entry: LogEntry, last: Uint8Array | undefined): Promise<Uint8Array> {
    const bytes = bytesOfEntry(entry);
    this.server.append(bytes, hashOfEntry(bytes), {
      sequence: this.server.lastSequence,
      id: last && hashOfEntry(last),
    });
    return bytes;
  }
}
