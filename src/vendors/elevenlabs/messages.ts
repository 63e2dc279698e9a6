// What ElevenLabs' service sends, by HTTP and on its sockets: built here for the gateway's own clients of ElevenLabs, and for the
// simulator. https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime
import type { Word } from '../../../machines/events.ts';
import type { JsonObject } from '../kit/json.ts';

/** Words, with what stands between them. */
export const wordsMessage = (words: readonly Word[]): object[] =>
  words.flatMap(({ word, start, end, confidence, speaker }, index) => {
    const more = {
      // The logarithm of nothing cannot be written.
      logprob: confidence === undefined ? 0 : Math.log(Math.max(confidence, 1e-6)),
      ...(speaker === undefined ? {} : { speaker_id: `speaker_${speaker}` }),
    };
    const before = words[index - 1]?.end;
    const gap =
      before === undefined ? [] : [{ text: ' ', start: Math.min(before, start), end: start, type: 'spacing', ...more }];
    return [...gap, { text: word, start, end, type: 'word', ...more }];
  });

export const message = (message_type: string, members: object) => ({ message_type, ...members });

export const errorMessage = (message_type: string, error: string) => ({ message_type, error });

/** The answer to a request that is refused. */
export const refusalBody = (status: string, message: string) => ({ detail: { status, message } });

/** The transcript of a file. */
export const fileAnswer = (
  { language, probability, text, words }: { language: string; probability: number; text: string; words: object[] },
  id: string,
  seconds: number,
  more: JsonObject = {},
) => ({
  language_code: language,
  language_probability: probability,
  text,
  words,
  transcription_id: id,
  audio_duration_secs: seconds,
  ...more,
});
