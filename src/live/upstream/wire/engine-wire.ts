// A leg's connection to an engine of this process: the same contract in front of it.
import type { Engine, EngineConnection, EngineListener, Outgoing } from '../../../vendors/provider.ts';
import type { Wire, WireListener } from './contract.ts';

export class EngineWire implements Wire {
  readonly #connection: EngineConnection;
  readonly #listener: WireListener;
  #over = false;

  constructor(engine: Engine, query: Readonly<Record<string, unknown>>, listener: WireListener, owner?: string) {
    this.#listener = listener;
    const heard: EngineListener = {
      open: () => {
        if (!this.#over) listener.opened();
      },
      message: (json) => {
        if (!this.#over) listener.message({ json });
      },
      drained: () => {
        if (!this.#over) listener.drained();
      },
      closed: (code, reason) => {
        if (this.#over) return;
        this.#over = true;
        listener.closed(code, reason);
      },
    };
    this.#connection = engine.connect(query, heard, owner);
  }

  get bufferedBytes(): number {
    return this.#connection.bufferedBytes;
  }

  send(frame: Outgoing): void {
    if (!this.#over) this.#connection.send(frame);
  }

  /** It simulates nobody. */
  breakDown(): void {}

  /** An engine of this process says by itself when it has failed. */
  askForSign(): void {
    if (!this.#over) this.#listener.alive();
  }

  close(): void {
    if (!this.#over) this.#connection.close();
  }

  terminate(): void {
    if (this.#over) return;
    this.#over = true;
    this.#connection.terminate();
  }
}
