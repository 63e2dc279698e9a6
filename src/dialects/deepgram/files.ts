// Files of Deepgram's `/v1/listen`: the audio is the body, and the answer has channels and utterances.
import type { Segment, VerboseTranscription } from '../../api/transcriptions.ts';
import type { Answer, FileDoor, Handshake } from '../dialect.ts';
import { badRequest } from '../texts.ts';
import { askedOfFile } from './asked.ts';
import { alternativeOf, metadataOf } from './shapes.ts';

export const files: FileDoor = {
  open({ query, headers }) {
    const contentType = headers.get('content-type');
    if (contentType?.startsWith('application/json'))
      throw badRequest('url', 'Files are not fetched from addresses here: send the audio itself as the body.');
    return { ...askedOfFile(query), contentType: rawType(query) ?? contentType };
  },

  answer(heard: VerboseTranscription, { query, requestId }: Handshake, at: Date): Answer {
    const alternative = alternativeOf(heard);
    const language = query.has('detect_language') ? { detected_language: heard.language } : {};
    const body = {
      metadata: {
        ...metadataOf(requestId, at, heard.duration),
        models: [heard.model],
        model_info: { [heard.model]: { name: heard.model, version: '', arch: heard.model } },
      },
      results: {
        channels: [{ alternatives: [alternative], ...language }],
        ...(query.get('utterances') === 'true' ? { utterances: utterancesOf(heard) } : {}),
      },
    };
    return {
      status: 200,
      headers: { 'Content-Type': 'application/json', 'dg-request-id': requestId },
      body: JSON.stringify(body),
    };
  },
};

/** Headerless samples are declared in the query. */
function rawType(query: URLSearchParams): string | undefined {
  if (query.get('encoding') !== 'linear16') return undefined;
  return `audio/l16;rate=${query.get('sample_rate') ?? '16000'}`;
}

const utterancesOf = ({ segments = [], words = [], request_id }: VerboseTranscription) =>
  segments.map((segment: Segment, index) => {
    const spoken = words.filter(({ start }) => start >= segment.start && start < segment.end);
    const { start, end, text, speaker, confidence } = segment;
    const heard = { text, words: spoken, ...(confidence === undefined ? {} : { confidence }) };
    const alternative = alternativeOf(speaker === undefined ? heard : { ...heard, speaker });
    return {
      start,
      end,
      confidence: alternative.confidence,
      channel: 0,
      transcript: text,
      words: alternative.words,
      ...(speaker === undefined ? {} : { speaker }),
      id: `${request_id}-${index}`,
    };
  });
