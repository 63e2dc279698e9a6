// A client of ElevenLabs' realtime transcription: chunks of audio in text, and a commit for each turn.

import { booleanIn } from '../../../api/boolean.ts';
import type { ApiError } from '../../../api/errors.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { Conversation, Ending, Handshake, Step } from '../../compat/dialect.ts';
import { FinalizeRequests } from '../../compat/live.ts';
import { wordsOf } from '../../compat/transcript.ts';
import { objectOf } from '../../kit/json.ts';
import { audioIn } from '../../kit/simulator/checks.ts';
import { message, wordsMessage } from '../messages.ts';
import { closeOf, endingOf, errorMessage } from './errors.ts';
import { plainQuery, type RealtimeRequest, realtimeRequest } from './params.ts';

/** A commit of less is refused, as by ElevenLabs: its audio stays with what follows. */
const COMMIT_SECONDS_MIN = 0.3;
/** Half a minute of the largest format, as base64. */
const MESSAGE_BYTES_MAX = 4_194_304;

export class RealtimeConversation implements Conversation {
  readonly request: RealtimeRequest;
  readonly textBytesMax = MESSAGE_BYTES_MAX;
  readonly #strategy: string;
  /** Each commit is told a second time, with words. */
  readonly #isTimed: boolean;
  readonly #ends = new FinalizeRequests((end = 0) => this.#told({ text: '', start: end, end }));
  #sentSeconds = 0;
  /** Where the last final ended. */
  #settledSeconds = 0;

  constructor({ query: said }: Handshake) {
    const query = plainQuery(said);
    this.request = realtimeRequest(query);
    this.#ends.begin(this.request);
    this.#strategy = query.get('commit_strategy') ?? 'manual';
    const isAsked = (name: string) => query.get(name) === 'true';
    this.#isTimed = isAsked('include_timestamps') || isAsked('include_language_detection');
  }

  *text(text: string): Iterable<Step> {
    const { message_type, audio_base_64, commit: said = false, sample_rate } = objectOf(text);
    const commit = booleanIn(said ?? false);
    const bytes = audioIn(audio_base_64);
    const { sampleRate, audioFormat } = this.request;
    if (message_type !== 'input_audio_chunk' || bytes === undefined || commit === undefined) {
      yield {
        type: 'fault',
        message:
          'A message is {"message_type":"input_audio_chunk","audio_base_64":"…","commit":false,"sample_rate":16000}, with the audio as base64.',
      };
      return;
    }
    if (sample_rate !== undefined && sample_rate !== sampleRate) {
      yield {
        type: 'fault',
        message: `\`sample_rate\` is ${sampleRate} in every message: that of \`audio_format=${audioFormat}\`.`,
        param: 'sample_rate',
      };
      return;
    }
    if (bytes.byteLength > 0) yield this.#ends.audio(bytes);
    this.#sentSeconds += bytes.byteLength / (audioFormat.startsWith('pcm') ? 2 : 1) / sampleRate;
    if (commit && this.#sentSeconds - this.#settledSeconds < COMMIT_SECONDS_MIN) yield { type: 'say', text: THROTTLED };
    else if (commit) yield* this.#ends.ask();
    else if (bytes.byteLength === 0) yield { type: 'tell', message: { type: 'keepalive' } };
  }

  *binary(): Iterable<Step> {
    yield { type: 'fault', message: 'Messages are JSON texts here: send audio as base64 in `audio_base_64`.' };
  }

  encode(event: OutgoingEvent, { sessionId }: EventStamp): readonly string[] {
    switch (event.type) {
      case 'session_started': {
        const { audioFormat, sampleRate } = this.request;
        const config = {
          ...{ model_id: event.model, audio_format: audioFormat, sample_rate: sampleRate },
          ...{ commit_strategy: this.#strategy, include_timestamps: this.#isTimed },
        };
        return [said('session_started', { session_id: sessionId, config })];
      }
      case 'transcript':
        return [
          ...this.#ends.before(event),
          ...(event.is_final ? this.#committed(event) : [said('partial_transcript', { text: event.text })]),
        ];
      case 'error':
        return [errorMessage(event.error.code, event.error.message, 'input_error')];
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: ApiError): Ending {
    return endingOf(refusal);
  }

  /** A turn without words is told only to who has asked for its end. */
  #committed(heard: TranscriptEvent): string[] {
    const isAsked = this.#ends.take(heard);
    if (heard.text !== '' || isAsked) return this.#told(heard);
    this.#settledSeconds = Math.max(this.#settledSeconds, heard.end);
    return [];
  }

  #told(heard: Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker' | 'language'>): string[] {
    this.#settledSeconds = Math.max(this.#settledSeconds, heard.end);
    const { text, language } = heard;
    const plain = said('committed_transcript', { text });
    if (!this.#isTimed) return [plain];
    const told = { text, ...(language === undefined ? {} : { language_code: language }), words: spokenWords(heard) };
    return [plain, said('committed_transcript_with_timestamps', told)];
  }
}

const said = (type: string, members: object): string => JSON.stringify(message(type, members));

/** Words without a speaker have that of the turn. */
export const spokenWords = (heard: Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker'>): object[] =>
  wordsMessage(
    wordsOf(heard).map((word) => (heard.speaker === undefined ? word : { speaker: heard.speaker, ...word })),
  );

const THROTTLED = said('commit_throttled', {
  error: `A commit ends at least ${COMMIT_SECONDS_MIN} s of audio behind the last one. What was said up to there is committed.`,
});
