// A transcription as server-sent events, as OpenAI writes them: a delta for each utterance, its segment where speakers are told
// apart, and the whole at the end. When they are sent is decided in stream.ts.
import type { Utterance } from '../../../../machines/events.ts';
import type { TranscriptEvent } from '../../../api/transcriptions.ts';

type Done = Omit<Extract<TranscriptEvent, { type: 'transcript.text.done' }>, 'type' | 'text'>;

/** The events of one answer, in order. The deltas joined are `textOf` of the utterances. */
export class TranscriptEvents {
  readonly #withSegments: boolean;
  #count = 0;

  /** @param diarization whether speakers are told apart */
  constructor(diarization: boolean) {
    this.#withSegments = diarization;
  }

  utterance({ text, start, end, speaker }: Utterance): string {
    const id = `seg_${this.#count}`;
    const delta = this.#count === 0 ? text : ` ${text}`;
    this.#count++;
    const segment = this.#withSegments && speaker !== undefined ? { segment_id: id } : {};
    const events: TranscriptEvent[] = [{ type: 'transcript.text.delta', delta, ...segment }];
    if (this.#withSegments && speaker !== undefined) {
      events.push({ type: 'transcript.text.segment', id, start, end, text, speaker });
    }
    return events.map(eventOf).join('');
  }

  done(text: string, more: Done): string {
    return eventOf({ type: 'transcript.text.done', text, ...more });
  }
}

/** What is sent in place of the rest when the work fails behind the head: the body of every refusal. */
export const errorEvent = (error: unknown): string => `event: error\ndata: ${JSON.stringify({ error })}\n\n`;

const eventOf = (event: TranscriptEvent): string => `data: ${JSON.stringify(event)}\n\n`;
