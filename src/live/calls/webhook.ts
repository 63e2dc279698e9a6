// The events of one call, posted to an address of the customer's: in their order, several at a time where it is slow, signed as
// Standard Webhooks are. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { type ClientRequestArgs, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { BlockList } from 'node:net';
import type { Clock } from '../../../machines/clock.ts';
import { reachableLookup, requireReachable } from '../../runtime/outbound/reachable.ts';
import { webhookHeaders } from '../../runtime/outbound/signature.ts';

/** What waits while a post is in progress or is tried again; the oldest is left out beyond it, and the next post says so. */
const WAITING_CHARS_MAX = 1024 * 1024;
const WAITING_MAX = 1_000;
/** Events of one post. */
const BATCH_MAX = 100;
/** Waits before further attempts; after the last one the events are left out. */
const AGAIN_MS = [500, 1_000, 2_000, 4_000, 8_000];
/** The receiver wants no more. */
const GONE = 410;

export interface WebhookOptions {
  url: URL;
  secret: string | undefined;
  /** What stands in every post beside the events. */
  about: object;
  /** Of the session. */
  id: string;
  post: Post;
  clock: Clock;
  wallNow(): Date;
  /** An event was left out. */
  dropped(): void;
  /** Nothing more is to be posted. */
  done(): void;
}

export class Webhook {
  readonly #options: WebhookOptions;
  #waiting: string[] = [];
  #waitingChars = 0;
  /** Left out since the last post that was taken. */
  #dropped = 0;
  #posts = 0;
  #isPosting = false;
  #isEnding = false;
  #isOver = false;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  say(event: string): void {
    if (this.#isOver || this.#isEnding) return;
    this.#waiting.push(event);
    this.#waitingChars += event.length;
    while (this.#waiting.length > WAITING_MAX || this.#waitingChars > WAITING_CHARS_MAX) {
      this.#take(1);
      this.#drop(1);
    }
    if (!this.#isPosting) void this.#run();
  }

  /** Nothing more is said. */
  end(): void {
    this.#isEnding = true;
    if (!this.#isPosting) this.#finish();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isPosting = true;
    while (this.#waiting.length > 0) {
      const events = this.#take(BATCH_MAX);
      const dropped = this.#dropped;
      if (await this.#deliver(events, dropped)) this.#dropped -= dropped;
      else this.#drop(events.length);
    }
    this.#isPosting = false;
    if (this.#isEnding) this.#finish();
  }

  async #deliver(events: readonly string[], dropped: number): Promise<boolean> {
    const { clock, id, about } = this.#options;
    this.#posts++;
    const post = `${id}.${this.#posts}`;
    const head = JSON.stringify({ ...about, dropped }).slice(0, -1);
    const body = `${head},"events":[${events.join(',')}]}`;
    for (const againMs of [...AGAIN_MS, undefined]) {
      const status = await this.#post(post, body);
      if (status >= 200 && status < 300) return true;
      if (status === GONE) this.#stop();
      if (againMs === undefined || this.#isOver) return false;
      await new Promise<void>((resolve) => clock.setTimeout(resolve, againMs));
    }
    return false;
  }

  /** 0 where there is no answer. */
  async #post(id: string, body: string): Promise<number> {
    const { url, secret, post, wallNow } = this.#options;
    try {
      return await post(url, webhookHeaders(secret === undefined ? [] : [secret], id, wallNow(), body), body);
    } catch {
      return 0;
    }
  }

  #take(count: number): string[] {
    const events = this.#waiting.splice(0, count);
    for (const { length } of events) this.#waitingChars -= length;
    return events;
  }

  #drop(count: number): void {
    this.#dropped += count;
    for (let each = 0; each < count; each++) this.#options.dropped();
  }

  #stop(): void {
    this.#isOver = true;
    this.#drop(this.#take(this.#waiting.length).length);
  }

  #finish(): void {
    this.#isOver = true;
    this.#options.done();
  }
}

const POST_MS = 10_000;
/** Of one customer to one address; further posts wait for these. */
const CONNECTIONS_MAX = 8;
/** What is read of an answer; a longer one costs its connection. */
const ANSWER_BYTES_MAX = 65_536;
/** Kept open for the next post. */
const IDLE_MAX = 64;

/** Resolves with the status. Rejects where there is none. */
export type Post = (url: URL, headers: Readonly<Record<string, string>>, body: string) => Promise<number>;

/** Connections of one customer, whose receivers keep nobody else's posts waiting. */
const named = <Options>(name: string, options: Options | undefined): string =>
  `${name}:${(options as { customer?: string } | undefined)?.customer ?? ''}`;

class PlainAgent extends HttpAgent {
  override getName(options?: ClientRequestArgs): string {
    return named(super.getName(options), options);
  }
}

class TlsAgent extends HttpsAgent {
  override getName(options?: RequestOptions): string {
    return named(super.getName(options), options);
  }
}

export interface Poster {
  /** Posts of one customer. */
  postOf(customer: string): Post;
  /** Ends idle connections, and what is in progress. */
  close(): void;
}

/** @param networks private ones that may be reached */
export function openPoster(networks: BlockList | undefined): Poster {
  const limits = { keepAlive: true, maxSockets: CONNECTIONS_MAX, maxFreeSockets: IDLE_MAX, timeout: POST_MS };
  const plain = new PlainAgent({ ...limits });
  const tls = new TlsAgent({ ...limits });
  const lookups = { 'http:': reachableLookup(networks, false), 'https:': reachableLookup(networks, true) };
  const post = async (
    customer: string,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<number> => {
    const isTls = url.protocol === 'https:';
    requireReachable(url, networks);
    const options: ClientRequestArgs & { customer: string } = {
      customer,
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
      agent: isTls ? tls : plain,
      lookup: lookups[isTls ? 'https:' : 'http:'],
      signal: AbortSignal.timeout(POST_MS),
    };
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(url, options, (response) => {
        let bytes = 0;
        response
          .on('error', () => {})
          .on('data', (chunk: Buffer) => {
            bytes += chunk.byteLength;
            if (bytes > ANSWER_BYTES_MAX) response.destroy();
          });
        resolve(response.statusCode ?? 0);
      });
      request.on('error', reject);
      request.end(body);
    });
  };
  return {
    postOf: (customer) => (url, headers, body) => post(customer, url, headers, body),
    close: () => {
      plain.destroy();
      tls.destroy();
    },
  };
}
