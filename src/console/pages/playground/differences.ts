// Which words of a text another text does not have at that place: the longest common run of words stays unmarked.

export interface Word {
  text: string;
  differs: boolean;
}

/** Longer texts are not compared: the table would be too large. */
const WORDS_MAX = 2_000;

export function differences(text: string, reference: string): Word[] {
  const [own, other] = [wordsOf(text), wordsOf(reference)];
  if (own.length > WORDS_MAX || other.length > WORDS_MAX) return own.map((word) => ({ text: word, differs: false }));
  const [ownPlain, otherPlain] = [own.map(plain), other.map(plain)];
  /** How many words are in common from here on. */
  const common = Array.from({ length: own.length + 1 }, () => new Uint16Array(other.length + 1));
  const at = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = own.length - 1; row >= 0; row--) {
    for (let column = other.length - 1; column >= 0; column--) {
      const isSame = ownPlain[row] === otherPlain[column];
      (common[row] as Uint16Array)[column] = isSame
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const words: Word[] = [];
  for (let [row, column] = [0, 0]; row < own.length; ) {
    if (ownPlain[row] === otherPlain[column]) {
      words.push({ text: own[row] as string, differs: false });
      row++;
      column++;
    } else if (column < other.length && at(row, column + 1) >= at(row + 1, column)) column++;
    else {
      words.push({ text: own[row] as string, differs: true });
      row++;
    }
  }
  return words;
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/** Case and punctuation are no difference in words. */
const plain = (word: string): string => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
