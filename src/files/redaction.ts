// Redaction of a file's transcript by the gateway: of the answer as a whole, and of what a stream sends before that. Both are the same
// text, since what may continue in the next utterance waits for it.
import type { Utterance } from '../../machines/events.ts';
import type { RedactionClass } from '../api/redaction.ts';
import { redactedUtterances, UtteranceRedactor } from '../redaction/utterances.ts';
import type { TranscriptionOutcome } from './transcribe.ts';

export interface FileRedactionOptions {
  classes: readonly RedactionClass[];
  /** Of each match, and of a text that could not be read. */
  onRedacted?: ((kind: RedactionClass | 'failed') => void) | undefined;
}

/** The answer with labels. Log probabilities are left out: their tokens repeat what was said. */
export function redactedOutcome(
  outcome: TranscriptionOutcome,
  { classes, onRedacted }: FileRedactionOptions,
): TranscriptionOutcome {
  const redactions: Record<string, number> = {};
  const utterances = redactedUtterances(outcome.utterances, {
    classes: new Set(classes),
    onFound: (kind) => {
      redactions[kind] = (redactions[kind] ?? 0) + 1;
      onRedacted?.(kind);
    },
    onUnreadable: () => onRedacted?.('failed'),
  });
  const { logprobs: _, ...rest } = outcome;
  return { ...rest, utterances, ...(Object.keys(redactions).length === 0 ? {} : { redactions }) };
}

/** The same for utterances that are sent while the work continues: what they say is counted with the answer. */
export function redactedStream<Member>(
  { classes }: FileRedactionOptions,
  tell: (utterance: Utterance, by: Member) => void,
): (utterance: Utterance, by: Member) => void {
  const redactor = new UtteranceRedactor({ classes: new Set(classes), onFound: () => {}, onUnreadable: () => {} });
  return (utterance, by) => {
    for (const each of redactor.add(utterance)) tell(each, by);
  };
}
