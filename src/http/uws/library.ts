// The part of uWebSockets.js that the door is written against. The package's own types describe more than every binary
// has, and leave out the listen option with a host.

export interface UwsLibrary {
  App(): UwsApp;
  /** Throws when the files are not a certificate and its key. */
  SSLApp(options: { cert_file_name: string; key_file_name: string }): UwsApp;
  us_listen_socket_close(socket: UwsListenSocket): void;
  us_socket_local_port(socket: UwsListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  readonly DISABLED: number;
  _cfg?(key: string): void;
}

/** Opaque; closing it twice is undefined behaviour. */
export interface UwsListenSocket {
  readonly listenSocket: unique symbol;
}

/** Opaque: where an upgraded connection will live. */
export interface UwsContext {
  readonly context: unique symbol;
}

export interface UwsApp {
  ws(pattern: string, behaviour: UwsBehaviour): UwsApp;
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  listen(host: string, port: number, options: number, done: (socket: UwsListenSocket | false) => void): UwsApp;
  /** Drops every connection and listen socket. */
  close(): UwsApp;
}

/** A throw out of any of these ends the process. */
export interface UwsEvents {
  open(socket: UwsHandle): void;
  /** The buffer is detached when the call returns. */
  message(socket: UwsHandle, message: ArrayBuffer, isBinary: boolean): void;
  drain(socket: UwsHandle): void;
  /** It is answered in any case. */
  ping(socket: UwsHandle, message: ArrayBuffer): void;
  pong(socket: UwsHandle, message: ArrayBuffer): void;
  close(socket: UwsHandle, code: number, message: ArrayBuffer): void;
}

export interface UwsBehaviour extends UwsEvents {
  compression: number;
  maxPayloadLength: number;
  maxBackpressure: number;
  closeOnBackpressureLimit: 0 | 1;
  /** 0, or 8 to 960; anything else ends the process. */
  idleTimeout: number;
  sendPingsAutomatically: 0 | 1;
  upgrade(response: UwsResponse, request: UwsRequest, context: UwsContext): void;
}

/** Valid during the call only. */
export interface UwsRequest {
  getMethod(): string;
  getUrl(): string;
  /** Undefined when the URL has no question mark. */
  getQuery(): string | undefined;
  forEach(each: (name: string, value: string) => void): void;
  /** Leaves the request to the next route that fits. */
  setYield(isLeft: boolean): void;
}

/** Throws on every call once it was answered or aborted. */
export interface UwsResponse {
  getRemoteAddressAsText(): ArrayBuffer;
  onAborted(handler: () => void): void;
  /** The chunk is detached when the call returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  pause(): UwsResponse;
  resume(): UwsResponse;
  /** Sends what waits, also when nothing is written inside. */
  cork(write: () => void): void;
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  /** A chunk of a body whose length is not known. False: some of what was written waits, and `onWritable` will be called. */
  write(chunk: string): boolean;
  /**
   * Once there is a handler, nothing that waits is sent unless it does so, and it is not called again until something was tried.
   * The answer of the handler: true where all that had to wait was written, or nothing did.
   */
  onWritable(handler: (offset: number) => boolean): void;
  /** Drops the connection; `onAborted` is called. */
  close(): void;
  end(body: string | Uint8Array, closeConnection: boolean): void;
  endWithoutBody(announcedBytes?: number, closeConnection?: boolean): void;
  /** Calls `open` before it returns. The user data's own properties become properties of the handle. */
  upgrade(userData: object, key: string, protocol: string, extensions: string, context: UwsContext): void;
}

/** Throws on every call once it is closed. */
export interface UwsHandle {
  /** 1: handed to the kernel or the cork buffer; 0: queued here; 2: dropped. */
  send(message: string, isBinary: boolean): 0 | 1 | 2;
  ping(text: string): void;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
  close(): void;
}
