// Files (`POST /v1/listen`): one request with the file as its body and the options in its query, one answer.
import type { Utterance } from '../../../machines/events.ts';
import { modelAt } from '../kit/api.ts';
import { requestBatch } from '../kit/batch.ts';
import { fractionIn, type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import type { BatchRequest, BatchResult } from '../kit/provider.ts';
import { Speakers } from '../kit/words.ts';
import { api, heardOf, languageOf, wordsIn } from './api.ts';
import { failures } from './failures.ts';
import { novaLanguage } from './models.ts';
import { options } from './options.ts';

export const batch = requestBatch({
  failures,
  // A file is worked on for ten minutes at most, and refused with 504 then.
  answerMs: 660_000,
  // Each channel is billed where each is transcribed: https://developers.deepgram.com/docs/multichannel
  billsChannels: { whenAsked: 'multichannel' },

  requestOf: (request) => ({
    method: 'POST',
    url: api.http(request.access, '/v1/listen', queryOf(request)),
    headers: { ...api.headers(request.access), 'content-type': request.file.contentType },
    body: { kind: 'file' },
  }),
  resultOf,
});

function queryOf(request: BatchRequest) {
  const { model, language, diarization, params, file } = request;
  const isAuto = language === 'auto';
  return {
    model: modelAt(request),
    ...rawAudio(file.contentType),
    language: isAuto || language === undefined ? undefined : novaLanguage(language, model),
    detect_language: isAuto ? true : undefined,
    diarize_model: diarization ? 'latest' : undefined,
    // What a file says is meant to be read, and to be shown in segments.
    smart_format: true,
    utterances: true,
    ...options.wire(params, model, 'batch'),
  };
}

/** Headerless PCM (`audio/l16;rate=16000`) has to be declared; a container tells for itself. */
function rawAudio(contentType: string): { encoding?: string; sample_rate?: number } {
  if (!/^audio\/l16\b/i.test(contentType)) return {};
  const rate = /;\s*rate="?(\d+)/i.exec(contentType)?.[1];
  return { encoding: 'linear16', sample_rate: Number(rate ?? 16_000) };
}

function resultOf(request: BatchRequest, answer: JsonObject): BatchResult | undefined {
  const { multichannel } = options.honoured(request.params, request.model, 'batch');
  const results = objectIn(answer.results);
  const channels = listIn(results.channels).map(objectIn);
  const first = channels[0];
  if (first === undefined) return undefined;
  const speakers = new Speakers();
  const seconds = numberIn(objectIn(answer.metadata).duration);
  const segments = Array.isArray(results.utterances)
    ? results.utterances.map(objectIn)
    : channels.map((channel, index) => ({ ...objectIn(listIn(channel.alternatives)[0]), channel: index }));
  const utterances = segments
    .map((segment) => segmentOf(segment, seconds, speakers, multichannel === true))
    .filter((utterance) => utterance !== undefined)
    .sort((a, b) => a.start - b.start);
  // With switching between languages nothing else says what was heard.
  const language = textIn(first.detected_language) ?? languageOf(objectIn(listIn(first.alternatives)[0]));
  return { utterances, language, seconds, warnings: [] };
}

/** A segment, or what a channel said as a whole, which has no times but those of its words. */
function segmentOf(
  segment: JsonObject,
  seconds: number | undefined,
  speakers: Speakers,
  multichannel: boolean,
): Utterance | undefined {
  const text = textIn(segment.transcript);
  if (text === undefined || text === '') return undefined;
  const channel = numberIn(segment.channel) ?? 0;
  // Speakers of a channel are not those of another, whatever their numbers are; one that is not told apart is the channel's.
  const speakerOf = (label: unknown) => {
    if (typeof label === 'number') return speakers.numberOf(`${channel}:${label}`);
    return multichannel ? speakers.numberOf(`${channel}:`) : undefined;
  };
  const words = wordsIn(segment.words, (at) => at, speakerOf);
  const start = numberIn(segment.start) ?? words?.[0]?.start ?? 0;
  const end = Math.max(start, numberIn(segment.end) ?? words?.at(-1)?.end ?? seconds ?? start);
  return heardOf(text, { start, end }, words, { confidence: fractionIn(segment.confidence) });
}
