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
  /** A replica of the accounts that another node owns. */
  isStandby?: boolean | undefined;
  /** Whether customers with limits can begin paid work now. Absent on a node that serves no clients. */
  mayBePaid?: (() => Promise<boolean>) | undefined;
}

/**
 * 503 from the moment the node drains, so that a load balancer sends no clients here any more. A ledger that does not answer is
 * reported, and is a 503 for those who ask about paid work: a balancer that took all nodes away would end free and running work too.
 */
export const getReady =
  ({ isReady, isStandby, mayBePaid }: Readiness) =>
  async ({ request }: RouteContext): Promise<Reply> => {
    const paid = new URLSearchParams(request.query).get('paid') ?? 'false';
    if (paid !== 'true' && paid !== 'false')
      throw apiError('invalid_request', '`paid` is true or false.', { param: 'paid' });
    if (!isReady()) return json(503, { status: isStandby ? 'standby' : 'draining' });
    if (mayBePaid === undefined) return json(200, { status: 'ready' });
    const isPaid = await mayBePaid();
    return json(isPaid || paid === 'false' ? 200 : 503, { status: 'ready', new_paid_sessions: isPaid });
  };

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
