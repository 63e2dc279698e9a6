// Rules, compiled: one tree of the words of all phrases and one of the characters of all literals, so that a text is compared with all of
// them at once. At each place of the text a walk goes down a tree by a step for each word, to the depth of the longest rule at most:
// the work is linear in the text, whatever the rules are.
import type { Replacement } from '../api/replacements.ts';
import { cased } from './case.ts';
import { beginsAt, endsAt, type Token, tokensOf } from './tokens.ts';

/** A stretch of a text, and what is written instead. */
export interface Match {
  from: number;
  to: number;
  text: string;
}

interface Branch {
  next: Map<string, Branch> | undefined;
  rule: Replacement | undefined;
}

export class Rules {
  readonly #words: Branch = { next: undefined, rule: undefined };
  readonly #literals: Branch = { next: undefined, rule: undefined };
  /** Steps that all walks have taken, for tests of what a text costs. */
  steps = 0;

  /** Of two with the same `from` the first counts. */
  constructor(rules: readonly Replacement[]) {
    for (const rule of rules) {
      if (rule.match === 'literal') plant(this.#literals, rule.from.split(''), rule);
      else {
        const keys = tokensOf(rule.from).map(({ key }) => key);
        plant(this.#words, keys, rule);
      }
    }
  }

  /**
   * In order, none over another: at each place the longest.
   *
   * @param labels that no match begins or ends within
   */
  find(text: string, labels?: RegExp): Match[] {
    const matches: Match[] = [];
    const tokens = this.#words.next === undefined ? [] : tokensOf(text);
    const kept = labels === undefined ? [] : [...text.matchAll(labels)].map(rangeOf);
    const hasLiterals = this.#literals.next !== undefined;
    let index = 0;
    let label = 0;
    for (let at = 0; at < text.length; ) {
      while ((tokens[index]?.from ?? text.length) < at) index++;
      while ((kept[label]?.to ?? text.length + 1) <= at) label++;
      const match = longer(
        tokens[index]?.from === at ? this.#wordsAt(text, tokens, index) : undefined,
        hasLiterals ? this.#literalAt(text, at) : undefined,
      );
      if (match !== undefined && !isWithin(match, kept, label)) {
        matches.push(match);
        at = match.to;
      } else at = hasLiterals ? at + 1 : (tokens[tokens[index]?.from === at ? index + 1 : index]?.from ?? text.length);
    }
    return matches;
  }

  #wordsAt(text: string, tokens: readonly Token[], index: number): Match | undefined {
    const first = tokens[index] as Token;
    let found: Match | undefined;
    let branch = this.#words.next?.get(first.isApart ? first.key.trimStart() : first.key);
    this.steps++;
    if (branch === undefined || !beginsAt(tokens, index)) return undefined;
    for (let last = index; branch !== undefined; ) {
      const { to } = tokens[last] as Token;
      if (branch.rule !== undefined && endsAt(tokens, last))
        found = { from: first.from, to, text: cased(branch.rule.to, text.slice(first.from, to)) };
      const token = tokens[++last];
      if (token === undefined || branch.next === undefined) break;
      branch = branch.next.get(token.key);
      this.steps++;
    }
    return found;
  }

  #literalAt(text: string, at: number): Match | undefined {
    let found: Match | undefined;
    let branch: Branch | undefined = this.#literals;
    for (let end = at; branch !== undefined; end++) {
      if (branch.rule !== undefined) found = { from: at, to: end, text: branch.rule.to };
      if (end === text.length) break;
      branch = branch.next?.get(text[end] as string);
      this.steps++;
    }
    return found;
  }
}

function plant(root: Branch, keys: readonly string[], rule: Replacement): void {
  let branch = root;
  for (const key of keys) {
    branch.next ??= new Map();
    let next = branch.next.get(key);
    if (next === undefined) {
      next = { next: undefined, rule: undefined };
      branch.next.set(key, next);
    }
    branch = next;
  }
  branch.rule ??= rule;
}

const longer = (one: Match | undefined, other: Match | undefined): Match | undefined =>
  one === undefined || (other !== undefined && other.to > one.to) ? other : one;

const rangeOf = ({ 0: { length }, index }: RegExpMatchArray): { from: number; to: number } => ({
  from: index as number,
  to: (index as number) + length,
});

/** Whether it begins or ends within a label: one that has the whole label in it does not. */
function isWithin(match: Match, labels: readonly { from: number; to: number }[], first: number): boolean {
  for (let index = first; index < labels.length; index++) {
    const label = labels[index] as { from: number; to: number };
    if (label.from >= match.to) return false;
    if (match.from > label.from || match.to < label.to) return true;
  }
  return false;
}
