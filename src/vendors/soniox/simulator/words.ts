// How the simulated Soniox words what it refuses, on a connection and in an answer; and its tokens.
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { type HeardText, millisecondsOf, wordsOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer } from '../../simulation.ts';

const WORDS: Readonly<Record<number, string>> = {
  401: 'Incorrect API key provided.',
  402: 'Organization balance exhausted. Please either add funds manually or enable autopay.',
  404: 'Not found.',
  408: 'Request timeout.',
  429: 'Rate limit for your organization has been exceeded.',
  500: 'The server had an error processing your request.',
  503: 'Cannot continue request (code 1). Please restart the request.',
};

const TYPES: Readonly<Record<number, string>> = {
  401: 'unauthenticated',
  402: 'organization_balance_exhausted',
  404: 'not_found',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
};
const typeOf = (status: number): string => TYPES[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request');

export const KEY_FAULTS: Readonly<Record<KeyFault, [status: number, words?: string]>> = {
  missing: [401, 'Missing API key.'],
  bad: [401],
  broke: [402],
  limited: [429],
};

/** The message that a connection ends with. */
export const errorOf = (error_code: number, error_message = WORDS[error_code] ?? 'Start request is malformed.') => ({
  tokens: [],
  error_code,
  error_type: typeOf(error_code),
  error_message,
});

/** An answer, in the shape of the REST interface. */
export function refusal(status: number, message = WORDS[status] ?? 'The request was refused.'): SimulatedAnswer {
  const error_type = typeOf(status);
  const body = { status_code: status, error_type, message, validation_errors: [], request_id: 'request' };
  return { status, ...(status === 429 ? { headers: { 'retry-after': '5' } } : {}), body };
}

export interface Token {
  text: string;
  start_ms?: number;
  end_ms?: number;
  confidence: number;
  is_final?: boolean;
  speaker?: string;
  language?: string;
}

/** Parts of words: each begins with a space but the first of all, and long ones come in two. */
export function tokensOf(heard: HeardText, more: Partial<Token> = {}): Token[] {
  return wordsOf(heard).flatMap(({ word, start, end, confidence = 0.95 }, index) => {
    const text = index === 0 ? word : ` ${word}`;
    const cut = text.length > 6 ? Math.ceil(text.length / 2) : text.length;
    const middle = cut < text.length ? (start + end) / 2 : end;
    const token = (part: string, from: number, until: number): Token => ({
      ...{ text: part, start_ms: millisecondsOf(from), end_ms: millisecondsOf(until), confidence },
      ...more,
    });
    return [token(text.slice(0, cut), start, middle), token(text.slice(cut), middle, end)].filter(
      (each) => each.text !== '',
    );
  });
}
