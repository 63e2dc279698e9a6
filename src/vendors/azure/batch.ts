// Azure's fast transcription: one form, one answer. https://learn.microsoft.com/azure/ai-services/speech-service/fast-transcription-create
import { requestBatch } from '../kit/batch.ts';
import { fractionIn, type JsonObject, listIn, objectIn, secondsIn, textIn } from '../kit/json.ts';
import { nested } from '../kit/options.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { Speakers, utteranceOf, wordOf } from '../kit/words.ts';
import { api, TRANSCRIBE } from './api.ts';
import { failures } from './failures.ts';
import { localeOf } from './models.ts';
import { options } from './options.ts';

const PROFANITY = { masked: 'Masked', removed: 'Removed', raw: 'None' } as const;

export const batch = requestBatch({
  failures,
  // The answer comes when all of the file was heard.
  answerMs: 900_000,
  // Channels are mixed, unless `channels` is given, which the gateway does not.
  billsChannels: 'never',
  requestOf: (request) =>
    api.request(request.access, 'POST', TRANSCRIBE, {
      kind: 'multipart',
      fields: [['definition', JSON.stringify(definitionOf(request))]],
      fileField: 'audio',
    }),
  resultOf,
});

function definitionOf({ model, language, diarization, params }: BatchRequest) {
  const { profanity, max_speakers } = options.honoured(params, model, 'batch');
  const locale = localeOf(language);
  const tellsSpeakers = diarization || max_speakers !== undefined;
  return nested({
    // None: the model of many languages finds out.
    locales: locale === undefined ? [] : [locale],
    ...(tellsSpeakers ? { 'diarization.enabled': true } : {}),
    ...(profanity === undefined ? {} : { profanityFilterMode: PROFANITY[profanity] }),
    ...options.wire(params, model, 'batch'),
  });
}

function resultOf(request: BatchRequest, answer: JsonObject): BatchResult | undefined {
  if (!Array.isArray(answer.phrases) && !Array.isArray(answer.combinedPhrases)) return undefined;
  const phrases = listIn(answer.phrases).map(objectIn);
  const speakers = new Speakers();
  const seconds = secondsIn(answer.durationMilliseconds);
  const whole = listIn(answer.combinedPhrases)
    .flatMap((each) => textIn(objectIn(each).text) ?? [])
    .join(' ');
  const utterances = phrases.flatMap((phrase) => {
    const text = textIn(phrase.text)?.trim() ?? '';
    if (text === '') return [];
    const speaker = speakers.numberOf(phrase.speaker);
    const words = listIn(phrase.words)
      .map(objectIn)
      .flatMap((each) => {
        const [word, place] = [textIn(each.text), placeOf(each)];
        return word === undefined || place === undefined ? [] : [wordOf(word, ...place, undefined, speaker)];
      });
    const [start, end] = placeOf(phrase) ?? [words[0]?.start ?? 0, words.at(-1)?.end ?? 0];
    const [confidence, language] = [fractionIn(phrase.confidence), textIn(phrase.locale)];
    return [
      utteranceOf(text, start, end, { confidence, language, speaker, words: words.length > 0 ? words : undefined }),
    ];
  });
  utterances.sort((a, b) => a.start - b.start);
  if (phrases.length === 0 && whole !== '')
    utterances.push(utteranceOf(whole, 0, seconds ?? request.file.seconds ?? 0));
  return {
    utterances,
    language: utterances[0]?.language,
    seconds,
    warnings: [],
  };
}

/** Seconds of the file. */
function placeOf({ offsetMilliseconds, durationMilliseconds }: JsonObject): [number, number] | undefined {
  const start = secondsIn(offsetMilliseconds);
  return start === undefined ? undefined : [start, start + (secondsIn(durationMilliseconds) ?? 0)];
}
