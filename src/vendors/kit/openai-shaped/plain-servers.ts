// Servers that refused `verbose_json` and then gave a file's text in `json`: for a while they are asked for `json` at once, since
// every refusal costs an upload. After that they are asked again, in case a newer version gives more.
import type { BatchRequest } from '../../provider.ts';

/** Files until a server is asked for more again. */
export const PLAIN_FILES = 100;
/** Beyond it the one that was remembered first is forgotten. */
export const PLAIN_SERVERS_MAX = 1_000;

export class PlainServers {
  /** Files that are left, by server, model and whether words are requested. */
  readonly #left = new Map<string, number>();
  readonly #refused = new WeakSet<BatchRequest>();

  /** Whether this file is to be requested in `json`. Counts it. */
  isPlain(request: BatchRequest): boolean {
    const key = keyOf(request);
    const left = this.#left.get(key);
    if (left === undefined || !isUsual(request)) return false;
    if (left === 1) this.#left.delete(key);
    else this.#left.set(key, left - 1);
    return true;
  }

  /** `verbose_json` was refused. */
  refused(request: BatchRequest): void {
    if (isUsual(request)) this.#refused.add(request);
  }

  answered(request: BatchRequest): void {
    if (!this.#refused.delete(request)) return;
    const [first] = this.#left.keys();
    if (this.#left.size >= PLAIN_SERVERS_MAX && first !== undefined) this.#left.delete(first);
    this.#left.set(keyOf(request), PLAIN_FILES);
  }
}

/** Options of one request may be what was refused, and say nothing of those of others. */
const isUsual = ({ params }: BatchRequest): boolean => Object.keys(params).length === 0;

const keyOf = ({ access, model, wordTimestamps }: BatchRequest): string =>
  JSON.stringify([access.baseUrl, access.model, model, wordTimestamps]);
