// Reads a JSGF grammar within fixed bounds and prints it again in a plain canonical form, so that the C parser of the
// recogniser never sees a customer's bytes. What it costs is decided in grammar-graph.ts, its words in dictionary.ts.

/** Bounds of a grammar's text. */
export const GRAMMAR_BOUNDS = {
  lengthMax: 16_384,
  rulesMax: 256,
  nestingMax: 16,
  /** Words once every rule is written out where it is used. */
  expandedWordsMax: 2_000,
  /** Groups inside groups once every rule is written out where it is used. */
  expandedNestingMax: 40,
} as const;

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

interface Token {
  kind: 'word' | 'rule' | 'weight' | 'sign' | 'end';
  text: string;
  line: number;
}

interface Rule {
  name: string;
  public: boolean;
  expansion: Expansion;
  line: number;
}

/**
 * Reads a grammar and writes every rule out where it is used.
 *
 * @returns one expansion without rule references: any of the public rules
 * @throws GrammarError when it is no JSGF, or is outside the bounds
 */
export function readGrammar(text: string): Expansion {
  if (text.length > GRAMMAR_BOUNDS.lengthMax) {
    throw new GrammarError(`it has ${text.length} characters; at most ${GRAMMAR_BOUNDS.lengthMax} are accepted.`);
  }
  const rules = new RuleReader(tokens(text)).read();
  const publicRules = [...rules.values()].filter((rule) => rule.public);
  if (publicRules.length === 0)
    throw new GrammarError('it has no public rule; put `public` before the rule to listen for.');
  const whole: Expansion = {
    kind: 'alternatives',
    parts: publicRules.map(({ name }) => ({ weight: undefined, part: { kind: 'rule', name } })),
  };
  checkSize(whole, rules);
  return writeOut(whole, rules);
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

/** Splits the text; comments and tags in braces are dropped. */
function tokens(text: string): Token[] {
  const found: Token[] = [];
  const pattern =
    /(?<space>\s+|\/\/[^\n]*|\/\*[^]*?\*\/|\{(?:\\.|[^}\\])*\})|(?<rule><[^<>\s]{1,64}>)|(?<weight>\/\d{0,6}(?:\.\d{1,6})?\/)|(?<sign>[;=|()[\]*+])|(?<word>[^\s;=|()[\]*+<>{}/"]+)/uy;
  let line = 1;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      throw new GrammarError(`line ${line}: ${JSON.stringify(text.slice(at, at + 12))} cannot be read as JSGF.`);
    }
    const [whole] = match;
    const kind = (['rule', 'weight', 'sign', 'word'] as const).find((name) => match.groups?.[name] !== undefined);
    if (kind !== undefined) found.push({ kind, text: whole, line });
    for (const character of whole) if (character === '\n') line += 1;
  }
  found.push({ kind: 'end', text: 'the end', line });
  return found;
}

/** Recursive descent over the tokens; its depth is bounded by the nesting. */
class RuleReader {
  readonly #tokens: Token[];
  #at = 0;
  #nesting = 0;

  constructor(all: Token[]) {
    this.#tokens = all;
  }

  read(): Map<string, Rule> {
    this.#header();
    const rules = new Map<string, Rule>();
    while (this.#peek().kind !== 'end') {
      const rule = this.#rule();
      if (rules.has(rule.name)) throw new GrammarError(`line ${rule.line}: ${rule.name} is defined twice.`);
      rules.set(rule.name, rule);
      if (rules.size > GRAMMAR_BOUNDS.rulesMax) {
        throw new GrammarError(`it has more than ${GRAMMAR_BOUNDS.rulesMax} rules.`);
      }
    }
    return rules;
  }

  /** `#JSGF V1.0 [charset [locale]]; grammar name;` */
  #header(): void {
    if (this.#peek().text !== '#JSGF') throw new GrammarError('it does not begin with `#JSGF V1.0;`.');
    this.#skipPast(';');
    if (this.#peek().text !== 'grammar') this.#fail('`grammar <name>;` must follow the first line');
    this.#skipPast(';');
    if (this.#peek().text === 'import') this.#fail('`import` is not accepted; write the rules in place');
  }

  #rule(): Rule {
    const isPublic = this.#peek().text === 'public';
    if (isPublic) this.#next();
    const { kind, text: name, line } = this.#next();
    if (kind !== 'rule')
      throw new GrammarError(`line ${line}: a rule \`<name> = …;\` was expected, not ${quote(name)}.`);
    this.#expect('=');
    const expansion = this.#alternatives();
    this.#expect(';');
    return { name, public: isPublic, expansion, line };
  }

  #alternatives(): Expansion {
    this.#nesting += 1;
    if (this.#nesting > GRAMMAR_BOUNDS.nestingMax)
      this.#fail(`groups are nested deeper than ${GRAMMAR_BOUNDS.nestingMax}`);
    const parts = [this.#weighted()];
    while (this.#take('|')) parts.push(this.#weighted());
    this.#nesting -= 1;
    const [first] = parts;
    return parts.length === 1 && first !== undefined ? first.part : { kind: 'alternatives', parts };
  }

  #weighted(): { weight: number | undefined; part: Expansion } {
    let weight: number | undefined;
    if (this.#peek().kind === 'weight') {
      weight = Number(this.#next().text.slice(1, -1));
      if (!(weight > 0)) this.#fail('a weight must be above 0, as in `/0.5/`');
    }
    const parts: Expansion[] = [];
    for (let part = this.#item(); part !== undefined; part = this.#item()) parts.push(part);
    const [first] = parts;
    if (first === undefined) this.#fail(`a word, a rule or a group was expected, not ${quote(this.#peek().text)}`);
    return { weight, part: parts.length === 1 ? first : { kind: 'sequence', parts } };
  }

  #item(): Expansion | undefined {
    const { kind, text } = this.#peek();
    let item: Expansion;
    if (kind === 'word') {
      this.#next();
      item = { kind: 'word', word: text.toLowerCase() };
    } else if (kind === 'rule') {
      this.#next();
      item = { kind: 'rule', name: text };
    } else if (this.#take('(')) {
      item = this.#alternatives();
      this.#expect(')');
    } else if (this.#take('[')) {
      item = times('?', this.#alternatives());
      this.#expect(']');
    } else return undefined;
    for (;;) {
      if (this.#take('*')) item = times('*', item);
      else if (this.#take('+')) item = times('+', item);
      else return item;
    }
  }

  #peek(): Token {
    return this.#tokens[this.#at]!;
  }

  #next(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#at += 1;
    return token;
  }

  #take(sign: string): boolean {
    const { kind, text } = this.#peek();
    if (kind !== 'sign' || text !== sign) return false;
    this.#next();
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) this.#fail(`\`${sign}\` was expected, not ${quote(this.#peek().text)}`);
  }

  #skipPast(sign: string): void {
    while (!this.#take(sign)) if (this.#next().kind === 'end') this.#fail(`\`${sign}\` is missing`);
  }

  #fail(what: string): never {
    throw new GrammarError(`line ${this.#peek().line}: ${what}.`);
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

/** Doubled signs say no more than one: `[[x]]`, `(x*)*`, `[x]+`. */
function times(sign: '?' | '*' | '+', part: Expansion): Expansion {
  if (part.kind !== 'times') return { kind: 'times', times: sign, part };
  return { kind: 'times', times: part.times === sign ? sign : '*', part: part.part };
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
  const { expandedWordsMax, expandedNestingMax } = GRAMMAR_BOUNDS;
  if (words > expandedWordsMax) {
    throw new GrammarError(
      `it grows to more than ${expandedWordsMax} words once its rules are written out where they are used; use fewer rules inside rules.`,
    );
  }
  if (nesting > expandedNestingMax) {
    throw new GrammarError(`its rules are nested deeper than ${expandedNestingMax} groups once they are written out.`);
  }
}

/** The parts of an expansion, whatever its kind. */
function partsOf(expansion: Expansion): Expansion[] {
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

function writeOut(expansion: Expansion, rules: ReadonlyMap<string, Rule>): Expansion {
  switch (expansion.kind) {
    case 'word':
      return expansion;
    case 'rule':
      return writeOut(rules.get(expansion.name)!.expansion, rules);
    case 'sequence':
      return { kind: 'sequence', parts: expansion.parts.map((part) => writeOut(part, rules)) };
    case 'alternatives':
      return {
        kind: 'alternatives',
        parts: expansion.parts.map(({ weight, part }) => ({ weight, part: writeOut(part, rules) })),
      };
    case 'times':
      return times(expansion.times, writeOut(expansion.part, rules));
  }
}
