// Makes one expansion of a grammar's rules, within fixed bounds. What it costs to search is decided in automaton.ts, which of
// its words exist in task-compiler.ts.

/** Bounds of a grammar once every rule is written out where it is used. */
const GRAMMAR_BOUNDS = { wordsMax: 2_000, nestingMax: 40 } as const;

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
function partsOf(expansion: Expansion): Expansion[] {
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

/** Bounds of a grammar's text. */
export const TEXT_BOUNDS = { lengthMax: 16_384, rulesMax: 256, nestingMax: 16 } as const;

/** One rule of a grammar. */
interface Rule {
  name: string;
  public: boolean;
  expansion: Expansion;
  line: number;
}

interface Token {
  kind: 'word' | 'rule' | 'weight' | 'sign' | 'end';
  text: string;
  line: number;
}

/**
 * Reads a grammar's rules, by name in angle brackets.
 *
 * @throws GrammarError when it is no JSGF, uses what is not accepted, or is outside the bounds
 */
function readRules(text: string): Map<string, Rule> {
  if (text.length > TEXT_BOUNDS.lengthMax) {
    throw new GrammarError(`It has ${text.length} characters; at most ${TEXT_BOUNDS.lengthMax} are accepted.`);
  }
  return new RuleReader(tokens(text)).read();
}

/** Splits the text; comments and tags in braces are dropped. */
function tokens(text: string): Token[] {
  const found: Token[] = [];
  const pattern =
    /(?<space>\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\{(?:\\.|[^}\\])*\})|(?<rule><[^<>\s]{1,64}>)|(?<weight>\/\d{0,6}(?:\.\d{1,6})?\/)|(?<sign>[;=|()[\]*+])|(?<word>[^\s;=|()[\]*+<>{}/"]+)/uy;
  let line = 1;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      throw new GrammarError(`Line ${line}: ${JSON.stringify(text.slice(at, at + 12))} cannot be read as JSGF.`);
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
      if (rules.has(rule.name)) throw new GrammarError(`Line ${rule.line}: ${rule.name} is defined twice.`);
      rules.set(rule.name, rule);
      if (rules.size > TEXT_BOUNDS.rulesMax) {
        throw new GrammarError(`It has more than ${TEXT_BOUNDS.rulesMax} rules.`);
      }
    }
    return rules;
  }

  /** `#JSGF V1.0 [charset [locale]]; grammar name;` */
  #header(): void {
    if (this.#peek().text !== '#JSGF') throw new GrammarError('It does not begin with `#JSGF V1.0;`.');
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
      throw new GrammarError(`Line ${line}: a rule \`<name> = …;\` was expected, not ${quote(name)}.`);
    this.#expect('=');
    const expansion = this.#alternatives();
    this.#expect(';');
    return { name, public: isPublic, expansion, line };
  }

  #alternatives(): Expansion {
    this.#nesting += 1;
    if (this.#nesting > TEXT_BOUNDS.nestingMax) this.#fail(`groups are nested deeper than ${TEXT_BOUNDS.nestingMax}`);
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    this.#nesting -= 1;
    const [first] = parts;
    return parts.length === 1 && first !== undefined ? first : { kind: 'alternatives', parts };
  }

  #sequence(): Expansion {
    if (this.#peek().kind === 'weight') this.#fail('weights, as in `/0.5/`, are not accepted; leave them out');
    const parts: Expansion[] = [];
    for (let part = this.#item(); part !== undefined; part = this.#item()) parts.push(part);
    const [first] = parts;
    if (first === undefined) this.#fail(`a word, a rule or a group was expected, not ${quote(this.#peek().text)}`);
    return parts.length === 1 ? first : { kind: 'sequence', parts };
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
      item = { kind: 'times', times: '?', part: this.#alternatives() };
      this.#expect(']');
    } else return undefined;
    for (;;) {
      if (this.#take('*')) item = { kind: 'times', times: '*', part: item };
      else if (this.#take('+')) item = { kind: 'times', times: '+', part: item };
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
    throw new GrammarError(`Line ${this.#peek().line}: ${what}.`);
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
