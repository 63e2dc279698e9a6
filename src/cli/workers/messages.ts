// What the first process of `voxgate serve --workers` and its workers tell each other, and the worker's end of it. When a
// worker is started and ended is the first process's decision.
import cluster from 'node:cluster';
import type { FirstSecrets } from '../serve/first-secrets.ts';
import { EXIT } from '../shared/output.ts';
import { onSignals } from '../shared/signals.ts';

/** What a worker tells when it listens. */
export interface Listening {
  type: 'listening';
  url: string;
  /** What this start has to show once. */
  first: FirstSecrets;
}

/**
 * What a worker is told. `drain`: no new sessions, live ones end at a turn boundary. `last`: no other process needs it any more, a drain
 * may come to its end. `stop`: at once.
 */
export type Order = 'drain' | 'last' | 'stop';

/** The time for everything to close in order once the first process is gone. */
const ALONE_MS = 5_000;

/** The worker's end. */
export class FirstProcess {
  /** Resolves when a drain may come to its end: others may still have needed this process's accounts. */
  readonly needsNobody: Promise<void>;
  #free!: () => void;

  private constructor() {
    this.needsNobody = new Promise((resolve) => {
      this.#free = resolve;
    });
  }

  /** Undefined where this process was not started by another that looks after it. */
  static ofThisWorker(): FirstProcess | undefined {
    return cluster.isWorker ? new FirstProcess() : undefined;
  }

  tell(message: Listening): void {
    process.send?.(message);
  }

  /**
   * Obeys until what it returns is called. A signal from another process drains, and never stops: a terminal and a service manager
   * tell the whole group what the first process tells its workers already. Without a first process, it ends.
   */
  obey(gateway: { drain(): void; stop(): void }): () => void {
    const order = (given: Order) => {
      if (given === 'drain') gateway.drain();
      else if (given === 'stop') gateway.stop();
      else if (given === 'last') this.#free();
    };
    const orphaned = () => {
      // It would exit without closing its clients' connections in order.
      this.#staysAfterDisconnect();
      this.#free();
      gateway.stop();
      setTimeout(() => process.exit(EXIT.failed), ALONE_MS).unref();
    };
    process.on('message', order);
    cluster.worker?.once('disconnect', orphaned);
    const ignoreSignals = onSignals(() => {
      this.#free();
      gateway.drain();
    });
    return () => {
      process.off('message', order);
      cluster.worker?.off('disconnect', orphaned);
      ignoreSignals();
    };
  }

  /** Nothing is heard any more, so that the process can end. */
  leave(): void {
    this.#staysAfterDisconnect();
    if (process.connected) process.disconnect();
  }

  /** Otherwise the process ends in the middle of things, with code 0. */
  #staysAfterDisconnect(): void {
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  }
}
