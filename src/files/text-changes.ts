// What is done to the text of a file before it is answered: redaction, replacement rules, or both, in the order of live sessions
// (`live/session/text`). A stream and the whole answer have the same text.
import { setImmediate } from 'node:timers/promises';
import type { Utterance } from '../../machines/events.ts';
import { isServiceClass, type RedactionClass } from '../api/redaction.ts';
import type { Replacement } from '../api/replacements.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { LABELS } from '../redaction/labels.ts';
import { Replacer } from '../replacements/replaced.ts';
import { batchesOf, type FileRedactionOptions, redactedOutcome, redactedStream } from './redaction.ts';
import type { TranscriptionOutcome } from './transcribe.ts';

/** What a key and its organisation ask for, in addition to requests. */
export interface DemandedTexts {
  /** A request cannot remove any of it. */
  redacted?: readonly RedactionClass[] | undefined;
  /** After those of the request. */
  replacements?: readonly Replacement[] | undefined;
}

/** The request, with the rules of its key. */
export const withReplacements = (
  request: TranscriptionRequest,
  ofKey: readonly Replacement[] | undefined,
): TranscriptionRequest =>
  ofKey === undefined ? request : { ...request, replacements: [...(request.replacements ?? []), ...ofKey] };

type Changing = Pick<TranscriptionRequest, 'redacted' | 'replacements' | 'language' | 'stream'>;

/** The answer as it is given. */
export async function changedOutcome(
  outcome: TranscriptionOutcome,
  { redacted: classes, replacements, language, stream: isStream }: Changing,
  { analysis, onRedacted }: Pick<FileRedactionOptions, 'analysis' | 'onRedacted'>,
): Promise<TranscriptionOutcome> {
  const redacted =
    classes === undefined ? outcome : await redactedOutcome(outcome, { classes, isStream, analysis, onRedacted });
  if (replacements === undefined) return redacted;
  const replacer = replacerOf({ replacements, redacted: classes, language });
  const utterances: Utterance[] = [];
  // Of a stream no more is known before its end than of each utterance.
  const reported = isStream ? undefined : redacted.language;
  for (const batch of batchesOf(redacted.utterances)) {
    for (const utterance of batch) utterances.push(...replaced(utterance, replacer, reported));
    await setImmediate();
  }
  const changed = { ...redacted, utterances };
  if (classes === undefined) return changed;
  // What a service finds was found in what was said.
  const own = classes.filter((kind) => !isServiceClass(kind));
  return redactedOutcome(changed, { classes: own, isStream, onRedacted });
}

/** The same for utterances that are sent while the work continues. */
export function changedStream<Member>(
  { redacted: classes, replacements, language }: Changing,
  tell: (utterance: Utterance, by: Member) => void,
): (utterance: Utterance, by: Member) => void {
  const redact = (next: typeof tell) => (classes === undefined ? next : redactedStream(classes, next));
  if (replacements === undefined) return redact(tell);
  const replacer = replacerOf({ replacements, redacted: classes, language });
  const second = redact(tell);
  return redact((utterance, by) => {
    for (const each of replaced(utterance, replacer)) second(each, by);
  });
}

const replacerOf = ({
  replacements = [],
  redacted,
  language,
}: Pick<Changing, 'replacements' | 'redacted' | 'language'>): Replacer =>
  new Replacer({ rules: replacements, language, labels: redacted === undefined ? undefined : LABELS });

/** None where all of it is left out. */
function replaced(utterance: Utterance, replacer: Replacer, reported?: string): Utterance[] {
  const { text, words, language = reported } = utterance;
  const found = replacer.replaced({ text, words, language });
  if (found === undefined) return [utterance];
  return found.text === '' ? [] : [{ ...utterance, ...found }];
}
