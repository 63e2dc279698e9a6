// Errors as clients of Vercel's AI Gateway know them: HTTP answers, and `error` parts of a stream with the close behind them.
import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import type { ApiError } from '../../api/errors.ts';
import type { Answer, Ending } from '../compat/dialect.ts';
import { jsonAnswer } from '../compat/request.ts';

/** Those that the client has a class of error for. */
const TYPES: Readonly<Record<string, string>> = {
  authentication_error: 'authentication_error',
  permission_error: 'forbidden',
  billing_error: 'forbidden',
  rate_limit_error: 'rate_limit_exceeded',
  invalid_request_error: 'invalid_request_error',
  upstream_error: 'failed_dependency',
};

function errorOf(code: string, message: string): object {
  const type = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code as ErrorCode].type : 'server_error';
  const known = code === 'model_not_found' ? code : TYPES[type];
  return { message, type: known ?? 'internal_server_error', code };
}

export const errorPart = (code: string, message: string): string =>
  JSON.stringify({ type: 'error', error: errorOf(code, message) });

export const endingOf = ({ code, message, closeCode }: ApiError): Ending => ({
  messages: [errorPart(code, message)],
  code: closeCode,
  reason: code,
});

export const errorAnswer = ({ status, code, message }: ApiError, generationId: string): Answer =>
  jsonAnswer({ error: errorOf(code, message), generationId }, status);
