// Delivers refused usage messages once more, oldest first: another ledger may accept what the last one refused, for instance when
// the right ledger is back. Accepted messages are removed; the others stay in the stream, readable for the operator.
import type { JetStreamManager } from '@nats-io/jetstream';
import type { UsageVerdict } from '../../usage-stream.ts';

export interface RedeliveryOptions {
  /** Calls JetStream; rejects with BusError. */
  ask<Result>(work: (manager: JetStreamManager) => Promise<Result>): Promise<Result>;
  stream: string;
  subject: string;
  take(data: Uint8Array): Promise<UsageVerdict>;
  /** Waits before the next try of a message that could not be processed yet. */
  pause(tries: number): Promise<void>;
  onFault(error: Error): void;
}

export interface UsageRedelivery {
  /** Goes through the stream once. After an outage it starts from the beginning. */
  begin(): void;
  stop(): void;
}

export function usageRedelivery(options: RedeliveryOptions): UsageRedelivery {
  let isBegun = false;
  let isStopped = false;
  return {
    begin() {
      if (isBegun || isStopped) return;
      isBegun = true;
      redeliver(options, () => isStopped).catch((error: Error) => {
        isBegun = false;
        if (!isStopped) options.onFault(error);
      });
    },
    stop() {
      isStopped = true;
    },
  };
}

async function redeliver(
  { ask, stream, subject, take, pause }: RedeliveryOptions,
  isStopped: () => boolean,
): Promise<void> {
  const { state } = await ask((manager) => manager.streams.info(stream));
  for (let sequence = state.first_seq; state.messages > 0 && sequence <= state.last_seq; sequence++) {
    if (isStopped()) return;
    const message = await ask((manager) => manager.streams.getMessage(stream, { seq: sequence }));
    if (message?.subject !== subject) continue;
    let verdict: UsageVerdict = 'again';
    for (let tries = 1; verdict === 'again'; tries++) {
      if (isStopped()) return;
      verdict = await take(message.data);
      if (verdict === 'again') await pause(tries);
    }
    if (verdict === 'done') await ask((manager) => manager.streams.deleteMessage(stream, sequence));
  }
}
