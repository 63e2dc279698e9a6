// A gRPC call with messages both ways as a wire. Each call has a connection of its own, as a WebSocket has: what happens to one
// happens to no other. The call is made when the connection is there, so that a provider which cannot be reached is known for that.
import type { Client, ClientDuplexStream, StatusObject } from '@grpc/grpc-js';
import type { Clock } from '../../../../machines/clock.ts';
import type { DemandedFault } from '../../../../machines/events.ts';
import { formsOf, type MethodForms } from '../../../vendors/kit/grpc/messages.ts';
import { closeOf, refusalOf } from '../../../vendors/kit/grpc/status.ts';
import { type GrpcEndpoint, type GrpcMethod, HALF_CLOSE, type Outgoing } from '../../../vendors/kit/provider.ts';
import { demandText, SIMULATED_HEADER } from '../../../vendors/kit/simulated-wire.ts';
import { CLOSE_MS, MESSAGE_BYTES_MAX, type Wire, type WireListener } from './wire.ts';

type Library = typeof import('@grpc/grpc-js');

/**
 * The library says of messages up to so many bytes that they are sent when they are kept. More than the first message has: the
 * library never says it of one that finds no room before the call is in progress.
 */
const KEPT_BYTES_MAX = 262_144;
const PING_ANSWER_MS = 10_000;
/** A call that every server answers, if only by saying that it does not know it. */
const SIGN = '/grpc.health.v1.Health/Check';
const SIGN_MS = 10_000;

const CHANNEL = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
  'grpc.enable_http_proxy': 0,
  // A call that is lost is the session's to repeat, with its audio.
  'grpc.enable_retries': 0,
  'grpc.per_rpc_retry_buffer_size': KEPT_BYTES_MAX,
  'grpc.service_config_disable_resolution': 1,
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
};

/** Loads what calls need: at the first of them it would hold up all other work of the process. */
export async function prepareCalls(methods: readonly GrpcMethod[]): Promise<void> {
  if (methods.length > 0) await Promise.all([import('@grpc/grpc-js'), ...methods.map(formsOf)]);
}

const asItIs = (bytes: Buffer): Buffer => bytes;

export class GrpcWire implements Wire {
  readonly #endpoint: GrpcEndpoint;
  readonly #listener: WireListener;
  readonly #clock: Clock;
  #library: Library | undefined;
  #client: Client | undefined;
  #forms: MethodForms | undefined;
  #call: ClientDuplexStream<Buffer, Buffer> | undefined;
  #timer: unknown;
  #status: StatusObject | undefined;
  #isSimulated = false;
  #isAnswered = false;
  #isRead = false;
  #halfClosed = false;
  #over = false;
  #unsentBytes = 0;

  constructor(endpoint: GrpcEndpoint, listener: WireListener, clock: Clock) {
    this.#endpoint = endpoint;
    this.#listener = listener;
    this.#clock = clock;
    this.#dial().catch(() => this.#unreachable());
  }

  get bufferedBytes(): number {
    return this.#unsentBytes;
  }

  send(frame: Outgoing): void {
    const call = this.#call;
    if (this.#over || call === undefined || this.#halfClosed) return;
    if (frame === HALF_CLOSE) {
      this.#halfClosed = true;
      call.end();
      return;
    }
    this.#write(call, this.#written(frame));
  }

  /** In the place of a message: of what a call carries, only its ends know what it is. */
  breakDown(fault: DemandedFault): void {
    if (this.#isSimulated && !this.#over && this.#call !== undefined && !this.#halfClosed)
      this.#write(this.#call, Buffer.from(demandText(fault)));
  }

  ping(): void {
    const { Metadata } = this.#library ?? {};
    if (this.#over || Metadata === undefined) return;
    const options = { deadline: Date.now() + SIGN_MS };
    this.#client?.makeUnaryRequest(SIGN, asItIs, asItIs, Buffer.alloc(0), new Metadata(), options, (error) => {
      const { CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE } = (this.#library as Library).status;
      const isAnswer = error === null || ![CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE].includes(error.code);
      if (isAnswer && !this.#over) this.#listener.alive();
    });
  }

  close(): void {
    if (this.#over || this.#timer !== undefined) return;
    const call = this.#call;
    if (call === undefined) {
      this.terminate();
      return;
    }
    this.send(HALF_CLOSE);
    this.#timer = this.#clock.setTimeout(() => call.cancel(), CLOSE_MS);
  }

  terminate(): void {
    if (this.#over) return;
    this.#call?.cancel();
    this.#end(() => {});
  }

  async #dial(): Promise<void> {
    const { url, method, pingMs } = this.#endpoint;
    const [library, forms] = await Promise.all([import('@grpc/grpc-js'), formsOf(method)]);
    if (this.#over) return;
    const { protocol, hostname, port } = new URL(url);
    const { credentials } = library;
    const [security, otherwise] =
      protocol === 'https:' ? [credentials.createSsl(), 443] : [credentials.createInsecure(), 80];
    const pings =
      pingMs === undefined ? {} : { 'grpc.keepalive_time_ms': pingMs, 'grpc.keepalive_timeout_ms': PING_ANSWER_MS };
    this.#library = library;
    this.#forms = forms;
    this.#client = new library.Client(`${hostname}:${port || otherwise}`, security, { ...CHANNEL, ...pings });
    this.#watch(this.#client.getChannel(), library);
  }

  #watch(channel: ReturnType<Client['getChannel']>, library: Library): void {
    if (this.#over) return;
    const { READY, TRANSIENT_FAILURE, SHUTDOWN } = library.connectivityState;
    const state = channel.getConnectivityState(true);
    if (state === READY) this.#begin(library);
    else if (state === TRANSIENT_FAILURE || state === SHUTDOWN) this.#unreachable();
    else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => this.#watch(channel, library));
  }

  #begin({ Metadata }: Library): void {
    const { url, headers } = this.#endpoint;
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const { pathname } = new URL(url);
    const call = (this.#client as Client).makeBidiStreamRequest(pathname, asItIs, asItIs, metadata, {});
    this.#call = call;
    // Who simulates says so before its first message; others say it has begun whenever they like.
    call.on('metadata', (answered) => {
      this.#isSimulated = answered.get(SIMULATED_HEADER).length > 0;
      if (this.#isSimulated && !this.#over) this.#listener.simulated?.();
    });
    call.on('data', (bytes: Buffer) => this.#deliver(bytes));
    // What is said with an error is said with the status as well.
    call.on('error', () => {});
    call.on('status', (status: StatusObject) => {
      this.#status = status;
      this.#settle();
    });
    call.on('end', () => {
      this.#isRead = true;
      this.#settle();
    });
    this.#listener.opened();
  }

  #deliver(bytes: Buffer): void {
    if (this.#over) return;
    this.#isAnswered = true;
    let json: unknown;
    try {
      json = this.#forms?.response.read(bytes);
    } catch {
      this.#listener.message({ bytes });
      return;
    }
    this.#listener.message({ json });
  }

  /** Its end is known once it was told, and all that came before was read. */
  #settle(): void {
    const status = this.#status;
    if (status === undefined || !this.#isRead) return;
    this.#end(() => {
      const { code, details, metadata } = status;
      if (this.#isAnswered || code === 0) {
        const close = closeOf({ code, details });
        this.#listener.closed(close.code, close.reason);
      } else {
        const [after] = metadata.get('retry-after');
        this.#listener.refused(
          refusalOf({ code, details }, after === undefined ? {} : { 'retry-after': String(after) }),
        );
      }
    });
  }

  /** Its own bytes: the caller's buffer is used again. A text is an object's JSON. */
  #written(frame: Outgoing): Buffer {
    const { request } = this.#forms as MethodForms;
    const message =
      frame instanceof Uint8Array
        ? { [this.#endpoint.method.audio]: frame }
        : typeof frame === 'string'
          ? JSON.parse(frame)
          : frame;
    const bytes = request.write(message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #write(call: ClientDuplexStream<Buffer, Buffer>, bytes: Buffer): void {
    this.#unsentBytes += bytes.length;
    call.write(bytes, () => this.#sent(bytes.length));
  }

  #sent(bytes: number): void {
    this.#unsentBytes -= bytes;
    if (this.#unsentBytes === 0 && !this.#over) this.#listener.drained();
  }

  #unreachable(): void {
    this.#end(() => this.#listener.unreachable('The provider could not be reached.'));
  }

  #end(tell: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#clock.clearTimeout(this.#timer);
    this.#client?.close();
    tell();
  }
}
