// A leg's connection over a WebSocket.
import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import type { Clock } from '../../../../machines/clock.ts';
import type { DemandedFault } from '../../../../machines/events.ts';
import { IdleTimer } from '../../../runtime/timeouts.ts';
import { jsonOf } from '../../../vendors/kit/json.ts';
import type { Incoming, Outgoing, ProviderRefusal, SocketEndpoint } from '../../../vendors/provider.ts';
import { demandText, SIMULATED_HEADER } from '../../../vendors/simulated-wire.ts';
import { joinedHeaders } from '../http/headers.ts';
import { ClientFrames } from './client-frames.ts';
import { CLOSE_MS, MESSAGE_BYTES_MAX, type Wire, type WireListener } from './contract.ts';

/** Fragments of one message. */
const FRAGMENTS_MAX = 64;
/** A ping after so long without a sign; a socket that gives none for as long again is dropped. */
const PING_MS = 10_000;
/** Of the body of a refused upgrade; more is not waited for. */
const REFUSAL_BYTES_MAX = 4_096;
const REFUSAL_MS = 250;

/** The one wrapper around a client WebSocket. */
export class SocketWire implements Wire {
  readonly #socket: WebSocket;
  readonly #listener: WireListener;
  readonly #clock: Clock;
  #frames: ClientFrames | undefined;
  #heartbeat: IdleTimer | undefined;
  #connected = false;
  /** The request to open the connection was sent. */
  #isReached = false;
  #unanswered = false;
  #isAsked = false;
  #over = false;
  #full = false;
  #isSimulated = false;

  constructor(endpoint: SocketEndpoint, listener: WireListener, clock: Clock) {
    this.#listener = listener;
    this.#clock = clock;
    // No compression, no redirects, small bounds: a provider is not trusted with this process's memory.
    this.#socket = new WebSocket(endpoint.url, endpoint.protocols ?? [], {
      headers: endpoint.headers,
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: MESSAGE_BYTES_MAX,
      maxFragments: FRAGMENTS_MAX,
      finishRequest: (request) => {
        request.once('socket', (socket) => {
          socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
            this.#isReached = true;
          });
        });
        request.end();
      },
    });
    this.#socket.binaryType = 'nodebuffer';
    this.#socket.on('upgrade', ({ headers, socket }) => {
      this.#isSimulated = headers[SIMULATED_HEADER] !== undefined;
      this.#frames = new ClientFrames(socket, this.#sent);
    });
    this.#socket.on('open', () => {
      if (this.#over) return;
      this.#connected = true;
      this.#keepAlive();
      if (this.#isSimulated) this.#listener.simulated?.();
      this.#listener.opened();
    });
    this.#socket.on('pong', this.#alive);
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#deliver(data, isBinary));
    this.#socket.on('unexpected-response', (request, response) => {
      this.#readRefusal(response, (refusal) => {
        request.destroy();
        this.#end(() => this.#listener.refused(refusal));
      });
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      // Once connected, the close that follows says all there is to say. Its text would name addresses of the operator's.
      if (this.#connected) return;
      const code = error.code === undefined ? '' : ` (${error.code})`;
      this.#end(() => this.#listener.unreachable(`The provider could not be reached${code}.`, this.#isReached));
    });
    this.#socket.on('close', (code, reason) => this.#end(() => this.#listener.closed(code, reason.toString())));
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(frame: Outgoing): void {
    if (this.#over || this.#socket.readyState !== WebSocket.OPEN) return;
    const isWhole = frame instanceof Uint8Array || typeof frame === 'string';
    // Copied by this, so the caller may reuse its buffer.
    this.#frames?.send(isWhole ? frame : JSON.stringify(frame));
    this.#full ||= this.#socket.bufferedAmount > 0;
  }

  breakDown(fault: DemandedFault): void {
    if (this.#isSimulated) this.send(demandText(fault));
  }

  askForSign(): void {
    if (this.#over || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#isAsked = true;
    this.#socket.ping();
  }

  close(): void {
    if (this.#over) return;
    this.#socket.close(1000);
    const clock = this.#clock;
    const socket = this.#socket;
    const timer = clock.setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.on('close', () => clock.clearTimeout(timer));
  }

  terminate(): void {
    if (this.#over) return;
    this.#end(() => {});
    this.#socket.terminate();
  }

  readonly #sent = (): void => {
    if (!this.#full || this.#over || this.#socket.bufferedAmount > 0) return;
    this.#full = false;
    this.#listener.drained();
  };

  #deliver(data: Buffer, isBinary: boolean): void {
    if (this.#over) return;
    this.#alive();
    this.#listener.message(isBinary ? { bytes: data } : messageOf(data.toString('utf8')));
  }

  readonly #alive = (): void => {
    this.#unanswered = false;
    this.#heartbeat?.touch();
    if (!this.#isAsked || this.#over) return;
    this.#isAsked = false;
    this.#listener.alive();
  };

  /** A ping whenever nothing came for a while; a second such while without a sign of life ends the wire. */
  #keepAlive(): void {
    this.#heartbeat = new IdleTimer(this.#clock, PING_MS, () => {
      if (this.#unanswered) {
        this.#end(() => this.#listener.closed(1006, 'The provider did not answer a ping.'));
        this.#socket.terminate();
        return;
      }
      this.#unanswered = true;
      this.#socket.ping();
      this.#keepAlive();
    });
  }

  /** The body of a refusal tells more than its status; what is not there soon is left out. */
  #readRefusal(response: IncomingMessage, done: (refusal: ProviderRefusal) => void): void {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let over = false;
    const finish = (): void => {
      if (over) return;
      over = true;
      wait.stop();
      const body = Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString('utf8');
      done({ status: response.statusCode ?? 0, headers: joinedHeaders(response.headers), body });
    };
    const wait = new IdleTimer(this.#clock, REFUSAL_MS, finish);
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes >= REFUSAL_BYTES_MAX) finish();
    });
    response.on('end', finish);
    response.on('error', finish);
    response.on('close', finish);
  }

  #end(tell: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#heartbeat?.stop();
    tell();
  }
}

/** A text frame as a codec is told of it. */
export function messageOf(text: string): Incoming {
  const json = jsonOf(text);
  return json === undefined ? { text } : { json };
}
