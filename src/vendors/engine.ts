// The contract between a leg and a server inside this process that hears in a provider's place: the recogniser, or a script.

/** A frame for the provider: audio bytes, a text frame, or an object that is sent as JSON (handed over as it is to an embedded engine). */
export type Outgoing = Uint8Array | string | Readonly<Record<string, unknown>>;

/** What an engine says to the leg that connected. Nothing is called before `connect` has returned. */
export interface EngineListener {
  open(): void;
  /** A message, as `read` of the codec takes it. */
  message(json: unknown): void;
  /** `bufferedBytes` has fallen low again. */
  drained(): void;
  /** Always called, once, unless `terminate` was. */
  closed(code: number, reason: string): void;
}

/** A leg's connection to an engine. Methods are safe at any time; none throws. Audio bytes are copied before `send` returns. */
export interface EngineConnection {
  send(frame: Outgoing): void;
  /** Audio taken and not yet worked on. */
  readonly bufferedBytes: number;
  close(): void;
  terminate(): void;
}

/**
 * An in-process server that an endpoint of kind `embedded` names: the recogniser, or a scripted provider. `owner` is the
 * organisation that it works for, so that none takes what is the others'; absent for the process's own.
 */
export interface Engine {
  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener, owner?: string): EngineConnection;
  /** Checks a query that a schema cannot check (a grammar). Resolves with what is wrong, or undefined. */
  check?(query: Readonly<Record<string, unknown>>, owner?: string): Promise<EngineFault | undefined>;
}

type EngineFault = { param: string; message: string };
