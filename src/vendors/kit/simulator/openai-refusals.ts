// How services shaped like OpenAI word what they refuse: an answer to a request, or an `error` of a session.
import type { SimulatedAnswer } from '../../simulation.ts';

export interface Refusal {
  code: string | null;
  message: string;
  param?: string;
  /** `invalid_request_error` when absent. */
  type?: string;
  /** Of an answer; 400 when absent. */
  status?: number;
  headers?: Record<string, string>;
}

export const errorOf = ({ code, message, param, type = 'invalid_request_error' }: Refusal) => ({
  ...{ type, code, message },
  param: param ?? null,
});

export const refuse = (refusal: Refusal): SimulatedAnswer => ({
  status: refusal.status ?? 400,
  headers: { ...refusal.headers },
  body: { error: errorOf(refusal) },
});

/** A refusal of a status: in the service's own words where it has some. */
export const refuseWith = (status: number, known: Readonly<Record<number, Refusal>>): SimulatedAnswer =>
  refuse(known[status] ?? { status, code: null, message: 'The request was refused.', type: 'internal_server_error' });

export const invalid = (param: string, message: string, code = 'invalid_value'): Refusal => ({ code, message, param });

export const missing = (param: string): Refusal =>
  invalid(param, `Missing required parameter: '${param}'.`, 'missing_required_parameter');
