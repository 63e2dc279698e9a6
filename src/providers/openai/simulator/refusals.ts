// How simulated OpenAI words an HTTP refusal.
import type { SimulatedAnswer } from '../../simulation.ts';

/** What an HTTP error says. */
export interface Refusal {
  status: number;
  code: string | null;
  message: string;
  param?: string;
  /** `invalid_request_error` when absent. */
  type?: string;
  headers?: Record<string, string>;
}

export const refuse = ({ status, code, message, param, type, headers }: Refusal): SimulatedAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: { error: { message, type: type ?? 'invalid_request_error', param: param ?? null, code } },
});
