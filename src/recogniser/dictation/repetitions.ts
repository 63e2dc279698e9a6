// What a model says over and over although nobody could have: short or unclear audio makes it fall into a loop.

/** Nobody speaks faster. Quick speech has about 25 characters a second. */
const CHARACTERS_PER_SECOND_MAX = 30;
/** A loop consists of so many words at most. */
const PHRASE_WORDS_MAX = 12;

/**
 * Takes repetitions of a phrase away until the rest could have been said in the time.
 *
 * @param seconds in which a voice is heard
 * @example withoutRepetitions('Good morning. Good morning. Good morning.', 1) // 'Good morning. Good morning.'
 */
export function withoutRepetitions(text: string, seconds: number): string {
  let words = text.split(/\s+/).filter(Boolean);
  const charactersMax = Math.max(1, seconds) * CHARACTERS_PER_SECOND_MAX;
  while (words.join(' ').length > charactersMax) {
    const shorter = withoutOne(words);
    if (shorter === undefined) break;
    words = shorter;
  }
  return words.join(' ');
}

/** Without the last repetition of the shortest phrase that stands there twice in a row; undefined where there is none. */
function withoutOne(words: readonly string[]): string[] | undefined {
  const plain = words.map((word) => word.toLowerCase().replace(/[^\p{L}\p{N}']/gu, ''));
  for (let length = 1; length <= Math.min(PHRASE_WORDS_MAX, words.length / 2); length++) {
    for (let at = words.length - length; at >= length; at--) {
      const isRepeated = plain.slice(at, at + length).every((word, place) => word === plain[at - length + place]);
      if (isRepeated) return [...words.slice(0, at), ...words.slice(at + length)];
    }
  }
  return undefined;
}
