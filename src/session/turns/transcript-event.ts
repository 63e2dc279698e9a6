// Words of a turn as the client is told of them.
import type { Utterance } from '../../../machines/events.ts';
import type { TranscriptEvent } from '../../api/listen.ts';

/** Members are added one by one: an object made of spreads would have a shape of its own each time. */
export function transcriptEvent(utterance: Utterance, isFinal: boolean, turn: number, model: string): TranscriptEvent {
  const { text, start, end, confidence, speaker, language, words } = utterance;
  const event: TranscriptEvent = { type: 'transcript', text, is_final: isFinal, turn, start, end, model };
  if (Number.isFinite(confidence)) event.confidence = confidence as number;
  if (speaker !== undefined) event.speaker = speaker;
  if (language !== undefined) event.language = language;
  if (words !== undefined) event.words = words;
  return event;
}
