// What the simulated Speechmatics heard, as it tells it live and of files: words, and punctuation that is attached to them.
import { type HeardText, markedWordsOf } from '../../kit/simulator/words.ts';

/** The results of a turn, or of a part of it. */
export function resultsOf(heard: HeardText, speaker?: string) {
  const more = { language: 'en', ...(speaker === undefined ? {} : { speaker }) };
  return markedWordsOf(heard).flatMap(({ word, mark, start, end, confidence = 0.97 }) => {
    const times = { start_time: start, end_time: end };
    const result = { type: 'word', ...times, alternatives: [{ content: word, confidence, ...more }] };
    if (mark === undefined) return [result];
    return [
      result,
      {
        ...{ type: 'punctuation', start_time: end, end_time: end, attaches_to: 'previous', is_eos: mark !== ',' },
        alternatives: [{ content: mark, confidence: 1, ...more }],
      },
    ];
  });
}

export type Results = ReturnType<typeof resultsOf>;

/** As `metadata.transcript` has it: with a space behind each word that nothing is attached to. */
export function transcriptOf(results: Results): string {
  return results
    .map(({ type, alternatives }) => (type === 'punctuation' ? '' : ' ') + alternatives[0]?.content)
    .join('')
    .trim()
    .concat(results.length > 0 ? ' ' : '');
}
