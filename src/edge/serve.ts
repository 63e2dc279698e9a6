// The whole edge of a node: routes and the live endpoint behind one door. Everything behind them comes from the assembly.
import type { Refusal } from '../api/errors.ts';
import type { Door, DoorOptions, DoorRequest, UpgradeAnswer } from './door.ts';
import { answerListen, answerOtherUpgrade, type ListenDependencies, OpenSockets } from './listen.ts';
import { type DoorChoice, openDoor } from './open-door.ts';
import { createRemoteAddress } from './remote-address.ts';
import { newRequestId } from './request-id.ts';
import { createRouter, refusalOf, refusalReply } from './router.ts';
import { type RoutesDependencies, routesOf } from './routes/index.ts';

export interface EdgeOptions {
  door: DoorChoice;
  address: Omit<DoorOptions, 'onFault' | 'messageBytesMax'>;
  /** As in `VOXGATE_TRUSTED_PROXIES`. */
  trustedProxies?: string | undefined;
  live: Omit<ListenDependencies, 'reply' | 'onRefused' | 'onFault' | 'sockets'>;
  routes: RoutesDependencies;
  onRefused(refusal: Refusal): void;
  onReply(route: string, status: number): void;
  /** What should not have happened, for the log. */
  onFault(error: unknown, requestId: string): void;
  /** The first door cannot be used; the second takes over. */
  onFallback(reason: string): void;
}

/** A node's open edge. */
export interface Edge {
  door: Door;
  /** Takes nobody new; resolves when the live sockets have closed by themselves, and at the latest after the time given. */
  quiet(timeoutMs: number): Promise<void>;
}

/** Opens the door. Rejects with one sentence when the address cannot be had. */
export async function serveEdge(options: EdgeOptions): Promise<Edge> {
  const { live, onRefused, onReply, onFault } = options;
  const requestId = () => newRequestId(live.wallNow().getTime());
  const sockets = new OpenSockets();
  const listen: ListenDependencies = {
    ...live,
    sockets,
    reply: refusalReply,
    onRefused,
    onFault: (id, error) => {
      onFault(error, id);
      return refusalOf(error);
    },
  };
  const route = createRouter(routesOf(options.routes), {
    newRequestId: requestId,
    onFault,
    onReply: (path, status, refusal) => {
      onReply(path, status);
      if (refusal !== undefined) onRefused(refusal);
    },
  });
  const withClientAddress = createRemoteAddress(options.trustedProxies);
  const upgrade = async (peerRequest: DoorRequest): Promise<UpgradeAnswer> => {
    const request = withClientAddress(peerRequest);
    const id = requestId();
    return request.path === '/v1/listen' ? answerListen(request, id, listen) : answerOtherUpgrade(id, listen);
  };
  const { binaryFrameBytesMax, textFrameBytesMax } = live.settings;
  const door = await openDoor(
    options.door,
    { request: (request) => route(withClientAddress(request)), upgrade },
    {
      ...options.address,
      messageBytesMax: Math.max(binaryFrameBytesMax, textFrameBytesMax),
      onFault: (error) => {
        const id = requestId();
        const refusal = refusalOf(error);
        if (refusal.code === 'internal_error') onFault(error, id);
        onRefused(refusal);
        return refusalReply(refusal, id);
      },
    },
    options.onFallback,
  );
  return {
    door,
    quiet: async (timeoutMs) => {
      door.stopListening();
      await sockets.gone(live.clock, timeoutMs);
    },
  };
}
