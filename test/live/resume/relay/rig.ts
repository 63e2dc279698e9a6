// Both ends of a relay on one bus, between a socket and a session that write down what they hear.
import { SimulatedClock } from 'xstate';
import type { Address } from '../../../../src/cluster/bus/bus.ts';
import { MemoryBus } from '../../../../src/cluster/bus/memory.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import type { ServerSocket } from '../../../../src/http/server.ts';
import { type OpenPace, SocketPaces } from '../../../../src/live/pace/socket-pace.ts';
import { ClientEnd, InFlightChunks } from '../../../../src/live/resume/relay/client-end.ts';
import type { ToClient, Unnumbered } from '../../../../src/live/resume/relay/relay-link.ts';
import { type RelayedHandlers, SessionEnd } from '../../../../src/live/resume/relay/session-end.ts';
import { OpenSockets } from '../../../../src/live/socket/open-sockets.ts';
import { WaitingWork } from '../../../../src/live/socket/socket-work.ts';

export const SILENCE_MS = 30_000;
export const PONG_MS = 10_000;

const newPaces = (clock: SimulatedClock) =>
  new SocketPaces(loadConfig({}, { providers: [] }).limits, () => clock.now());

/** The socket of a client, as its server shows it. */
function newSocket() {
  const said: string[] = [];
  const socket = {
    bufferedBytes: 0,
    heldBack: false,
    watchesSilence: false,
    send: (text: string) => said.push(text),
    ping: (text: string) => said.push(`ping ${text}`.trim()),
    close: (code: number) => said.push(`close ${code}`),
    terminate: () => said.push('cut'),
  };
  return { said, state: socket, socket: socket as unknown as ServerSocket };
}

function newClientEnd(
  bus: MemoryBus,
  clock: SimulatedClock,
  waiting = new WaitingWork(),
  parts = new InFlightChunks(),
) {
  const state = { isOver: false, drops: 0 };
  let pace: OpenPace | undefined;
  const client = new ClientEnd({
    ...{ bus, clock, actorId: 'client', pongMs: PONG_MS, silenceMs: SILENCE_MS, sockets: new OpenSockets() },
    ...{ waiting, parts, organisationId: 'org' },
    openPace: (exceeded) => {
      pace = newPaces(clock).open('org', exceeded);
      return pace;
    },
    onDrop: () => {
      state.drops++;
    },
    over: () => {
      state.isOver = true;
    },
  });
  return { client, pace: pace as unknown as OpenPace, isOver: () => state.isOver, drops: () => state.drops };
}

function newHandlers() {
  const heard: string[] = [];
  let session: ServerSocket | undefined;
  const handlers: RelayedHandlers = {
    open: (socket) => {
      session = socket;
      heard.push('open');
    },
    message: (_, data, isBinary) => heard.push(isBinary ? `audio ${data.byteLength}` : Buffer.from(data).toString()),
    part: (_, data, taken) => {
      heard.push(`part ${data.byteLength}`);
      taken();
    },
    arriving: (_, bytes, isBinary) => heard.push(`arriving ${bytes} ${isBinary ? 'binary' : 'text'}`),
    exceeded: (_, excess) => heard.push(`exceeded ${excess}`),
    pong: (_, text) => heard.push(`pong ${text}`),
    drained: () => heard.push('drained'),
    closed: (_, code) => heard.push(`closed ${code}`),
  };
  return { heard, handlers, session: () => session as ServerSocket };
}

/** Both ends, joined; the socket is not open yet. */
export function rig() {
  const clock = new SimulatedClock();
  const bus = new MemoryBus();
  const { heard, handlers, session } = newHandlers();
  const { client, isOver, pace } = newClientEnd(bus, clock);
  const end = new SessionEnd({ bus, clock, actorId: 'session', client: client.address, handlers });
  client.meet(end.address);
  /** As if the other end had said it. */
  const forge = (to: Address, from: Address, body: { type: string; number: number }) => bus.send(to, from, body);
  return { ...newSocket(), clock, client, end, heard, forge, session, isOver, pace };
}

/** The same with the socket open. */
export function opened() {
  const all = rig();
  all.client.open(all.socket);
  return all;
}

/** A client's end whose session is a node that takes, and says, what the test does. */
export function oneEnd(bytesMax?: number) {
  const clock = new SimulatedClock();
  const bus = new MemoryBus();
  const waiting = new WaitingWork(bytesMax === undefined ? undefined : 2 * bytesMax);
  const { client, isOver, drops } = newClientEnd(bus, clock, waiting);
  const heard: { type: string; bytes: number; [member: string]: unknown }[] = [];
  const address = bus.address('session');
  bus.attach('session', ({ body, bytes }) => heard.push({ ...body, bytes: bytes?.byteLength ?? 0 }));
  let number = 0;
  const say = (body: Unnumbered<ToClient>) => {
    const numbered = { ...body, number: ++number };
    bus.send(client.address, address, numbered);
  };
  client.meet(address);
  const made = newSocket();
  return { ...made, clock, client, heard, say, isOver, drops, waiting };
}

/** A session's end whose client is on a node that never answers. */
export function unansweredEnd() {
  const clock = new SimulatedClock();
  const bus = new MemoryBus();
  const { heard, handlers } = newHandlers();
  bus.attach('client', () => {});
  const end = new SessionEnd({ bus, clock, actorId: 'session', client: bus.address('client'), handlers });
  return { end, heard };
}
