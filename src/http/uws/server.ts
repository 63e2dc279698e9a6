// The fast server: uWebSockets.js. Copies everything out of the library's hands at once and never touches a handle that the
// library has taken back; what a request or a message means is the handlers' decision.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { listenFailure, tryAddress } from '../../runtime/address-failure.ts';
import { UNREAD_BYTES_MAX } from '../guarded-socket.ts';
import { type HttpServer, type HttpServerOptions, LARGE_BYTES, type OpenServer } from '../server.ts';
import { Corker, serve } from './exchange.ts';
import {
  loadUws,
  type UwsApp,
  type UwsBehaviour,
  type UwsBuild,
  type UwsContext,
  type UwsLibrary,
  type UwsListenSocket,
} from './library.ts';
import { silenceSeconds, UwsSocket } from './socket.ts';

/**
 * Between the last close frame and the end of the server. Dropping a connection whose client has sent more resets it, and a
 * reset takes the close frame with it if the client has not read it yet; when it has, the library does not tell.
 */
const LINGER_MS = 250;
/** Listen option: neither the exclusive port nor anything else. */
const SHARED_PORT = 0;
const FREE_PORTS_TRIED = 5;

/** Opens the server. Rejects with one sentence when the library does not load, or the address cannot be had. */
export const openUwsServer: OpenServer = async (handlers, options) => {
  const build = loadUws();
  const { library } = build;
  const app = await createApp(library, options);
  const corker = await Corker.open(library);
  const behaviour = (messageBytesMax: number, upgrade: UwsBehaviour['upgrade']): UwsBehaviour => ({
    compression: library.DISABLED,
    maxPayloadLength: 2 * messageBytesMax,
    // Below it nothing is ever dropped; past it the connection is, and not the one message.
    maxBackpressure: UNREAD_BYTES_MAX,
    closeOnBackpressureLimit: 1,
    idleTimeout: silenceSeconds(options),
    sendPingsAutomatically: 0,
    ...UwsSocket.events,
    upgrade,
  });
  // The library gathers messages out of sight, up to a limit that belongs to the route. So there are two, and a socket is put
  // onto the one or the other. The first only tells what it is called; the library tries the longer pattern first.
  let small: UwsContext | undefined;
  app.ws(
    '/*small',
    behaviour(Math.min(LARGE_BYTES, options.messageBytesMax), (_, request, context) => {
      small = context;
      request.setYield(true);
    }),
  );
  app.ws(
    '/*',
    behaviour(options.messageBytesMax, (response, request, large) =>
      serve(response, request, { large, small: small ?? large, corker }, handlers, options),
    ),
  );
  app.any('/*', (response, request) => serve(response, request, undefined, handlers, options));
  try {
    return new UwsServer(build, app, corker, await listen(library, app, options));
  } catch (error) {
    corker.close();
    throw error;
  }
};

async function createApp(library: UwsLibrary, { tls }: HttpServerOptions): Promise<UwsApp> {
  if (tls === undefined) return library.App();
  const { certFile, keyFile } = tls;
  for (const file of [certFile, keyFile]) {
    await access(file, constants.R_OK).catch(() => {
      throw new Error(`The TLS file ${file} cannot be read.`);
    });
  }
  try {
    return library.SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
  } catch {
    throw new Error(`${certFile} and ${keyFile} are not a certificate and its key in PEM form.`);
  }
}

async function listen(library: UwsLibrary, app: UwsApp, options: HttpServerOptions): Promise<UwsListenSocket> {
  const { host, port, shared } = options;
  let code: string | undefined;
  // A port that the library picks on its own stays closed for a minute after the server: only for one that it is given, it asks
  // the system to overlook connections that have ended. Another process may take the port that was found free.
  for (let attempt = 0; attempt < (port === 0 ? FREE_PORTS_TRIED : 1); attempt++) {
    const found = port === 0 ? await tryAddress(host, 0) : { port };
    if (!('port' in found)) throw new Error(listenFailure(host, port, found.code));
    const socket = await listenOn(library, app, host, found.port, shared === true);
    if (socket !== undefined) return socket;
    const probe = await tryAddress(host, found.port);
    code = 'code' in probe ? probe.code : undefined;
  }
  throw new Error(listenFailure(host, port, code));
}

/** Undefined when the address cannot be had; the library does not tell why. */
function listenOn(library: UwsLibrary, app: UwsApp, host: string, port: number, shared: boolean) {
  return new Promise<UwsListenSocket | undefined>((resolve) => {
    // Without the option the library shares the port with any other process of this user that asks.
    const option = shared ? SHARED_PORT : library.LIBUS_LISTEN_EXCLUSIVE_PORT;
    app.listen(host, port, option, (socket) => resolve(socket === false ? undefined : socket));
  });
}

class UwsServer implements HttpServer {
  readonly name = 'uws';
  readonly build: string;
  readonly port: number;
  readonly #library: UwsLibrary;
  readonly #app: UwsApp;
  readonly #corker: Corker;
  #listenSocket: UwsListenSocket | undefined;
  #open = true;

  constructor({ name, library }: UwsBuild, app: UwsApp, corker: Corker, listenSocket: UwsListenSocket) {
    this.build = name;
    this.port = library.us_socket_local_port(listenSocket);
    this.#library = library;
    this.#app = app;
    this.#corker = corker;
    this.#listenSocket = listenSocket;
  }

  stopListening(): void {
    if (this.#listenSocket === undefined) return;
    this.#library.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = undefined;
  }

  async close(): Promise<void> {
    this.stopListening();
    const lingerMs = UwsSocket.lastEndedAt + LINGER_MS - performance.now();
    if (lingerMs > 0) await new Promise((resolve) => setTimeout(resolve, lingerMs));
    if (this.#open) {
      this.#app.close();
      this.#corker.close();
    }
    this.#open = false;
    // The handlers hear of it in microtasks.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
