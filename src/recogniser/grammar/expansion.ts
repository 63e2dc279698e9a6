// What a grammar is once it is read: a tree of words. How its text is read is decided in jsgf.ts.

/** A part of a grammar. `times`: optional `?`, any number of times `*`, at least once `+`. */
export type Expansion =
  | { kind: 'word'; word: string }
  | { kind: 'rule'; name: string }
  | { kind: 'sequence'; parts: Expansion[] }
  | { kind: 'alternatives'; parts: Expansion[] }
  | { kind: 'times'; times: '?' | '*' | '+'; part: Expansion };

/** What is wrong with a grammar, as a sentence that names the line. */
export class GrammarError extends Error {
  override readonly name = 'GrammarError';
}

/** The parts of an expansion, whatever its kind. */
export function partsOf(expansion: Expansion): Expansion[] {
  switch (expansion.kind) {
    case 'word':
    case 'rule':
      return [];
    case 'sequence':
    case 'alternatives':
      return expansion.parts;
    case 'times':
      return [expansion.part];
  }
}

/** Whether words may follow without end. */
export function isEndless(expansion: Expansion): boolean {
  if (expansion.kind === 'times' && expansion.times !== '?') return true;
  return partsOf(expansion).some(isEndless);
}

/** Every word of an expansion, each once. */
export function wordsOf(expansion: Expansion, found = new Set<string>()): Set<string> {
  if (expansion.kind === 'word') found.add(expansion.word);
  for (const part of partsOf(expansion)) wordsOf(part, found);
  return found;
}
