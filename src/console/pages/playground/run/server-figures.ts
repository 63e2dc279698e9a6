// What only the gateway can know of a run: what it costs so far, and how long the gateway itself took for each final. It is told as
// to anybody who watches the session.
import { type Signal, signal } from '@preact/signals';
import type { WatchedFrame } from '../../../../api/console/watching.ts';

const DELAYS_MAX = 500;

export class ServerFigures {
  readonly costUsd: Signal<string | undefined> = signal(undefined);
  /** Milliseconds from the provider's final, as it was read, until it was written to this page. */
  readonly gatewayMs: Signal<readonly number[]> = signal([]);
  readonly #source: EventSource;

  constructor(sessionId: string) {
    this.#source = new EventSource(`/console/api/sessions/${encodeURIComponent(sessionId)}/events?after=0`);
    this.#source.onmessage = ({ data }) => this.#hear(JSON.parse(data) as WatchedFrame);
  }

  close(): void {
    this.#source.close();
  }

  #hear(frame: WatchedFrame): void {
    if (frame.kind === 'audio') this.costUsd.value = frame.cost_usd;
    else if (frame.kind === 'ended') this.close();
    else if (frame.kind === 'mark' && frame.gateway_ms !== undefined) {
      this.gatewayMs.value = [...this.gatewayMs.value.slice(1 - DELAYS_MAX), frame.gateway_ms];
    }
  }
}
