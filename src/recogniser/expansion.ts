// What a grammar is once it is read: a tree of words. How its text is read is decided in jsgf.ts.

/** A part of a grammar. `times`: optional `?`, any number of times `*`, at least once `+`. */
export type Expansion =
  | { kind: 'word'; word: string }
  | { kind: 'rule'; name: string }
  | { kind: 'sequence'; parts: Expansion[] }
  | { kind: 'alternatives'; parts: { weight: number | undefined; part: Expansion }[] }
  | { kind: 'times'; times: '?' | '*' | '+'; part: Expansion };

/** What is wrong with a grammar, as a sentence that names the line. */
export class GrammarError extends Error {
  override readonly name = 'GrammarError';
}

/** Doubled signs say no more than one: `[[x]]`, `(x*)*`, `[x]+`. */
export function times(sign: '?' | '*' | '+', part: Expansion): Expansion {
  if (part.kind !== 'times') return { kind: 'times', times: sign, part };
  return { kind: 'times', times: part.times === sign ? sign : '*', part: part.part };
}

/** The parts of an expansion, whatever its kind. */
export function partsOf(expansion: Expansion): Expansion[] {
  switch (expansion.kind) {
    case 'word':
    case 'rule':
      return [];
    case 'sequence':
      return expansion.parts;
    case 'alternatives':
      return expansion.parts.map(({ part }) => part);
    case 'times':
      return [expansion.part];
  }
}

/** Every word of an expansion, each once. */
export function wordsOf(expansion: Expansion, found = new Set<string>()): Set<string> {
  if (expansion.kind === 'word') found.add(expansion.word);
  for (const part of partsOf(expansion)) wordsOf(part, found);
  return found;
}

/** Prints an expansion without rule references as a grammar of one rule. */
export function printGrammar(expansion: Expansion): string {
  return `#JSGF V1.0;\ngrammar g;\npublic <g> = ${print(expansion)};\n`;
}

function print(expansion: Expansion): string {
  switch (expansion.kind) {
    case 'word':
      return expansion.word;
    case 'rule':
      return expansion.name;
    case 'sequence':
      return expansion.parts.map((part) => (part.kind === 'alternatives' ? `(${print(part)})` : print(part))).join(' ');
    case 'alternatives':
      return expansion.parts.map(printAlternative).join(' | ');
    case 'times': {
      const inner = print(expansion.part);
      return expansion.times === '?' ? `[${inner}]` : `(${inner})${expansion.times}`;
    }
  }
}

function printAlternative({ weight, part }: { weight: number | undefined; part: Expansion }): string {
  if (weight === undefined) return print(part);
  return `/${weight}/ ${part.kind === 'alternatives' ? `(${print(part)})` : print(part)}`;
}
