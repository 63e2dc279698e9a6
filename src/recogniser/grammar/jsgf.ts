// Reads the text of a JSGF grammar into rules. Whether the rules make a grammar that may be used is decided in grammar.ts.
import { type Expansion, GrammarError } from './expansion.ts';

/** Bounds of a grammar's text. */
export const TEXT_BOUNDS = { lengthMax: 16_384, rulesMax: 256, nestingMax: 16 } as const;

/** One rule of a grammar. */
export interface Rule {
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
export function readRules(text: string): Map<string, Rule> {
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
