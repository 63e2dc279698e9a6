// Makes one expansion of a grammar's rules, within fixed bounds. What it costs to search is decided in automaton.ts, which of
// its words exist in dictionary.ts.
import { type Expansion, GrammarError, partsOf } from './expansion.ts';
import { type Rule, readRules } from './jsgf.ts';

/** Bounds of a grammar once every rule is written out where it is used. */
export const GRAMMAR_BOUNDS = { wordsMax: 2_000, nestingMax: 40 } as const;

/**
 * Reads a grammar and writes every rule out where it is used.
 *
 * @returns one expansion without rule references: any of the public rules
 * @throws GrammarError when it is no JSGF, or is outside the bounds
 */
export function readGrammar(text: string): Expansion {
  const rules = readRules(text);
  const publicRules = [...rules.values()].filter((rule) => rule.public);
  if (publicRules.length === 0)
    throw new GrammarError('It has no public rule; put `public` before the rule to listen for.');
  const whole: Expansion = {
    kind: 'alternatives',
    parts: publicRules.map(({ name }) => ({ kind: 'rule', name })),
  };
  checkSize(whole, rules);
  return writeOut(whole, rules);
}

interface Size {
  words: number;
  nesting: number;
}

/** Measures the grammar as it will be once written out, without writing it out; finds undefined and recursive rules. */
function checkSize(whole: Expansion, rules: ReadonlyMap<string, Rule>): void {
  const known = new Map<string, Size | 'counting'>();
  const sizeOfRule = (name: string): Size => {
    const before = known.get(name);
    if (before === 'counting') throw new GrammarError(`${name} refers to itself; use \`*\` or \`+\` to repeat a part.`);
    if (before !== undefined) return before;
    const rule = rules.get(name);
    if (rule === undefined) throw new GrammarError(`${name} is used but not defined.`);
    known.set(name, 'counting');
    const size = sizeOf(rule.expansion);
    known.set(name, size);
    return size;
  };
  const sizeOf = (expansion: Expansion): Size => {
    if (expansion.kind === 'word') return { words: 1, nesting: 0 };
    if (expansion.kind === 'rule') return sizeOfRule(expansion.name);
    const sizes = partsOf(expansion).map(sizeOf);
    return {
      words: sizes.reduce((total, { words }) => total + words, 0),
      nesting: Math.max(...sizes.map(({ nesting }) => nesting)) + (expansion.kind === 'sequence' ? 0 : 1),
    };
  };
  const { words, nesting } = sizeOf(whole);
  const { wordsMax, nestingMax } = GRAMMAR_BOUNDS;
  if (words > wordsMax) {
    throw new GrammarError(
      `It grows to more than ${wordsMax} words once its rules are written out where they are used; use fewer rules inside rules.`,
    );
  }
  if (nesting > nestingMax) {
    throw new GrammarError(`Its rules are nested deeper than ${nestingMax} groups once they are written out.`);
  }
}

function writeOut(expansion: Expansion, rules: ReadonlyMap<string, Rule>): Expansion {
  switch (expansion.kind) {
    case 'word':
      return expansion;
    case 'rule':
      return writeOut(rules.get(expansion.name)!.expansion, rules);
    case 'sequence':
    case 'alternatives':
      return { kind: expansion.kind, parts: expansion.parts.map((part) => writeOut(part, rules)) };
    case 'times':
      return { ...expansion, part: writeOut(expansion.part, rules) };
  }
}
