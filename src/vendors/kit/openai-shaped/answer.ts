// What a service shaped like OpenAI answers for a file: text, segments and words, in `json`, `verbose_json` or `diarized_json`.
import type { Utterance, Word } from '../../../../machines/events.ts';
import type { TokenLogprob } from '../../../api/transcriptions.ts';
import { fractionIn, type JsonObject, listIn, numberIn, objectIn, textIn, timeIn } from '../json.ts';
import { languageCode } from '../languages/whisper-languages.ts';
import type { BatchResult } from '../provider.ts';
import { Speakers, sentencesOf, utteranceOf, wordOf } from '../words.ts';

export function resultOf(
  answer: JsonObject,
  fileSeconds: number | undefined,
): Omit<BatchResult, 'warnings'> | undefined {
  const text = textIn(answer.text)?.trim();
  if (text === undefined) return undefined;
  const usage = objectIn(answer.usage);
  const seconds = numberIn(answer.duration) ?? (usage.type === 'duration' ? numberIn(usage.seconds) : undefined);
  const language = languageOf(answer);
  const utterances = utterancesOf(answer, text, seconds ?? fileSeconds ?? 0);
  const logprobs = logprobsOf(answer.logprobs);
  const confidence = confidenceOf(logprobs);
  for (const utterance of utterances) {
    if (language !== undefined) utterance.language = language;
    if (confidence !== undefined) utterance.confidence = confidence;
  }
  return { utterances, language, seconds, ...(logprobs.length === 0 ? {} : { logprobs }) };
}

/** `language` is an English name or a code; `languages` are codes, the first heard first. */
export function languageOf({ language, languages }: JsonObject): string | undefined {
  const told = textIn(language) ?? textIn(objectIn(listIn(languages)[0]).code);
  return told === undefined ? undefined : languageCode(told);
}

/** Segments may say fewer words than the text: spaces and signs are another matter. */
const lettersIn = (text: string): number => text.replace(/[^\p{L}\p{N}]/gu, '').length;

/** By segments that say all of the text, else by sentences of words; without either there are no times: what was said was said somewhere in the file. */
function utterancesOf({ segments, words: told }: JsonObject, text: string, fileSeconds: number): Utterance[] {
  const speakers = new Speakers(['?']);
  const utterances = segmentsOf(segments, speakers);
  const words = wordsOf(toldWords(told, segments), speakers);
  const isWhole = utterances.length > 0 && lettersIn(utterances.map((each) => each.text).join('')) >= lettersIn(text);
  if (isWhole || text === '') return placeWords(utterances, words);
  return words.length > 0 ? sentencesOf(words, text) : [utteranceOf(text, 0, fileSeconds)];
}

/** Segments with words in them; none where one of them has no place, so that nothing of the text is lost. */
function segmentsOf(segments: unknown, speakers: Speakers): Utterance[] {
  const utterances: Utterance[] = [];
  for (const each of listIn(segments)) {
    const { text, start: from, end: until, speaker, speaker_id } = objectIn(each);
    const [said, start, end] = [textIn(text)?.trim() ?? '', timeIn(from), timeIn(until)];
    if (said === '') continue;
    if (start === undefined || end === undefined) return [];
    utterances.push(
      utteranceOf(said, start, Math.max(start, end), { speaker: speakers.numberOf(speaker ?? speaker_id) }),
    );
  }
  return utterances;
}

/** They stand beside the segments, or in them. */
const toldWords = (words: unknown, segments: unknown): readonly unknown[] =>
  listIn(words).length > 0 ? listIn(words) : listIn(segments).flatMap((each) => listIn(objectIn(each).words));

const wordsOf = (words: readonly unknown[], speakers: Speakers): Word[] =>
  words.flatMap((each) => {
    const { word, text, start: from, end: until, probability, speaker_id } = objectIn(each);
    const [said, start, end] = [textIn(word ?? text)?.trim(), timeIn(from), timeIn(until)];
    if (said === undefined || start === undefined || end === undefined) return [];
    return [wordOf(said, start, end, fractionIn(probability), speakers.numberOf(speaker_id))];
  });

/** Words come beside the segments, both in order: each belongs to the first that ends behind its beginning, else to the last. */
function placeWords(utterances: Utterance[], words: readonly Word[]): Utterance[] {
  let at = 0;
  for (const word of words) {
    while (at < utterances.length - 1 && word.start >= (utterances[at] as Utterance).end) at++;
    const utterance = utterances[at];
    if (utterance === undefined) break;
    utterance.words ??= [];
    utterance.words.push(word);
  }
  return utterances;
}

/** The tokens that say what they were worth. */
const logprobsOf = (logprobs: unknown): TokenLogprob[] =>
  listIn(logprobs).flatMap((each) => {
    const { token, bytes, logprob } = objectIn(each);
    if (typeof logprob !== 'number' || !Number.isFinite(logprob)) return [];
    const isBytes = Array.isArray(bytes) && bytes.every(Number.isInteger);
    return [{ token: textIn(token) ?? '', ...(isBytes ? { bytes } : {}), logprob }];
  });

/** The geometric mean of what the tokens were worth to the model. */
function confidenceOf(logprobs: readonly TokenLogprob[]): number | undefined {
  if (logprobs.length === 0) return undefined;
  const mean = logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / logprobs.length;
  return Math.min(1, Math.exp(mean));
}
