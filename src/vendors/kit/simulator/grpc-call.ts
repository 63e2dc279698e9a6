// What simulated services that are called by gRPC have in common: a call ends by a half-close or with a status, and a refusal
// names its status.

import { closeOf, statusName, statusOfHttp } from '../grpc/status.ts';
import { type JsonObject, objectOf } from '../json.ts';
import { HALF_CLOSE } from '../provider.ts';
import type { SimulatedAnswer } from '../simulation.ts';
import { SimulatedSession } from './session.ts';

const INVALID_ARGUMENT = 3;

export abstract class SimulatedCall extends SimulatedSession {
  /** A message that is no audio. */
  protected abstract request(message: JsonObject): void;

  protected message(message: string): void {
    if (message !== HALF_CLOSE) this.request(objectOf(message));
    else if (this.isListening) this.finish();
    else this.close(1000);
  }

  protected fail(status: number, details: string): void {
    const { code, reason } = closeOf({ code: status, details });
    this.close(code, reason);
  }

  protected refuse(details: string): void {
    this.fail(INVALID_ARGUMENT, details);
  }
}

/** Refusals by HTTP status, in these words; of another status in those of 400 or 500. */
export const callRefusals =
  (words: Readonly<Record<number, string>>) =>
  (status: number, message?: string): SimulatedAnswer => {
    const known = words[status] === undefined ? (status < 500 ? 400 : 500) : status;
    const { code } = statusOfHttp(known, known === 500 ? 'INTERNAL' : undefined, '');
    return { status, body: { error: { code: status, message: message ?? words[known], status: statusName(code) } } };
  };
