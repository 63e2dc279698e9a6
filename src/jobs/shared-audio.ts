// The audio of the gateway's own jobs where other nodes can have it: each node puts what it accepts there, so that another one can continue
// when it is lost. A job whose audio has no room there is accepted as well, and stays with its node.
import type { Clock } from '../../machines/clock.ts';
import { BusError } from '../cluster/bus/bus.ts';
import type { SharedObjects } from '../cluster/bus/shared-objects.ts';
import { Places } from '../files/remote/places.ts';
import type { RemoteFile } from '../files/remote/remote-audio.ts';
import type { Form } from '../http/multipart/form.ts';
import { Quota } from '../runtime/limits/quota.ts';
import { limitedSignal } from '../runtime/timeouts.ts';

/** Files that a node shares at the same time. */
const AT_ONCE_MAX = 8;
/** How long a client waits for its audio to be shared: so long, and longer for a large file. */
const SHARE_MS = 15_000;
const SHARE_BYTES_A_SECOND = 4 * 1024 * 1024;
/** Of tries to read audio; each waits longer than the one before. */
const READ_TRIES_MAX = 10;
const READ_AGAIN_MS = 1_000;
const READ_AGAIN_MS_MAX = 30_000;

/** `too_large`: for this bucket. `full`: the organisation, or all of them, have as much there as they may. `refused`: NATS did not take it. */
export type Unshared = 'too_large' | 'full' | 'refused';

export interface SharedAudioOptions {
  objects: SharedObjects;
  clock: Clock;
  /** Of the jobs of this node that are not over. */
  bytesMax: number;
  /** Of one. */
  fileBytesMax: number;
  /** A job stays with its node. */
  onUnshared(why: Unshared, error?: unknown): void;
  /** It expires. */
  onFault(error: unknown): void;
}

export class SharedAudio {
  readonly #options: SharedAudioOptions;
  readonly #quota: Quota;
  readonly #places = new Places(AT_ONCE_MAX);

  constructor(options: SharedAudioOptions) {
    this.#options = options;
    this.#quota = new Quota(options.bytesMax);
  }

  /** Bytes of the jobs of this node. */
  get used(): number {
    return this.#quota.used;
  }

  /** Why an organisation could not share so many bytes now; counts them where it can. */
  take(organisationId: string, bytes: number): Unshared | undefined {
    if (bytes > this.#options.fileBytesMax) return 'too_large';
    return this.#quota.take(organisationId, bytes) === undefined ? undefined : 'full';
  }

  /** Whether all nodes can have the file now. What it takes is counted until `leave`. Never rejects. */
  async share(organisationId: string, name: string, file: Pick<Form['file'], 'size' | 'read'>): Promise<boolean> {
    const { objects, clock, onUnshared } = this.#options;
    const { size: bytes = 0 } = file;
    const unshared = this.take(organisationId, bytes);
    if (unshared !== undefined) {
      onUnshared(unshared);
      return false;
    }
    const limit = limitedSignal(clock, SHARE_MS + (bytes / SHARE_BYTES_A_SECOND) * 1_000);
    try {
      const leave = await this.#places.enter(organisationId, limit.signal);
      await objects.put(name, bytes, file.read(), limit.signal).finally(leave);
      return true;
    } catch (error) {
      this.leave(organisationId, bytes);
      onUnshared('refused', error);
      return false;
    } finally {
      limit.release();
    }
  }

  /** That of a job of another node, which this one has adopted. */
  count(organisationId: string, bytes: number): void {
    this.#quota.count(organisationId, bytes);
  }

  /** A job is not this node's any more. */
  leave(organisationId: string, bytes: number): void {
    this.#quota.giveBack(organisationId, bytes);
  }

  /** No node needs it any more. Never rejects: what cannot be removed expires. */
  async remove(name: string): Promise<void> {
    await this.#options.objects.remove(name).catch(this.#options.onFault);
  }

  /** As a file that is fetched. */
  open(
    name: string,
    bytes: number,
    { filename, contentType }: Pick<RemoteFile, 'filename' | 'contentType'>,
  ): RemoteFile {
    const { objects } = this.#options;
    return { filename, contentType, read: () => objects.read(name, bytes), close: () => {} };
  }

  /** Has the file kept on this node, also where NATS does not answer for a while. Rejects with the last reason, or with that of the signal. */
  async keep<Kept>(keep: () => Promise<Kept>, signal: AbortSignal): Promise<Kept> {
    for (let tries = 1; ; tries++) {
      try {
        return await keep();
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (tries === READ_TRIES_MAX || !(error instanceof BusError)) throw error;
        await this.#pause(Math.min(READ_AGAIN_MS_MAX, READ_AGAIN_MS * 2 ** (tries - 1)), signal);
      }
    }
  }

  /** Ends early when the signal aborts. */
  #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return new Promise<void>((resolve) => {
      const timer = clock.setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      function done(): void {
        clock.clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
    });
  }
}
