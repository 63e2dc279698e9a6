// The WebSockets of other vendors' clients: the handshake in their words, and the session of `/v1/listen` behind it.

import { type AliasedKey, aliasOf, slugNamed } from '../accounts/auth/aliases.ts';
import { type Caller, residencyRulesOf } from '../accounts/auth/permissions.ts';
import { Refusal, refuse } from '../api/errors.ts';
import type { OutgoingEvent } from '../api/listen-events.ts';
import { strictest } from '../api/residency-rule.ts';
import { warningHeader } from '../files/routes/warnings.ts';
import type { DoorRequest, UpgradeAnswer } from '../http/door.ts';
import { AskedChanges } from '../live/configure/asked-changes.ts';
import type { Degradation } from '../live/failover/chain.ts';
import { type Asked, acceptToRefuse, callerOf, openSocket, takeFromUrl } from '../live/socket/listen.ts';
import type { ListenDependencies } from '../live/socket/listen-dependencies.ts';
import { endWith } from '../live/socket/refuse-on-socket.ts';
import type {
  ClientRequest,
  Conversation,
  DeferredAuthEndpoint,
  Dialect,
  LiveEndpoint,
} from '../vendors/compat/dialect.ts';
import type { KeptSessions, SessionRecord } from './jobs/kept-sessions.ts';
import { LateSocket } from './late-socket.ts';
import { modelOf, replacedModel } from './model-names.ts';

export interface VendorLiveDependencies extends ListenDependencies {
  /** What clients of other vendors may request after their sessions. */
  keptSessions: KeptSessions;
}

/** Answers an upgrade. Never rejects. */
export async function answerDialect(
  dialect: Dialect,
  path: string,
  request: DoorRequest,
  requestId: string,
  dependencies: VendorLiveDependencies,
): Promise<UpgradeAnswer> {
  const headers: Record<string, string> = { 'X-Request-Id': requestId };
  const nowMs = () => dependencies.clock.now();
  const handshake = { query: new URLSearchParams(request.query), headers: request.headers, requestId, nowMs };
  const door = Object.hasOwn(dialect.live, path) ? dialect.live[path] : undefined;
  const { credential, protocol, param, prove } = dialect.credential(handshake);
  // Clients that offer any fail where none is answered, also those that are let in to be refused.
  const chosen = protocol === undefined ? {} : { protocol };
  try {
    if (door === undefined) throw refuse('not_found', notServed(dialect));
    if (param !== undefined) takeFromUrl(param, dependencies);
    prove?.(dependencies.wallNow());
    const open = async (answered: Record<string, string>, said: string | undefined) => {
      const caller = await callerOf(request, answered, said, dependencies);
      const read = () => askedBy(dialect, door.open(handshake), caller, requestId, dependencies);
      return openSocket(request, requestId, caller, dependencies, read);
    };
    if (credential === undefined && isLate(door)) {
      dependencies.sessions.admit();
      const { remoteAddress } = request;
      const judge = async (said: string | undefined) => (await open({}, said)).socket;
      const late = new LateSocket({ door, requestId, remoteAddress, judge }, dependencies);
      return { accept: late, pace: late.pace, headers };
    }
    const { socket, warnings } = await open(headers, credential);
    return {
      accept: socket,
      pace: socket.pace,
      headers: { ...headers, ...warningHeader(inOwnNames(warnings)) },
      ...chosen,
    };
  } catch (error) {
    const refusal = error instanceof Refusal ? error : dependencies.onFault(requestId, error);
    dependencies.onRefused(refusal);
    const ending = door?.refused?.(refusal, handshake);
    if (ending !== undefined)
      return { ...acceptToRefuse((socket) => endWith(socket, ending), dependencies), headers, ...chosen };
    const told = dialect.refusal(refusal, requestId);
    return {
      refuse: { ...told, headers: { ...dependencies.reply(refusal, requestId).headers, ...headers, ...told.headers } },
    };
  }
}

const isLate = (door: LiveEndpoint | DeferredAuthEndpoint): door is DeferredAuthEndpoint => 'late' in door;

function askedBy(
  dialect: Dialect,
  conversation: Conversation,
  caller: Caller,
  requestId: string,
  { calls, keptSessions, onRefused }: Pick<VendorLiveDependencies, 'calls' | 'keptSessions' | 'onRefused'>,
): Asked {
  const { key } = caller;
  const { request: clientRequest } = conversation;
  let call = clientRequest?.call;
  const read = (asked: ClientRequest) => parametersFor(dialect, asked, key);
  const parts = { conversation, onRefused, parametersOf: read };
  const recording = recordingOf(dialect, conversation, caller, keptSessions);
  const changes = new AskedChanges(recording === undefined ? parts : { ...parts, onEvent: recording.onEvent });
  const parametersOf = (asked: ClientRequest) => {
    call = asked.call;
    if (asked.refused !== undefined) throw asked.refused;
    const parameters = read(asked);
    changes.begin(parameters);
    return parameters;
  };
  return {
    parameters: clientRequest === undefined ? new Map() : parametersOf(clientRequest),
    waits: clientRequest === undefined,
    warnings: clientRequest === undefined ? [] : unmetOf(dialect, clientRequest, key),
    interpreter: {
      conversation,
      changes,
      ...(recording === undefined ? {} : { left: recording.left }),
      asked: (late) => ({ parameters: parametersOf(late), warnings: unmetOf(dialect, late, key) }),
      carrierEnd: (opening, socket) => call && calls.open(call, opening, socket, conversation),
      refused: (refusal) => call && calls.refused(call, refusal, requestId),
    },
  };
}

/** Keeps what a client may request later, from the moment its session has begun; undefined where nothing may be kept. */
function recordingOf(
  dialect: Dialect,
  { name, request: clientRequest }: Conversation,
  caller: Caller,
  kept: KeptSessions,
) {
  if (name === undefined || clientRequest === undefined) return undefined;
  const isKept =
    clientRequest.parameters.get('retention') !== 'none' && strictest(residencyRulesOf(caller)).retention !== 'none';
  if (!isKept) return undefined;
  const { organisationId, keyId } = caller;
  let record: SessionRecord | undefined;
  return {
    onEvent: (event: OutgoingEvent) => {
      if (event.type === 'session_started')
        record = kept.record({ organisationId, keyId, dialect: dialect.name }, name);
      record?.take(event);
    },
    left: () => record?.end(),
  };
}

/**
 * Parameters of `/v1/listen`, or fields of a form: options of the vendor's own are for its own models.
 *
 * @param key whose aliases stand before the vendor's names
 */
export function parametersFor(dialect: Dialect, clientRequest: ClientRequest, key: AliasedKey): Map<string, string> {
  const { model, parameters, own } = clientRequest;
  const named = modelOf(dialect, model, (name) => aliasOf(key, name) !== undefined);
  const hasOptions = Object.keys(own).length > 0 && isOfOwn(dialect, clientRequest, key);
  const options: [string, string][] = hasOptions ? [['provider_params', JSON.stringify(own)]] : [];
  return new Map([...(named === undefined ? [] : ([['model', named]] as const)), ...parameters, ...options]);
}

/** What of a request is not done, of the model that it names. */
export const unmetOf = (dialect: Dialect, clientRequest: ClientRequest, key: AliasedKey): Degradation[] =>
  [
    ...replacedModel(dialect, clientRequest.model, (name) => aliasOf(key, name) !== undefined),
    ...(clientRequest.unmet ?? []),
  ]
    .filter(({ models }) => models === undefined || (models === 'own') === isOfOwn(dialect, clientRequest, key))
    .map(({ models: _, ...told }) => told);

/** Options of the vendor's own are parameters of its clients. */
export const inOwnNames = <Told extends Pick<Degradation, 'param'>>(warnings: readonly Told[]): Told[] =>
  warnings.map((each) => {
    const param = each.param?.replace(/^provider_params\./, '');
    return param === undefined ? each : { ...each, param };
  });

/** Whether one of the vendor's own models is named. */
function isOfOwn(dialect: Dialect, { model, ownOf = dialect.provider }: ClientRequest, key: AliasedKey): boolean {
  const named = modelOf(dialect, model, (name) => aliasOf(key, name) !== undefined);
  return named !== undefined && slugNamed(key, named).startsWith(`${ownOf}/`);
}

const notServed = ({ title, live }: Dialect): string =>
  `There is no such WebSocket for clients of ${title}; served are ${Object.keys(live).join(', ')}.`;
