// Answers by HTTP, of any vendor.
import type { VerboseTranscription } from '../api/transcriptions.ts';
import type { Answer } from './request.ts';

/** A JSON answer. */
export const told = (value: unknown, status = 200): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});

export const toldText = (body: string, type = 'text/plain'): Answer => ({
  status: 200,
  headers: { 'Content-Type': `${type}; charset=utf-8` },
  body,
});

/** What was asked for and is not honoured, for the metadata of vendors that have no shape for it. */
export const warningsIn = ({ warnings }: Pick<VerboseTranscription, 'warnings'>) =>
  warnings === undefined ? {} : { warnings };
