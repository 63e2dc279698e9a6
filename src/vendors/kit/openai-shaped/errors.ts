// The errors of sessions shaped like OpenAI's, as far as they can be read, and what a failed item means for a leg.
import type { LegFailure } from '../../../../machines/events.ts';
import type { FailureRow } from '../failure-row.ts';
import { type FailureTable, type RefusalWords, withParam } from '../failures.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../json.ts';

export function openaiShapedRefusal(body: JsonObject): RefusalWords {
  const { detail, error } = body;
  const [first] = listIn(detail);
  if (first !== undefined) {
    const { loc, msg } = objectIn(first);
    return { words: textIn(msg), param: textIn(listIn(loc).at(-1)) };
  }
  const told = typeof error === 'object' ? objectIn(error) : body;
  const { code, message, param } = told;
  return {
    code: textIn(code) || undefined,
    words: textIn(message) ?? textIn(error) ?? textIn(detail),
    param: textIn(param) || undefined,
  };
}

interface SessionError {
  type: string;
  code: string | undefined;
  message: string;
  eventId: string | undefined;
}

/** Rows that every such service has. */
export const itemRows = (title: string): FailureRow[] => [
  // Its words were heard and never became final: the audio is sent again, here or to the next.
  { name: 'item_failed', kind: 'retry', message: `${title} could not transcribe a turn.` },
  { name: 'too_many_items', kind: 'retry', message: `${title} leaves too many turns without a final.` },
];

export function errorOf(event: JsonObject): SessionError | undefined {
  if (typeof event.error !== 'object' || event.error === null) return undefined;
  const { type, code, message, param, event_id } = objectIn(event.error);
  return {
    type: textIn(type) ?? '',
    code: textIn(code) || undefined,
    message: withParam({ words: textIn(message), param: textIn(param) || undefined }),
    eventId: textIn(event_id),
  };
}

/** The failure of an item that failed. Whatever the reason, the words are not lost: its audio is sent again. */
export function failureOfItem(failures: FailureTable, error: SessionError | undefined): LegFailure {
  const failure = error === undefined ? undefined : failures.ofError(error.code, error.message, error.type);
  const isOfSession = failure?.kind === 'account' || failure?.kind === 'next' || failure?.reason === 'upstream_closed';
  return failure !== undefined && isOfSession ? failure : failures.named('item_failed', error?.message);
}
