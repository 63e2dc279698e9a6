// The live endpoint with only what a handshake touches behind it; `heard` is what the sessions and the limits were told.
import { SimulatedClock } from 'xstate';
import { BLOCK_BYTES } from '../../../src/audio/tape/blocks.ts';
import { FileSpools } from '../../../src/audio/tape/spool.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { emptyBody } from '../../../src/http/request-body.ts';
import { errorReply, toApiError } from '../../../src/http/router.ts';
import type { ServerRequest, ServerSocket, SocketHandlers } from '../../../src/http/server.ts';
import { OpusPlaces } from '../../../src/live/pace/coded-messages.ts';
import { SocketPaces } from '../../../src/live/pace/socket-pace.ts';
import { answerListen } from '../../../src/live/socket/listen.ts';
import type { ListenDependencies } from '../../../src/live/socket/listen-dependencies.ts';
import { OpenSockets, UnauthenticatedSockets } from '../../../src/live/socket/open-sockets.ts';
import { WaitingWork } from '../../../src/live/socket/socket-work.ts';
import { Quota } from '../../../src/runtime/limits/quota.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../../src/vendors/loopback/simulator.ts';
import { callerOf } from '../../fakes/api-keys.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

export const request: ServerRequest = {
  method: 'GET',
  path: '/v1/listen',
  query: 'model=loopback/script',
  headers: new Map([['authorization', 'Bearer key']]),
  remoteAddress: '192.0.2.7',
  signal: new AbortController().signal,
  body: () => emptyBody(),
};

export const socket = {
  ping: () => {},
  terminate: () => {},
  send: () => {},
  close: () => {},
} as unknown as ServerSocket;

/** Spools of one folder, as a node has them. */
export function spoolsOf(bytesMax = 1_073_741_824): FileSpools {
  const onFault = (error: Error) => {
    throw error;
  };
  const quota = new Quota(Math.floor(bytesMax / BLOCK_BYTES));
  return new FileSpools({ directory: temporaryDirectory(), quota, onFault });
}

interface Altered {
  open?: () => unknown;
  openMeter?: () => Promise<unknown>;
  takeSession?: () => () => void;
  query?: string;
  spools?: FileSpools;
  binaryFrameBytesMax?: number;
  waiting?: WaitingWork;
  late?: UnauthenticatedSockets;
  /** In place of the one that lets everybody in. */
  judge?: ListenDependencies['authenticator']['socket'];
}

export function listenRig(altered: Altered = {}) {
  const asked = { ...request, query: altered.query ?? request.query };
  const clock = new SimulatedClock();
  const heard: string[] = [];
  const state = { isRevoked: false };
  const session = {
    gone: () => heard.push('gone'),
    audio: (bytes: Uint8Array) => heard.push(`audio ${bytes.byteLength}`),
    control: ({ type }: { type: string }) => heard.push(type),
    misunderstood: () => heard.push('misunderstood'),
    abort: (code: string) => heard.push(`abort ${code}`),
  };
  const meter = { abandon: () => heard.push('abandon') };
  const dependencies = {
    node: 'abcdef',
    clock,
    wallNow: () => new Date(0),
    providers: new Map([['loopback', loopback]]),
    engines: { loopback: new LoopbackEngine(clock) },
    access: () => ({ baseUrl: undefined, credential: undefined }),
    authenticator: { socket: altered.judge ?? (async () => callerOf()), isRevoked: () => state.isRevoked },
    limits: {
      takeRequest: () => ({ 'RateLimit-Remaining': '7' }),
      takeSession: altered.takeSession ?? (() => () => heard.push('release')),
    },
    sessions: {
      admit: () => {},
      open: () => {
        heard.push('open');
        return altered.open === undefined ? session : altered.open();
      },
      revoke: (keyId: string) => heard.push(`revoke ${keyId}`),
    },
    prices: { priceOf: () => ({ unit: 'minute', microUsd: 0n }) },
    reservations: { open: altered.openMeter ?? (async () => meter) },
    settings: {
      ...{ pingMs: 60_000, pongMs: 1_000, binaryFrameBytesMax: altered.binaryFrameBytesMax ?? 1_048_576 },
      textFrameBytesMax: 1_000,
      ...{ startMessageBytesMax: 2_000, handshakeTimeoutMs: 10_000, queryCredentials: 'on' },
    },
    openSpool: (organisationId: string) => (altered.spools ?? spoolsOf()).open(organisationId),
    sockets: new OpenSockets(),
    paces: new SocketPaces(loadConfig({}, { providers: [] }).limits),
    waiting: altered.waiting ?? new WaitingWork(),
    opus: new OpusPlaces(),
    late: altered.late ?? new UnauthenticatedSockets({ handshakesMax: 10, handshakesPerAddressMax: 10 }),
    reply: errorReply,
    onQueryCredential: () => heard.push('query credential'),
    onSmallSocket: () => heard.push('small socket'),
    onRefused: ({ code }: { code: string }) => heard.push(`refused ${code}`),
    onFault: (_: string, error: unknown) => toApiError(error),
  } as unknown as ListenDependencies;
  return {
    heard,
    state,
    clock,
    dependencies,
    answer: () => answerListen(asked, 'req_1', dependencies),
    /** The callbacks of the socket of a handshake that was accepted. */
    async accepted(): Promise<SocketHandlers> {
      const answer = await answerListen(asked, 'req_1', dependencies);
      if (!('accept' in answer)) throw new Error('The handshake was refused.');
      return answer.accept;
    },
  };
}
