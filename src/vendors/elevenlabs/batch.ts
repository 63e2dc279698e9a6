// Files of Scribe: one form, one answer with every word of it.
import { requestBatch } from '../kit/batch.ts';
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { formOf } from '../kit/urls.ts';
import { Speakers, sentencesOf, utteranceOf } from '../kit/words.ts';
import { api, languageTag, wordsIn } from './api.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

export const batch = requestBatch({
  failures,
  needsLength: true,
  // The answer comes when all of the file was heard.
  answerMs: 900_000,
  billsChannels: { whenAsked: 'use_multi_channel' },

  requestOf(request) {
    const { access, model, language, diarization, params } = request;
    const { enable_logging, ...asked } = options.wire(params, model, 'batch');
    const fields = formOf({
      model_id: model,
      language_code: baseLanguage(language),
      diarize: diarization ? true : undefined,
      tag_audio_events: false,
      ...asked,
    });
    const body = { kind: 'multipart', fields, fileField: 'file' } as const;
    const made = api.request(access, 'POST', '/v1/speech-to-text', body);
    return enable_logging === undefined
      ? made
      : { ...made, url: api.http(access, '/v1/speech-to-text', { enable_logging }) };
  },

  resultOf,
});

/** Each channel has a transcript of its own, where that was requested. */
function resultOf(request: BatchRequest, answer: JsonObject): BatchResult | undefined {
  const transcripts = Array.isArray(answer.transcripts) ? listIn(answer.transcripts).map(objectIn) : [answer];
  const isMulti = Array.isArray(answer.transcripts);
  const speakers = new Speakers();
  const utterances = [];
  for (const [channel, transcript] of transcripts.entries()) {
    const text = textIn(transcript.text)?.trim();
    if (text === undefined) return undefined;
    const words = wordsIn(
      transcript.words,
      (seconds) => seconds,
      ({ speaker_id }) => {
        if (typeof speaker_id === 'string') return speakers.numberOf(`${channel}:${speaker_id}`);
        return isMulti ? speakers.numberOf(`${channel}:`) : undefined;
      },
    );
    if (words !== undefined) utterances.push(...sentencesOf(words, text));
    else if (text !== '') utterances.push(utteranceOf(text, 0, secondsOf(answer) ?? request.file.seconds ?? 0));
  }
  utterances.sort((a, b) => a.start - b.start);
  return {
    utterances,
    language: languageTag(transcripts[0]?.language_code),
    seconds: secondsOf(answer),
    warnings: [],
  };
}

const secondsOf = ({ audio_duration_secs }: JsonObject): number | undefined => numberIn(audio_duration_secs);
