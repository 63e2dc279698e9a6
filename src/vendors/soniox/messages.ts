// What Soniox' service sends, by HTTP and on its sockets: built here for the gateway's own clients of Soniox, and for the simulator.
// https://soniox.com/docs/stt/api-reference/websocket-api
import type { JsonObject } from '../kit/json.ts';

export interface Token {
  text: string;
  start_ms?: number;
  end_ms?: number;
  confidence: number;
  is_final?: boolean;
}

/** A part of a text that brings its own spaces. @param about who spoke, and in which language */
export const tokenMessage = (
  text: string,
  { startMs, endMs }: { startMs: number; endMs: number },
  confidence: number,
  { speaker, language }: { speaker?: number | undefined; language?: string | undefined },
  more: { is_final?: boolean } = {},
): Token => ({
  text,
  start_ms: startMs,
  end_ms: endMs,
  confidence,
  // Numbered from 1.
  ...(speaker === undefined ? {} : { speaker: String(speaker + 1) }),
  ...(language === undefined ? {} : { language }),
  ...more,
});

/** Of the end of a turn: `<end>`, or `<fin>` where the client has requested it. */
export const mark = (text: '<end>' | '<fin>'): Token => ({ text, confidence: 1, is_final: true });

export const tokensMessage = (tokens: readonly Token[], finalMs: number, totalMs: number, more: object = {}) => ({
  tokens,
  final_audio_proc_ms: finalMs,
  total_audio_proc_ms: totalMs,
  ...more,
});

/** https://soniox.com/docs/api-reference/errors */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthenticated',
  402: 'organization_balance_exhausted',
  404: 'not_found',
  408: 'request_timeout',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
};
const typeOf = (status: number): string => TYPES[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request');

/** The message that a connection ends with. */
export const errorMessage = (error_code: number, error_message: string) => ({
  tokens: [],
  error_code,
  error_type: typeOf(error_code),
  error_message,
});

/** The answer to a request that is refused. @param type in the place of that of a status that has none */
export const refusalBody = (
  status: number,
  message: string,
  request_id: string,
  { type, faults = [] }: { type?: string; faults?: readonly object[] } = {},
) => ({
  status_code: status,
  error_type: TYPES[status] ?? type ?? typeOf(status),
  message,
  validation_errors: faults,
  request_id,
});

export const fileMessage = (id: string, filename: string, size: number, createdAt: Date) => ({
  ...{ id, filename, size, created_at: createdAt.toISOString() },
});

/** A transcription that was requested. */
export const jobMessage = (id: string, asked: JsonObject, status: string, more: object): JsonObject => ({
  ...asked,
  id,
  status,
  ...more,
});

export const transcriptMessage = (id: string, text: string, tokens: readonly Token[], more: object = {}) => ({
  ...{ id, text, tokens },
  ...more,
});
