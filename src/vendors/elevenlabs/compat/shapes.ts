// Words as ElevenLabs tells them, with what stands between them.
import type { TranscriptEvent } from '../../../api/listen.ts';
import { wordsOf } from '../../compat/transcript.ts';

export function wordsAsTold(heard: Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker'>): object[] {
  const words = wordsOf(heard);
  return words.flatMap(({ word, start, end, confidence, speaker = heard.speaker }, index) => {
    const told = {
      // The logarithm of nothing cannot be written.
      logprob: confidence === undefined ? 0 : Math.log(Math.max(confidence, 1e-6)),
      ...(speaker === undefined ? {} : { speaker_id: `speaker_${speaker}` }),
    };
    const before = words[index - 1]?.end;
    const gap =
      before === undefined ? [] : [{ text: ' ', start: Math.min(before, start), end: start, type: 'spacing', ...told }];
    return [...gap, { text: word, start, end, type: 'word', ...told }];
  });
}
