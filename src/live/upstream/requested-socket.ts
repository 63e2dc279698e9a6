// A WebSocket that has to be requested: one request, whose answer names it. What the answer means is the codec's; here it is asked
// for once, and looked at before anything is sent there. A session that nobody connects to is told goodbye.
import type { HttpAnswer, LiveCodec, Outgoing, PlainRequest, SocketEndpoint } from '../../vendors/kit/provider.ts';
import { exchange, isSuccess, plainContentOf } from './http/exchange.ts';
import type { ConnectionLeg } from './leg-connection.ts';
import { badAnswer, LegFailed } from './leg-failures.ts';
import { openWire } from './wire/open-wire.ts';
import type { Wire } from './wire/wire.ts';

/** How long a last connection may take. */
const FAREWELL_MS = 5_000;
/** Shorter texts of a URL are no secrets, and may be words of their own. */
const SECRET_CHARACTERS_MIN = 8;

const elsewhere = { ...badAnswer, message: 'The provider names a WebSocket that is none of its own.' };

/** What comes of a request: the WebSocket, or the answer that refuses it. */
export type RequestedSocket = { socket: SocketEndpoint } | { refused: HttpAnswer };

/**
 * Asks for a WebSocket. It is not given up when the leg is: the provider may have made a session, which is told goodbye then.
 *
 * @param connectMs the leg's own deadline, which comes first
 * @throws LegFailed when there is no answer, or it cannot be used
 */
export async function requestSocket(
  codec: LiveCodec,
  state: unknown,
  request: PlainRequest,
  connectMs: number,
  leg: ConnectionLeg,
): Promise<RequestedSocket> {
  const { http } = leg.dependencies;
  if (http === undefined || codec.socketOf === undefined)
    throw new Error(`This node sends no requests, so it cannot open a leg of "${leg.request.slug}".`);
  const { organisationId } = leg.request;
  const asked = { ...request, content: plainContentOf(request.body), organisationId, answerMs: 2 * connectMs };
  const answer = await exchange(asked, new AbortController().signal, http);
  if (!isSuccess(answer.status)) return { refused: answer };
  const named = codec.socketOf(state, answer);
  if (named.kind !== 'websocket') throw new LegFailed(named);
  if (!isBeside(request.url, named.url)) throw new LegFailed(elsewhere);
  leg.scrubber.conceal(secretsOf(named.url));
  return { socket: named };
}

/** Connects once more, and takes leave: a provider that keeps sessions without their connections continues counting this one. */
export function sendGoodbye(socket: SocketEndpoint, frames: readonly Outgoing[], leg: ConnectionLeg): void {
  const { clock, engines, openSocket } = leg.dependencies;
  const timer = clock.setTimeout(() => wire.terminate(), FAREWELL_MS);
  const over = () => clock.clearTimeout(timer);
  const wire: Wire = openWire(
    socket,
    engines,
    {
      opened: () => {
        for (const frame of frames) wire.send(frame);
        wire.close();
      },
      message: () => {},
      alive: () => {},
      drained: () => {},
      closed: over,
      refused: over,
      unreachable: over,
    },
    clock,
    leg.request.organisationId,
    openSocket,
  );
}

/** Where it was requested, or in the same domain: an answer does not send a session's audio to anybody. */
function isBeside(asked: string, named: string): boolean {
  if (!URL.canParse(named)) return false;
  const [from, to] = [new URL(asked), new URL(named)];
  const isAllowed = from.protocol === 'https:' ? ['wss:'] : ['ws:', 'wss:'];
  if (!isAllowed.includes(to.protocol) || to.username !== '' || to.password !== '') return false;
  if (to.host === from.host) return true;
  const labels = from.hostname.split('.');
  const domain = (labels.length > 2 ? labels.slice(1) : labels).join('.');
  const isName = /[a-z]$/.test(from.hostname) && labels.length > 1;
  return isName && from.port === '' && to.port === '' && to.hostname.endsWith(`.${domain}`);
}

const secretsOf = (url: string): string[] =>
  [...new URL(url).searchParams.values()].filter((text) => text.length >= SECRET_CHARACTERS_MIN);
