// The whole edge of a node: routes and the live endpoint behind one door. Everything behind them comes from the assembly.
import { randomBytes } from 'node:crypto';
import type { Refusal } from '../api/errors.ts';
import type { Door, DoorOptions, DoorRequest, UpgradeAnswer } from './door.ts';
import { answerListen, answerOtherUpgrade, type ListenDependencies } from './listen.ts';
import { type DoorChoice, openDoor } from './open-door.ts';
import { newRequestId } from './request-id.ts';
import { createRouter, refusalOf, refusalReply } from './router.ts';
import { type RoutesDependencies, routesOf } from './routes/index.ts';

export interface EdgeOptions {
  door: DoorChoice;
  address: Omit<DoorOptions, 'onFault' | 'messageBytesMax'>;
  live: Omit<ListenDependencies, 'reply' | 'onRefused' | 'onFault'>;
  routes: RoutesDependencies;
  onRefused(refusal: Refusal): void;
  onReply(route: string, status: number): void;
  /** What should not have happened, for the log. */
  onFault(error: unknown, requestId: string): void;
  /** The first door cannot be used; the second takes over. */
  onFallback(reason: string): void;
}

/** Opens the door. Rejects with one sentence when the address cannot be had. */
export function serveEdge(options: EdgeOptions): Promise<Door> {
  const { live, onRefused, onReply, onFault } = options;
  const requestId = () => newRequestId(live.wallNow().getTime(), randomBytes(10));
  const listen: ListenDependencies = {
    ...live,
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
  const upgrade = async (request: DoorRequest): Promise<UpgradeAnswer> => {
    const id = requestId();
    return request.path === '/v1/listen' ? answerListen(request, id, listen) : answerOtherUpgrade(id, listen);
  };
  const { binaryFrameBytesMax, textFrameBytesMax } = live.settings;
  return openDoor(
    options.door,
    { request: route, upgrade },
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
}
