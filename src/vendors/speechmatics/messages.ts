// What Speechmatics' service sends, by HTTP and on its sockets: built here for the gateway's own clients of Speechmatics, and for the
// simulator. https://docs.speechmatics.com/api-ref/realtime-transcription-websocket
import type { Word } from '../../../machines/events.ts';
import type { JsonObject } from '../kit/json.ts';

/** Behind a word. */
const MARKS = /^(.*[^.,?!;:…。，、？！；：।؟،])([.,?!;:…。，、？！；：।؟،]+)$/su;
const ENDS = /[.?!…。？！।؟]/u;

/** Words and marks of punctuation, each a result of its own. */
export const resultsOf = (words: readonly Word[], language: string | undefined) =>
  words.flatMap(({ word, start, end, confidence = 1, speaker }) => {
    const [, bare = word.trim(), marks = ''] = MARKS.exec(word.trim()) ?? [];
    const more = {
      ...(language === undefined ? {} : { language }),
      ...(speaker === undefined ? {} : { speaker: `S${speaker + 1}` }),
    };
    const alternative = (content: string) => [{ content, confidence, ...more }];
    return [
      { type: 'word', start_time: start, end_time: end, alternatives: alternative(bare) },
      ...[...marks].map((mark) => ({
        ...{ type: 'punctuation', start_time: end, end_time: end, attaches_to: 'previous', is_eos: ENDS.test(mark) },
        alternatives: alternative(mark),
      })),
    ];
  });

export type Results = ReturnType<typeof resultsOf>;

const FORMAT = '2.9';

/** A final or a partial. @param type `AddTranscript` or `AddPartialTranscript` */
export const transcriptMessage = (
  type: string,
  place: { start: number; end: number },
  transcript: string,
  results: Results,
  more: object = {},
) => ({
  message: type,
  format: FORMAT,
  metadata: { start_time: place.start, end_time: place.end, transcript },
  results,
  ...more,
});

export const endOfUtterance = (seconds: number, more: object) => ({
  message: 'EndOfUtterance',
  metadata: { start_time: seconds, end_time: seconds },
  ...more,
});

export const recognitionStarted = (id: string, version: string, word_delimiter: string) => ({
  message: 'RecognitionStarted',
  id,
  orchestrator_version: version,
  language_pack_info: {
    ...{ adapted: false, itn: true, language_description: '', word_delimiter, writing_direction: 'left-to-right' },
  },
});

export const errorMessage = (type: string, reason: string) => ({ message: 'Error', type, reason });

export const warningMessage = (type: string, reason: string) => ({ message: 'Warning', type, reason });

/** The code of the close frame behind an error, by its type. */
export const CLOSE_CODES = {
  invalid_message: 1003,
  invalid_config: 1003,
  invalid_audio_type: 1003,
  protocol_error: 1003,
  not_authorised: 4001,
  not_allowed: 4003,
  invalid_model: 4004,
  invalid_language: 4004,
  quota_exceeded: 4005,
  timelimit_exceeded: 4006,
  job_error: 4013,
  idle_timeout: 1008,
  session_timeout: 1008,
  internal_error: 1011,
  unknown_error: 1011,
} as const;

/** A job for a file. */
export const jobMessage = (
  id: string,
  status: string,
  createdAt: Date,
  name: string,
  config: JsonObject,
  more: object,
) => ({
  ...{ id, status, created_at: createdAt.toISOString(), data_name: name, config },
  ...more,
});

/** The transcript of a file. */
export const fileTranscript = (job: object, metadata: object, results: Results) => ({
  ...{ format: FORMAT, job, metadata, results },
});

/** The answer to a request that is refused. */
export const errorBody = (status: number, error: string, detail: string) => ({ code: status, error, detail });
