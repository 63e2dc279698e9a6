// A transcription as server-sent events, as OpenAI writes them: a delta for each utterance, its segment where speakers are told
// apart, and the whole at the end. When they are sent is decided in stream.ts.
import type { Utterance } from '../../../machines/events.ts';
import type { TranscriptEvent, TranscriptionRequest } from '../../api/transcriptions.ts';
import { diarizedSegmentOf, segmentIdOf } from '../answers.ts';

type Done = Omit<Extract<TranscriptEvent, { type: 'transcript.text.done' }>, 'type' | 'text'>;

/** The events of one answer, in order. The deltas joined are `textOf` of the utterances. */
export class TranscriptEvents {
  readonly #request: Pick<TranscriptionRequest, 'diarization' | 'responseFormat'>;
  #count = 0;

  constructor(request: Pick<TranscriptionRequest, 'diarization' | 'responseFormat'>) {
    this.#request = request;
  }

  utterance(utterance: Utterance): string {
    const index = this.#count++;
    const delta = index === 0 ? utterance.text : ` ${utterance.text}`;
    const segment = this.#segmentOf(utterance, index);
    if (segment === undefined) return eventOf({ type: 'transcript.text.delta', delta });
    return eventOf({ type: 'transcript.text.delta', delta, segment_id: segmentIdOf(index) }) + eventOf(segment);
  }

  #segmentOf(utterance: Utterance, index: number): TranscriptEvent | undefined {
    const { diarization, responseFormat } = this.#request;
    const { speaker } = utterance;
    if (responseFormat === 'diarized_json') return diarizedSegmentOf(utterance, index);
    return diarization && speaker !== undefined ? { ...diarizedSegmentOf(utterance, index), speaker } : undefined;
  }

  done(text: string, more: Done): string {
    return eventOf({ type: 'transcript.text.done', text, ...more });
  }
}

/** What is sent in place of the rest when the work fails behind the head: the body of every refusal. */
export const errorEvent = (error: unknown): string => `event: error\ndata: ${JSON.stringify({ error })}\n\n`;

const eventOf = (event: TranscriptEvent): string => `data: ${JSON.stringify(event)}\n\n`;
