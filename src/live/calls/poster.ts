// One POST of JSON to an address of a customer's: no redirects, nothing read of the answer but its status, and a time for all of it.
import { type ClientRequestArgs, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { type BlockList, isIP } from 'node:net';
import { isReachable, notReachable, reachableLookup } from './reachable.ts';

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
  /** Ends idle connections, and what is under way. */
  close(): void;
}

/** @param networks private ones that may be reached */
export function openPoster(networks: BlockList | undefined): Poster {
  const limits = { keepAlive: true, maxSockets: CONNECTIONS_MAX, maxFreeSockets: IDLE_MAX, timeout: POST_MS };
  const plain = new PlainAgent({ ...limits });
  const tls = new TlsAgent({ ...limits });
  const lookups = { 'http:': reachableLookup(networks, false), 'https:': reachableLookup(networks, true) };
  const post = (
    customer: string,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<number> => {
    const isTls = url.protocol === 'https:';
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    // An address is not looked up.
    if (isIP(literal) !== 0 && !isReachable(literal, networks, isTls)) return Promise.reject(notReachable(literal));
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
