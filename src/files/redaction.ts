// Redaction of a file's transcript by the gateway: of the answer as a whole, and of what a stream sends before that. Both are the same
// text, since what may continue in the next utterance waits for it.
import { setImmediate } from 'node:timers/promises';
import type { Utterance } from '../../machines/events.ts';
import { ApiError } from '../api/errors.ts';
import type { RedactionClass } from '../api/redaction.ts';
import type { Degradation } from '../live/failover/chain.ts';
import { redactedMessage } from '../redaction/messages.ts';
import { UNREADABLE } from '../redaction/pieces.ts';
import { UtteranceRedactor } from '../redaction/utterances.ts';
import { analysed, type FileAnalysis } from './service-redaction.ts';
import type { TranscriptionOutcome } from './transcribe.ts';

/** Characters that are read at a time: other work of the node has its turn in between. */
const BATCH_CHARS = 16_384;

export interface FileRedactionOptions {
  classes: readonly RedactionClass[];
  /** The answer is a stream: it is redacted utterance by utterance, as it is sent. */
  isStream: boolean;
  /** With classes that a service finds. */
  analysis?: FileAnalysis | undefined;
  /** Of each match, and of a text that could not be read. */
  onRedacted?: ((kind: RedactionClass | 'failed') => void) | undefined;
}

/** A provider may repeat in a refusal or a warning what it heard. */
export async function withoutQuotes(
  heard: Promise<TranscriptionOutcome>,
  classes: readonly RedactionClass[],
): Promise<TranscriptionOutcome> {
  try {
    const outcome = await heard;
    const warnings = outcome.warnings.map((each) => ({ ...each, message: redactedMessage(each.message, classes) }));
    return { ...outcome, warnings };
  } catch (error) {
    throw error instanceof ApiError ? error.withMessage(redactedMessage(error.message, classes)) : error;
  }
}

/** The answer with labels. Log probabilities are left out: their tokens repeat what was said. */
export async function redactedOutcome(
  outcome: TranscriptionOutcome,
  { classes, isStream, analysis, onRedacted }: FileRedactionOptions,
): Promise<TranscriptionOutcome> {
  const redactions: Record<string, number> = { ...outcome.redactions };
  let isIncomplete = false;
  const redactor = new UtteranceRedactor({
    classes: new Set(classes),
    onFound: (kind) => {
      redactions[kind] = (redactions[kind] ?? 0) + 1;
      onRedacted?.(kind);
    },
    onUnreadable: () => {
      isIncomplete = true;
      onRedacted?.('failed');
    },
  });
  const utterances: Utterance[] = [];
  for (const batch of batchesOf(outcome.utterances)) {
    if (analysis !== undefined) utterances.push(...redactor.addKnown(await analysed(batch, analysis)));
    else if (isStream) for (const utterance of batch) utterances.push(...redactor.add(utterance));
    else utterances.push(...redactor.add(...batch));
    await setImmediate();
  }
  utterances.push(...redactor.end());
  const { logprobs: _, ...rest } = outcome;
  const isNew = isIncomplete && !rest.warnings.includes(UNREAD);
  const warnings = isNew ? [...rest.warnings, UNREAD] : rest.warnings;
  return { ...rest, warnings, utterances, ...(Object.keys(redactions).length === 0 ? {} : { redactions }) };
}

const UNREAD: Degradation = {
  code: 'redaction_failed',
  message: `Some of the text could not be redacted, so it was left out: it is \`${UNREADABLE}\` instead.`,
  param: 'redact',
};

export function* batchesOf(utterances: readonly Utterance[]): Generator<Utterance[]> {
  let batch: Utterance[] = [];
  let chars = 0;
  for (const utterance of utterances) {
    batch.push(utterance);
    chars += utterance.text.length + 1;
    if (chars < BATCH_CHARS) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}

/** The same for utterances that are sent while the work continues: what they say is counted with the answer. */
export function redactedStream<Member>(
  classes: readonly RedactionClass[],
  tell: (utterance: Utterance, by: Member) => void,
): (utterance: Utterance, by: Member) => void {
  const redactor = new UtteranceRedactor({ classes: new Set(classes), onFound: () => {}, onUnreadable: () => {} });
  return (utterance, by) => {
    for (const each of redactor.add(utterance)) tell(each, by);
  };
}
