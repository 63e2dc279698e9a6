// `/healthz`, `/readyz` and `/metrics`, for the operator and the balancer.
import { createHash, timingSafeEqual } from 'node:crypto';
import { isPrivateRequest, type Reach } from '../../accounts/console-login/reach.ts';
import { apiError } from '../../api/errors.ts';
import { readRestCredential } from '../../http/credentials.ts';
import { json, type RouteContext } from '../../http/router.ts';
import type { Reply } from '../../http/server.ts';

const NOT_OPEN =
  'The metrics are not open here. Set VOXGATE_METRICS_TOKEN and send it as a bearer credential; without it they are open on a node that listens on this machine alone, to this machine, under the name localhost or a loopback address.';

export const getHealth = () => async (): Promise<Reply> => json(200, { status: 'ok' });

export interface Readiness {
  isReady(): boolean;
  /** Whether a replica of the accounts that another node owns could take over now. Absent on every other node. */
  isCurrentStandby?: (() => boolean) | undefined;
  /** Whether customers with limits can begin paid work now. Absent on a node that serves no clients. */
  mayBePaid?: (() => Promise<boolean>) | undefined;
}

/**
 * 503 from the moment the node drains, so that a load balancer sends no clients here any more. A ledger that does not answer is
 * reported, and is a 503 for those who ask about paid work: a balancer that took all nodes away would end free and running work too.
 * A standby is a 503 except for those who ask about standbys: a rolling restart waits until one could take over.
 */
export const getReady =
  ({ isReady, isCurrentStandby, mayBePaid }: Readiness) =>
  async ({ request }: RouteContext): Promise<Reply> => {
    const query = new URLSearchParams(request.query);
    const isPaidAsked = flagIn(query, 'paid');
    const isStandbyAsked = flagIn(query, 'standby');
    if (isCurrentStandby !== undefined)
      return json(isStandbyAsked && isCurrentStandby() ? 200 : 503, { status: 'standby' });
    if (!isReady()) return json(503, { status: 'draining' });
    if (mayBePaid === undefined) return json(200, { status: 'ready' });
    const isPaid = await mayBePaid();
    return json(isPaid || !isPaidAsked ? 200 : 503, { status: 'ready', new_paid_sessions: isPaid });
  };

function flagIn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? 'false';
  if (value !== 'true' && value !== 'false')
    throw apiError('invalid_request', `\`${name}\` is true or false.`, { param: name });
  return value === 'true';
}

export interface MetricsAccess extends Pick<Reach, 'isPrivate'> {
  /** Clients that send it as a bearer credential may read the metrics. Without it they are open to private requests alone. */
  token: string | undefined;
}

/** What the metrics say is the operator's business: how much is used, and what it costs. */
export const getMetrics =
  (read: () => Promise<{ contentType: string; body: string }>, { token, ...reach }: MetricsAccess) =>
  async ({ request }: RouteContext): Promise<Reply> => {
    const sent = readRestCredential(request.headers.get('authorization'));
    // A page that a browser on this machine has open may have given its own name this machine's address.
    const isOpen = token === undefined ? isPrivateRequest(reach, request) : sent !== undefined && isSame(sent, token);
    if (!isOpen) throw apiError('not_found', NOT_OPEN);
    const { contentType, body } = await read();
    return { status: 200, headers: { 'Content-Type': contentType }, body };
  };

/** In the same time wherever they differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
