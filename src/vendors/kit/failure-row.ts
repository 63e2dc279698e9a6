// One row of a provider's failure table: what its statuses, codes, words and closes mean.
import type { FailureKind, FailureReason } from '../../../machines/events.ts';

/**
 * Rows are tried in order, and the first decides whose conditions all hold; one with a name and no condition is what the codec
 * names. What a row does not say is as the HTTP status says.
 *
 * Codes that mean the same at every provider, for files: `audio_too_long`, `file_too_large`, `unsupported_format` and
 * `audio_unusable` are about the file, which a fallback may take anyway; `bad_answer` is an answer that cannot be read.
 * What a customer can bring about, such as a file that is none, is of the kind `caller`: it says nothing of the provider.
 */
export interface FailureRow {
  /** Status of a refused upgrade or request. */
  status?: number | readonly number[] | '4xx' | '5xx' | 'any';
  /** Close code of the connection; an error message may have the same number for its code. Either this or `code` has to hold. */
  close?: number | readonly number[];
  /** The provider's own code: of an error message, of a refusal, or in the reason of a close. */
  code?: string | readonly string[] | RegExp;
  /** What it said beside. */
  words?: RegExp;
  /** The part of a request that a refusal names. */
  param?: string;
  /** Only where a file is transcribed. Without a status: of a job that has failed. */
  file?: true;

  /** What the codec calls it, where no condition can say when it is met. */
  name?: string;
  /** The code of the failure, in place of the provider's own. */
  as?: string;
  kind?: FailureKind;
  reason?: FailureReason;
  message?: string;
  /** The gateway's own doing: it says nothing of the provider. */
  own?: true;
  /** The session continues: it is not a failure. */
  survives?: true;
}
