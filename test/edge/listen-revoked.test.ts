// A key that is revoked after its handshake was judged and before its session is there: nobody could have ended that session.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { DoorRequest, DoorSocket } from '../../src/edge/door.ts';
import { answerListen, type ListenDependencies, OpenSockets } from '../../src/edge/listen.ts';
import { emptyBody } from '../../src/edge/request-body.ts';
import { refusalReply } from '../../src/edge/router.ts';
import { loopback } from '../../src/providers/loopback/index.ts';
import { LoopbackEngine } from '../../src/providers/loopback/simulator.ts';
import { callerOf } from '../fakes/api-keys.ts';

const request: DoorRequest = {
  method: 'GET',
  path: '/v1/listen',
  query: 'model=loopback/script',
  headers: new Map([['authorization', 'Bearer key']]),
  remoteAddress: '192.0.2.7',
  signal: new AbortController().signal,
  body: () => emptyBody(),
};

/** Only what a handshake touches; `heard` is what the sessions were told, in its order. */
function edge() {
  const clock = new SimulatedClock();
  const heard: string[] = [];
  const state = { isRevoked: false };
  const dependencies = {
    node: 'abcdef',
    clock,
    wallNow: () => new Date(0),
    providers: new Map([['loopback', loopback]]),
    engines: { loopback: new LoopbackEngine(clock) },
    access: () => ({ baseUrl: undefined, credential: undefined }),
    authenticator: { socket: async () => callerOf(), isRevoked: () => state.isRevoked },
    limits: { takeRequest: () => ({ 'RateLimit-Remaining': '7' }), takeSession: () => () => heard.push('release') },
    sessions: {
      admit: () => {},
      open: () => heard.push('open'),
      revoke: (keyId: string) => heard.push(`revoke ${keyId}`),
    },
    prices: { unitOf: () => ({ unit: 'minute', microUsd: 0n }), priceOf: () => ({}) },
    desk: { open: async () => ({}) },
    settings: { pingMs: 1_000, pongMs: 1_000, binaryFrameBytesMax: 1_000, textFrameBytesMax: 1_000 },
    sockets: new OpenSockets(),
    reply: refusalReply,
    onRefused: () => {},
    onFault: (_: string, error: unknown) => {
      throw error;
    },
  } as unknown as ListenDependencies;
  return { dependencies, heard, state };
}

test.each([
  ['not revoked', false, ['open']],
  ['revoked in between', true, ['open', 'revoke key_1']],
])('a session whose key was %s is told so', async (_, isRevoked, expected) => {
  const { dependencies, heard, state } = edge();
  const answer = await answerListen(request, 'req_1', dependencies);
  expect(answer).toMatchObject({ headers: { 'RateLimit-Remaining': '7' } });
  if (!('accept' in answer)) throw new Error('The handshake was refused.');
  state.isRevoked = isRevoked;
  answer.accept.open({ ping: () => {}, terminate: () => {} } as DoorSocket);
  expect(heard).toEqual(expected);
});
