// Files of Deepgram's `/v1/listen`: the audio is the body, and the answer has channels and utterances.

import { CHANNELS, SAMPLE_RATE } from '../../../api/listen.ts';
import type { VerboseTranscription } from '../../../api/transcriptions.ts';
import { wavHeader } from '../../../audio/containers/wav.ts';
import { callbackAt, callbackMethod, jsonPost } from '../../compat/callbacks.ts';
import type { Answer, FileEndpoint, FileRequest, Handshake } from '../../compat/dialect.ts';
import type { WriteCallback } from '../../compat/jobs.ts';
import { badRequest } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';
import {
  confidenceOf,
  type HeardTurn,
  type HeardWord,
  languageOf,
  sentencesOf,
  turnsOf,
  wordsOf,
} from '../../compat/transcript.ts';
import { type JsonObject, textIn } from '../../kit/json.ts';
import { alternativeOf, fileAnswer, metadataOf, utteranceOf } from '../messages.ts';
import { errorAnswer } from './errors.ts';
import { fileRequest, plainQuery } from './params.ts';

export const files: FileEndpoint = {
  open({ query, headers }) {
    const contentType = headers.get('content-type');
    if (contentType?.startsWith('application/json') && query.has('encoding'))
      throw badRequest(
        'encoding',
        '`encoding` is for samples in the body. With `url`, send the address of a file with a header.',
      );
    return { ...fileRequest(plainQuery(query)), contentType, ...rawFile(query) };
  },

  reported({ query }) {
    const callback = callbackAt(query.get('callback'), 'callback', {
      method: callbackMethod(query.get('callback_method'), 'callback_method'),
    });
    if (callback === undefined) return undefined;
    return {
      callbacks: [callback],
      asked: shapingOf(query),
      answer: ({ id }) => ({ ...jsonAnswer({ request_id: id }), headers: headersOf(id) }),
    };
  },

  sourceIn({ url }) {
    const text = textIn(url);
    if (text === undefined || text === '')
      throw badRequest(
        'url',
        '`url` is missing: the address of the audio. Or send the audio as the body, with its content type.',
      );
    return { url: text, param: 'url' };
  },

  answer(heard: VerboseTranscription, { query, requestId }: Handshake, at: Date): Answer {
    const body = transcriptOf(heard, shapingOf(query), requestId, at);
    return { ...jsonAnswer(body), headers: headersOf(requestId) };
  },
};

/** What of the query shapes the answer. Throws an ApiError. */
function shapingOf(query: URLSearchParams): JsonObject {
  const plain = plainQuery(query);
  const names = ['paragraphs', 'smart_format', 'utterances', 'detect_language'].filter((name) => plain.has(name));
  return Object.fromEntries(names.map((name) => [name, plain.get(name)]));
}

const headersOf = (requestId: string) => ({ 'Content-Type': 'application/json', 'dg-request-id': requestId });

/** The whole answer, as the client would have been given it. https://developers.deepgram.com/docs/callback */
export const callbackPost: WriteCallback = ({ id, asked, state, createdAt }, callback, { keyId }) => {
  const by = { ...callback, headers: [...callback.headers, ['dg-token', keyId] as const] };
  if (state.type === 'done') return jsonPost(by, transcriptOf(state.heard.transcription, asked, id, createdAt));
  const { body } = errorAnswer(state.refusal, id);
  return { ...jsonPost(by, null), body };
};

function transcriptOf(heard: VerboseTranscription, query: JsonObject, requestId: string, at: Date) {
  const isAsked = (name: string) => query[name] === 'true';
  // `smart_format` of a file makes paragraphs as well.
  const isParted = isAsked('paragraphs') || isAsked('smart_format');
  const alternative = { ...alternativeIn(heard), ...(isParted ? { paragraphs: paragraphsOf(heard) } : {}) };
  const code = languageOf(heard);
  const language = query.detect_language !== undefined && code !== undefined ? { detected_language: code } : {};
  return fileAnswer(
    metadataOf(requestId, at, heard.duration),
    heard.model,
    { alternatives: [alternative], ...language },
    { metadata: warningsOf(heard), results: isAsked('utterances') ? { utterances: utterancesOf(heard) } : {} },
  );
}

/** @param heard whose speaker is that of all words that have none */
export const alternativeIn = (
  heard: Pick<HeardTurn, 'text'> & { confidence?: number; speaker?: number; words?: readonly HeardWord[] },
) =>
  alternativeOf(
    heard.text,
    confidenceOf(heard),
    (heard.words ?? []).map((word) => (heard.speaker === undefined ? word : { speaker: heard.speaker, ...word })),
  );

/** In Deepgram's own shape. */
const warningsOf = ({ warnings }: VerboseTranscription) =>
  warnings === undefined
    ? {}
    : { warnings: warnings.map(({ code, message, param = '' }) => ({ parameter: param, type: code, message })) };

/** By the name of the encoding: the rate that stands for one that is not named. */
const RAW: Readonly<Record<string, number>> = { linear16: 16_000, mulaw: 8_000, alaw: 8_000 };

/** Samples without a header are declared in the query. All but the plainest become a WAV file. */
function rawFile(query: URLSearchParams): Pick<FileRequest, 'contentType' | 'headerOf'> | undefined {
  const encoding = query.get('encoding') ?? '';
  if (!Object.hasOwn(RAW, encoding)) return undefined;
  const rate = numberOf(query, 'sample_rate', SAMPLE_RATE, RAW[encoding] as number);
  const channels = numberOf(query, 'channels', CHANNELS, 1);
  if (encoding === 'linear16' && channels === 1) return { contentType: `audio/l16;rate=${rate}` };
  return {
    contentType: 'audio/wav',
    headerOf: (bytes) => wavHeader(rate, bytes, encoding as Parameters<typeof wavHeader>[2], channels),
  };
}

function numberOf(
  query: URLSearchParams,
  name: string,
  { min, max }: { min: number; max: number },
  usual: number,
): number {
  const value = Number(query.get(name) || usual);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw badRequest(name, `\`${name}\` is a number from ${min} to ${max}; ${usual} when absent.`);
}

/** A paragraph is a turn. */
function paragraphsOf(transcription: VerboseTranscription) {
  const turns = turnsOf(transcription).filter(({ text }) => text !== '');
  const texts = turns.map(({ text, speaker }) => (speaker === undefined ? text : `Speaker ${speaker}: ${text}`));
  const paragraphs = turns.map((turn) => ({
    sentences: sentencesOf(turn).map(({ text, start, end }) => ({ text, start, end })),
    ...(turn.speaker === undefined ? {} : { speaker: turn.speaker }),
    num_words: wordsOf(turn).length,
    ...{ start: turn.start, end: turn.end },
  }));
  return { transcript: `\n${texts.join('\n\n')}`, paragraphs };
}

const utterancesOf = (transcription: VerboseTranscription) =>
  turnsOf(transcription).map((turn, index) =>
    utteranceOf(`${transcription.request_id}-${index}`, turn, alternativeIn(turn)),
  );
