// The whole edge of a node: routes and the live endpoint behind one server; or, on a node without clients, what its operator asks.
// Everything behind them comes from the assembly.

import type { Clock } from '../../machines/clock.ts';
import type { ApiError } from '../api/errors.ts';
import { answerDialect, type VendorLiveDependencies } from '../compat/live.ts';
import { dialectAt, notServedAt, withDialect } from '../compat/routes.ts';
import { openServer, type ServerChoice } from '../http/open-server.ts';
import { createRemoteAddress, createStayWithTls } from '../http/proxies.ts';
import { createRouter, errorReply, newRequestId, type Route, toApiError } from '../http/router.ts';
import type { HttpServer, HttpServerOptions, ServerRequest, UpgradeAnswer } from '../http/server.ts';
import { Calls } from '../live/calls/calls.ts';
import { CallWatching, callOf } from '../live/calls/watch-call.ts';
import { OpusPlaces } from '../live/pace/coded-messages.ts';
import { SocketPaces } from '../live/pace/socket-pace.ts';
import { InFlightChunks } from '../live/resume/relay/client-end.ts';
import { Relays, type RelaysOptions } from '../live/resume/relay/relays.ts';
import { ResumableSessions, resumeService } from '../live/resume/resumable-sessions.ts';
import { answerListen, answerOtherUpgrade } from '../live/socket/listen.ts';
import { OpenSockets, UnauthenticatedSockets } from '../live/socket/open-sockets.ts';
import { WaitingWork } from '../live/socket/socket-work.ts';
import { parseNetworks } from '../runtime/network-addresses.ts';
import { notFoundPage } from './routes/console/app.ts';
import {
  type LinksDependencies,
  linkRoutes,
  type OperatorDependencies,
  operatorRoutes,
  type RoutesDependencies,
  routesOf,
} from './routes/index.ts';

/** What every server of a node is opened with. */
export interface NodeServerOptions {
  adapter: ServerChoice;
  address: Omit<HttpServerOptions, 'onFault' | 'messageBytesMax' | 'silenceMs'>;
  /** As in `VOXGATE_TRUSTED_PROXIES`. */
  trustedProxies?: string | undefined;
  /** Browsers reach the gateway by TLS, whoever speaks it. */
  isBehindTls: boolean;
  wallNow(): Date;
  onRefused(refusal: ApiError): void;
  onReply(route: string, status: number): void;
  /** What should not have happened, for the log. */
  onFault(error: unknown, requestId: string): void;
  /** The preferred adapter cannot be used; the other one serves. */
  onFallback(reason: string, isExpected: boolean): void;
}

export interface EdgeOptions extends NodeServerOptions {
  live: Omit<
    VendorLiveDependencies,
    | 'reply'
    | 'onRefused'
    | 'onFault'
    | 'sockets'
    | 'paces'
    | 'waiting'
    | 'opus'
    | 'late'
    | 'resumables'
    | 'relays'
    | 'calls'
  > &
    Pick<RelaysOptions, 'bus' | 'isNodeThere' | 'onRelayDrop'> & { settings: RelaysOptions['settings'] };
  routes: RoutesDependencies;
}

export interface OperatorOptions extends NodeServerOptions {
  routes: OperatorDependencies & LinksDependencies;
  clock: Clock;
}

/** A node's open edge. */
export interface Edge {
  server: HttpServer;
  /**
   * The node is shut down. Resolves when the clients of other nodes' sessions have left, and none may come back any more that has not
   * heard the end of its own.
   *
   * @param sessions when all sessions of this node have ended
   */
  drain(sessions: Promise<void> | undefined): Promise<void>;
  /** Accepts no new sockets; resolves when the live sockets have closed on their own, and at the latest after the time given. */
  quiet(timeoutMs: number): Promise<void>;
}

/** Opens the server for clients. Rejects with one sentence when the address cannot be had. */
export function serveEdge(options: EdgeOptions): Promise<Edge> {
  const { live } = options;
  const { binaryFrameBytesMax, textFrameBytesMax, startMessageBytesMax } = live.settings;
  const messageBytesMax = Math.max(binaryFrameBytesMax, textFrameBytesMax, startMessageBytesMax);
  return serve(options, routesOf(options.routes), live.clock, messageBytesMax, live);
}

/** No client has anything to send here. */
const OPERATOR_MESSAGE_BYTES_MAX = 1_024;

const NO_CLIENTS =
  'This node serves no clients: `edge` is not among its roles (VOXGATE_ROLES). Ask a node that has it; here are /healthz, /readyz and /metrics.';

/** Opens the server of a node that serves no clients, for health and metrics. Rejects in the same way. */
export function serveOperator(options: OperatorOptions): Promise<Edge> {
  const { routes, clock } = options;
  return serve(options, [...operatorRoutes(routes), ...linkRoutes(routes)], clock, OPERATOR_MESSAGE_BYTES_MAX);
}

async function serve(
  options: NodeServerOptions,
  routes: Route[],
  clock: Clock,
  messageBytesMax: number,
  live?: EdgeOptions['live'],
): Promise<Edge> {
  const { wallNow, onRefused, onReply, onFault } = options;
  const requestId = () => newRequestId(wallNow().getTime());
  /** What the router has told of: the server reports it again where an answer fails behind its head. */
  const told = new WeakSet<object>();
  const route = createRouter(routes, {
    newRequestId: requestId,
    notFoundPage: (request, refusal) => notFoundPage(request, refusal, live !== undefined),
    notFoundAt: (path) => (live === undefined ? NO_CLIENTS : notServedAt(path)),
    refusalAt: (path) => (live === undefined ? undefined : dialectAt(path)?.dialect.refusal),
    onFault: (error, id) => {
      if (error instanceof Error) told.add(error);
      onFault(error, id);
    },
    onReply: (path, status, refusal) => {
      onReply(path, status);
      if (refusal === undefined) return;
      told.add(refusal);
      onRefused(refusal);
    },
  });
  const sockets = new OpenSockets();
  const withClientAddress = createRemoteAddress(options.trustedProxies);
  const { isBehindTls, trustedProxies } = options;
  const tlsHeaders = createStayWithTls({ always: isBehindTls, trustedProxies });
  const { upgrade, close, drain } = upgrades(options, sockets, live);
  const server = await openServer(
    options.adapter,
    {
      request: async (request) => {
        const headers = tlsHeaders(request);
        const isTls = 'Strict-Transport-Security' in headers;
        const reply = await route(withDialect({ ...withClientAddress(request), isTls }));
        return { ...reply, headers: { ...headers, ...reply.headers } };
      },
      upgrade: async (request) => upgrade(withDialect(withClientAddress(request)), requestId()),
    },
    {
      ...options.address,
      messageBytesMax,
      ...(live === undefined ? {} : { silenceMs: live.settings.pingMs + live.settings.pongMs }),
      onFault: (error) => {
        const id = requestId();
        const refusal = toApiError(error);
        const isTold = error instanceof Error && told.has(error);
        if (refusal.code === 'internal_error' && !isTold) onFault(error, id);
        if (!isTold) onRefused(refusal);
        return errorReply(refusal, id);
      },
    },
    options.onFallback,
  );
  return {
    ...{ server, drain },
    quiet: async (timeoutMs) => {
      server.stopListening();
      await sockets.gone(clock, timeoutMs);
      close();
    },
  };
}

type Upgrade = (request: ServerRequest, requestId: string) => UpgradeAnswer | Promise<UpgradeAnswer>;

function upgrades(
  { onRefused, onFault }: NodeServerOptions,
  sockets: OpenSockets,
  live?: EdgeOptions['live'],
): Pick<Edge, 'drain'> & { upgrade: Upgrade; close(): void } {
  const answers = {
    reply: errorReply,
    onRefused,
    onFault: (id: string, error: unknown) => {
      onFault(error, id);
      return toApiError(error);
    },
  };
  if (live === undefined)
    return { upgrade: (_, id) => answerOtherUpgrade(id, answers), close() {}, drain: async () => {} };
  const { clock, settings, wallNow, onResumableEvicted } = live;
  const resumables = new ResumableSessions(clock, settings.resumeMs, wallNow, onResumableEvicted);
  const { resumeMs: keptMs, webhookNetworks } = settings;
  const networks = webhookNetworks === undefined ? undefined : parseNetworks(webhookNetworks);
  const calls = new Calls({ clock, wallNow, keptMs, networks, posts: sockets, onDrop: live.onCallDrop });
  const common = { ...live, sockets, waiting: new WaitingWork(), parts: new InFlightChunks() };
  const relays = new Relays(common, resumeService(resumables));
  const listen: VendorLiveDependencies = {
    ...common,
    paces: new SocketPaces(live.settings, undefined, live.onSmallSocket),
    opus: new OpusPlaces(),
    late: new UnauthenticatedSockets(live.settings),
    ...{ resumables, relays, calls },
    ...answers,
  };
  const watching = new CallWatching(calls, common, listen);
  const upgrade: Upgrade = (request, id) => {
    if (request.path === '/v1/listen') return answerListen(request, id, listen);
    const call = callOf(request.path);
    if (call !== undefined) return watching.answer(call, request, id);
    const of = dialectAt(request.path);
    return of === undefined ? answerOtherUpgrade(id, listen) : answerDialect(of.dialect, of.path, request, id, listen);
  };
  return {
    upgrade,
    close: () => calls.close(),
    drain: async (sessions) => {
      const heard = sessions?.then(() => resumables.heard());
      await Promise.all([relays.drain(), watching.drain(), heard]);
    },
  };
}
