// The `transcription_config` of a session or a job, and the words that come back: both are the same live and for files.
import type { Word } from '../../../machines/events.ts';
import type { Mode } from '../../api/models.ts';
import { fractionIn, listIn, objectIn, textIn, timeOr } from '../kit/json.ts';
import { nested } from '../kit/options.ts';
import type { LegRequest } from '../kit/provider.ts';
import { Speakers, wordOf } from '../kit/words.ts';
import { languageOf } from './models.ts';
import { options } from './options.ts';

type Asked = Pick<LegRequest, 'model' | 'language' | 'diarization' | 'params'>;

export function configOf({ model, language, diarization, params }: Asked, mode: Mode, own: Record<string, unknown>) {
  const asked = nested({ ...own, ...options.wire(params, model, mode) });
  const tellsSpeakers = diarization || asked.speaker_diarization_config !== undefined;
  return {
    // Live there is no detection.
    ...languageOf(language === 'auto' && mode === 'live' ? undefined : language),
    model,
    ...(tellsSpeakers ? { diarization: 'speaker' } : {}),
    ...asked,
  };
}

/** `UU` is said of words whose speaker is not known. */
export const newSpeakers = (): Speakers => new Speakers(['UU'], 64);

/**
 * The results of a message or a file as parts that bring their own spaces: punctuation belongs to the word that it is attached to.
 *
 * @param delimiter between words; some languages have none
 */
export function partsOf(
  results: unknown,
  place: (seconds: number) => number,
  speakers: Speakers,
  delimiter = ' ',
): Word[] {
  const parts: Word[] = [];
  let [lastEnd, isAttached] = [0, false];
  for (const result of listIn(results).map(objectIn)) {
    const alternative = objectIn(listIn(result.alternatives)[0]);
    const content = textIn(alternative.content);
    if (content === undefined || content === '') continue;
    const attaches = textIn(result.attaches_to) ?? '';
    const start = timeOr(result.start_time, lastEnd) ?? lastEnd;
    lastEnd = Math.max(start, timeOr(result.end_time, start) ?? start);
    const space = isAttached || attaches === 'previous' || attaches === 'both' ? '' : delimiter;
    isAttached = attaches === 'next' || attaches === 'both';
    const isWord = result.type !== 'punctuation';
    parts.push(
      wordOf(
        space + content,
        place(start),
        place(lastEnd),
        isWord ? fractionIn(alternative.confidence) : undefined,
        speakers.numberOf(alternative.speaker),
      ),
    );
  }
  return parts;
}
