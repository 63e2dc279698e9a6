// What is requested of a session or a file, and the utterances that come back: both are written the same live and for files.
import type { Utterance } from '../../../machines/events.ts';
import type { Mode } from '../../api/models.ts';
import { fractionIn, type JsonObject, listIn, numberIn, objectIn, textIn, timeOr } from '../kit/json.ts';
import { nested } from '../kit/options.ts';
import type { LegRequest } from '../kit/provider.ts';
import { oneSpeaker, type Speakers, utteranceOf, wordOf } from '../kit/words.ts';
import { options } from './options.ts';

/** Features that are switched on beside what they are set to. */
const SWITCHED = ['custom_vocabulary', 'custom_spelling', 'diarization', 'pii_redaction'];

export function configOf(
  { model, language, params }: Pick<LegRequest, 'model' | 'language' | 'params'>,
  mode: Mode,
  own: Record<string, unknown>,
): Record<string, unknown> {
  const isNamed = language !== undefined && language !== 'auto';
  const languages = isNamed ? { 'language_config.languages': [language.toLowerCase().split('-')[0]] } : {};
  const asked = nested({ model, ...own, ...languages, ...options.wire(params, model, mode) });
  const { realtime_processing } = asked;
  return {
    ...withSwitches(asked),
    ...(realtime_processing === undefined ? {} : { realtime_processing: withSwitches(objectIn(realtime_processing)) }),
  };
}

function withSwitches(asked: JsonObject): Record<string, unknown> {
  const on = SWITCHED.filter((name) => asked[`${name}_config`] !== undefined);
  return { ...asked, ...Object.fromEntries(on.map((name) => [name, true])) };
}

/** An utterance; undefined for what is none. One without a place ends where `otherwise` says. */
export function utteranceIn(
  members: JsonObject,
  place: (seconds: number) => number,
  speakers: Speakers,
  otherwise: number,
): Utterance | undefined {
  const text = textIn(members.text)?.trim();
  if (text === undefined) return undefined;
  let last = 0;
  const words = listIn(members.words)
    .map(objectIn)
    .flatMap((each) => {
      const word = textIn(each.word)?.trim() ?? '';
      const start = timeOr(each.start, last);
      const end = timeOr(each.end, start ?? last);
      if (word === '' || start === undefined || end === undefined) return [];
      last = Math.max(start, end);
      const speaker = speakers.numberOf(each.speaker ?? members.speaker);
      return [wordOf(word, place(start), place(last), fractionIn(each.confidence), speaker)];
    });
  const start = placedAt(members.start, place) ?? words[0]?.start ?? otherwise;
  const end = placedAt(members.end, place) ?? words.at(-1)?.end ?? otherwise;
  return utteranceOf(text, start, Math.max(start, end), {
    confidence: fractionIn(members.confidence),
    language: textIn(members.language),
    speaker: words.length > 0 ? oneSpeaker(words) : speakers.numberOf(members.speaker),
    words: words.length > 0 ? words : undefined,
  });
}

function placedAt(value: unknown, place: (seconds: number) => number): number | undefined {
  const known = numberIn(value);
  return known === undefined ? undefined : place(known);
}
