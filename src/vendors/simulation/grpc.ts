// gRPC calls of a simulated provider, on the port of its HTTP: a connection that begins as HTTP/2 does is taken over here. A stage
// sees a call as it sees a WebSocket: messages are texts of JSON, audio is bytes, and the end of the requests a text of its own.
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionInjector, Server, ServerDuplexStream, ServiceError } from '@grpc/grpc-js';
import { formsOf, type MethodForms } from '../kit/grpc/messages.ts';
import { type GrpcStatus, statusOfClose, statusOfHttp } from '../kit/grpc/status.ts';
import { jsonOf, objectIn, textIn } from '../kit/json.ts';
import { type GrpcMethod, HALF_CLOSE, type Outgoing } from '../kit/provider.ts';
import { demandIn, SIMULATED_HEADER } from '../kit/simulated-wire.ts';
import type { SimulatedAnswer } from '../kit/simulation.ts';
import type { StagePeer } from './saying.ts';
import type { SimulatorStage } from './stage.ts';
import type { StageConnection } from './stage-connection.ts';

type Library = typeof import('@grpc/grpc-js');
type Call = ServerDuplexStream<Buffer, Buffer>;

/** How HTTP/2 begins, as far as no HTTP/1 does. */
const PREFACE = Buffer.from('PRI * ');
const LOST = 1006;
const asItIs = (bytes: Buffer): Buffer => bytes;

export class GrpcHost {
  readonly #library: Library;
  readonly #stage: SimulatorStage;
  readonly #server: Server;
  readonly #injector: ConnectionInjector;
  /** Of connections, by the address of the client. */
  readonly #sockets = new Map<string, Socket>();
  readonly #calls = new Set<Promise<void>>();

  private constructor(library: Library, stage: SimulatorStage) {
    this.#library = library;
    this.#stage = stage;
    this.#server = new library.Server({ 'grpc.enable_channelz': 0 });
    this.#injector = this.#server.createConnectionInjector(library.ServerCredentials.createInsecure());
  }

  static async serve(http: HttpServer, stage: SimulatorStage, methods: Readonly<Record<string, GrpcMethod>>) {
    const host = new GrpcHost(await import('@grpc/grpc-js'), stage);
    for (const [path, method] of Object.entries(methods)) {
      const forms = await formsOf(method);
      host.#server.register(path, (call: Call) => host.#serve(call, method, forms), asItIs, asItIs, 'bidi');
    }
    host.#share(http);
    return host;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Drops every connection. Resolves when the stage has been told of the end of each call. */
  async close(): Promise<void> {
    for (const socket of this.#sockets.values()) socket.destroy();
    this.#server.forceShutdown();
    await Promise.all(this.#calls);
  }

  /** Looks how a connection begins, and gives it to whoever understands that. */
  #share(http: HttpServer): void {
    const others = http.listeners('connection');
    http.removeAllListeners('connection');
    http.on('connection', (socket: Socket) => {
      const look = (): void => {
        const begin: Buffer | null = socket.read();
        if (begin === null) return;
        socket.removeListener('readable', look);
        socket.removeListener('end', leave);
        socket.unshift(begin);
        if (PREFACE.subarray(0, begin.length).equals(begin.subarray(0, PREFACE.length))) this.#take(socket);
        else for (const other of others) other.call(http, socket);
      };
      // The server keeps its half of a connection open: one that ends before it has begun is ended here.
      const leave = (): void => void socket.destroy();
      socket.on('readable', look);
      socket.once('end', leave);
      socket.on('error', () => socket.destroy());
    });
  }

  #take(socket: Socket): void {
    const address = addressOf(socket);
    this.#sockets.set(address, socket);
    socket.on('close', () => this.#sockets.delete(address));
    socket.on('end', () => socket.destroy());
    this.#injector.injectConnection(socket);
  }

  #serve(call: Call, method: GrpcMethod, forms: MethodForms): void {
    const url = new URL(call.getPath(), `http://${call.getHost()}`);
    const headers = Object.fromEntries(
      Object.entries(call.metadata.getMap()).map(([name, value]) => [name, String(value)]),
    );
    const upgrade = this.#stage.upgrade({ method: 'POST', url, headers, body: new Uint8Array(0) });
    if (upgrade.type === 'refuse') this.#end(call, statusOf(upgrade.answer), upgrade.answer.headers);
    else if (upgrade.type === 'accept') this.#talk(call, upgrade.connect(this.#peerOf(call, forms)), method, forms);
  }

  #talk(call: Call, connection: StageConnection, { audio }: GrpcMethod, { request }: MethodForms): void {
    const over = new Promise<void>((resolve) => {
      const gone = (code: number): void => {
        connection.gone(code);
        this.#calls.delete(over);
        resolve();
      };
      call.once('cancelled', () => gone(LOST));
      call.once('finish', () => gone(1000));
    });
    this.#calls.add(over);
    call.on('data', (bytes: Buffer) => {
      const demand = demandIn(bytes);
      if (demand !== undefined) {
        connection.text(demand);
        return;
      }
      const message = request.read(bytes);
      const heard = message[audio];
      if (heard instanceof Uint8Array) connection.bytes(heard);
      else connection.text(JSON.stringify(message));
    });
    call.on('end', () => connection.text(HALF_CLOSE));
    call.on('error', () => {});
  }

  #peerOf(call: Call, { response }: MethodForms): StagePeer {
    const metadata = new this.#library.Metadata();
    metadata.set(SIMULATED_HEADER, this.#stage.simulator.provider);
    call.sendMetadata(metadata);
    return {
      send: (frame) => {
        if (call.cancelled || call.writableEnded) return;
        call.write(writtenBy(response, frame));
      },
      close: (code, reason) => this.#end(call, statusOfClose(code, reason)),
      drop: () => this.#sockets.get(call.getPeer())?.resetAndDestroy(),
      freeze: () => void call.pause(),
    };
  }

  #end(call: Call, { code, details }: GrpcStatus, headers: Readonly<Record<string, string>> = {}): void {
    if (call.cancelled || call.writableEnded) return;
    if (code === 0) {
      call.end();
      return;
    }
    const metadata = new this.#library.Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    call.emit('error', { code, details, metadata, name: 'status', message: details } satisfies ServiceError);
  }
}

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;

/** Texts that are no message and bytes go out as they are: what a client makes of them is its affair. */
function writtenBy(form: MethodForms['response'], frame: Outgoing): Buffer {
  if (frame instanceof Uint8Array) return Buffer.from(frame);
  const message = typeof frame === 'string' ? objectIn(jsonOf(frame)) : frame;
  return Buffer.from(form.write(message));
}

function statusOf({ status, body }: SimulatedAnswer): GrpcStatus {
  const error = objectIn(objectIn(body).error);
  return statusOfHttp(status, error.status, textIn(error.message) ?? '');
}
