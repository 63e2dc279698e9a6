// Works around a fault of uWebSockets.js: it writes in one piece inside of `cork` only, and behind an upgrade inside of a response's own
// `cork` it reads memory that the upgrade has freed, and may close the new socket by what it finds there. So a response is upgraded
// inside of another one's: that of a connection of this process to itself, which is never answered.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { UwsLibrary, UwsListenSocket, UwsResponse } from './library.ts';

const HOST = '127.0.0.1';

export class Corker {
  readonly #response: UwsResponse;
  readonly #close: () => void;

  private constructor(response: UwsResponse, close: () => void) {
    this.#response = response;
    this.#close = close;
  }

  static async open(library: UwsLibrary): Promise<Corker> {
    const app = library.App();
    const path = `/${randomUUID()}`;
    const arrived = new Promise<UwsResponse>((resolve) => {
      app.any(path, (response) => {
        response.onAborted(() => {});
        resolve(response);
      });
    });
    const listenSocket = await new Promise<UwsListenSocket>((resolve, reject) => {
      app.listen(HOST, 0, library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) =>
        socket === false ? reject(new Error(`No port of ${HOST} is free.`)) : resolve(socket),
      );
    });
    const client = connect(library.us_socket_local_port(listenSocket), HOST);
    client.on('error', () => {}).unref();
    client.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    const response = await arrived;
    library.us_listen_socket_close(listenSocket);
    return new Corker(response, () => {
      client.destroy();
      app.close();
    });
  }

  /** Runs a call that upgrades a response. */
  run(upgrade: () => void): void {
    this.#response.cork(upgrade);
  }

  close(): void {
    this.#close();
  }
}
