// Names and addresses in a file's transcript, as a service of the operator's finds them: asked about several utterances at a time,
// again where it fails. What it does not answer about does not leave.
import type { Clock } from '../../machines/clock.ts';
import type { Utterance } from '../../machines/events.ts';
import type { ServiceClass } from '../api/redaction.ts';
import type { TextAnalyzer } from '../redaction/analyzer.ts';
import type { Match } from '../redaction/match.ts';
import { dropOtherWords, type Known } from '../redaction/pieces.ts';
import type { KnownUtterance } from '../redaction/utterances.ts';

/** Longer than a final of a live session waits: a file has time. */
const ANSWER_MS = 20_000;
/** Waits before the second and the third attempt. */
export const RETRY_MS: readonly number[] = [500, 2_500];

export interface FileAnalysis {
  analyzer: TextAnalyzer;
  clock: Clock;
  organisationId: string;
  language: string | undefined;
  classes: readonly ServiceClass[];
  signal: AbortSignal;
}

/** Rejects only when the signal is aborted. */
export async function analysed(utterances: readonly Utterance[], analysis: FileAnalysis): Promise<KnownUtterance[]> {
  const own = utterances.map((utterance) => ({ ...utterance }));
  for (const each of own) dropOtherWords(each);
  const text = own.map((each) => each.text).join('\n');
  const found = text.trim() === '' ? [] : await foundIn(text, analysis);
  let from = 0;
  return own.map((utterance) => {
    const begin = from;
    from += utterance.text.length + 1;
    return { utterance, known: found === 'withheld' ? found : within(found, begin, begin + utterance.text.length) };
  });
}

async function foundIn(text: string, analysis: FileAnalysis): Promise<Known> {
  const { analyzer, clock, organisationId, language, classes, signal } = analysis;
  for (const waitMs of [0, ...RETRY_MS]) {
    if (waitMs > 0) await waited(waitMs, clock, signal);
    signal.throwIfAborted();
    try {
      return await analyzer.find({ text, language, classes, organisationId, signal, timeoutMs: ANSWER_MS });
    } catch {
      signal.throwIfAborted();
    }
  }
  return 'withheld';
}

const within = (found: readonly Match[], from: number, to: number): Match[] =>
  found
    .filter((match) => match.from < to && match.to > from)
    .map((match) => ({
      class: match.class,
      from: Math.max(match.from, from) - from,
      to: Math.min(match.to, to) - from,
    }));

function waited(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
