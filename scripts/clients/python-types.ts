// The Python client's types, from the schemas that validate: dataclasses, so that members are attributes and later ones are passed
// over by its reader.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { SessionStarted } from '../../src/api/listen-events.ts';
import type { Generator } from '../generator.ts';
import { ANSWERS, EVENTS, HEAD, type Named, SHARED, TRANSCRIPTIONS } from './schemas.ts';
import { memberSchemaOf, typeText } from './type-text.ts';

const COMMAND = 'npx tsx scripts/generate.ts python-types';
const WIDTH = 118;

export const pythonTypes: Generator = {
  name: 'python-types',
  command: COMMAND,
  async files() {
    const texts = { answers: answersText(), transcriptions: transcriptionsText(), events: eventsText() };
    return new Map(
      Object.entries(texts).map(([name, text]) => [`clients/python/src/voxgate/types/${name}.py`, `${text}\n`]),
    );
  },
};

/** Names that Python has already. */
const RENAMED: Readonly<Record<string, string>> = { Warning: 'WarningEvent' };
/** Words that no attribute can be called. */
const KEYWORDS = new Set(['from']);

/** Declares types one by one; a type that was declared is named wherever it comes again. */
class Module {
  readonly #names: Map<string, string>;
  readonly declared: string[] = [];
  readonly texts: string[] = [];

  constructor(names: ReadonlyMap<string, string> = new Map()) {
    this.#names = new Map(names);
  }

  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  declare([name, schema, what]: Named, base?: string): void {
    const pythonName = RENAMED[name] ?? name;
    const key = keyOf(schema);
    if (schema.type === 'object') this.#declareClass(pythonName, schema, what, base);
    else this.#add(pythonName, `# ${what}\n${pythonName} = ${this.#typeOf(schema, pythonName)}`);
    this.#names.set(key, pythonName);
  }

  #add(name: string, text: string): void {
    this.declared.push(name);
    this.texts.push(text);
  }

  #declareClass(name: string, schema: TSchema, what: string, base?: string): void {
    const required: readonly string[] = schema.required ?? [];
    const members = Object.entries<TSchema>(schema.properties).map(([member, each]) =>
      this.#memberText(name, member, each, required.includes(member)),
    );
    const head = `@dataclass(frozen=True, slots=True, kw_only=True)\nclass ${name}${base === undefined ? '' : `(${base})`}:`;
    this.#add(name, [head, docText(what), '', ...members].join('\n'));
  }

  #memberText(owner: string, member: string, schema: TSchema, isRequired: boolean): string {
    const type = this.#typeOf(schema, `${owner}${pascal(member)}`);
    const name = KEYWORDS.has(member) ? `${member}_` : member;
    const usual = schema.const === undefined ? '' : ` = ${literal(schema.const)}`;
    const line = `    ${name}: ${type}${isRequired ? usual : ' | None = None'}`;
    return schema.description === undefined ? line : `${line}\n${docText(schema.description)}`;
  }

  #typeOf(schema: TSchema, name: string): string {
    const known = this.#names.get(keyOf(schema));
    if (known !== undefined) return known;
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (Array.isArray(schema.anyOf)) return this.#unionOf(schema.anyOf, name);
    switch (schema.type) {
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'array':
        return `list[${this.#typeOf(schema.items, name.replace(/s$/, ''))}]`;
      case 'object':
        return this.#objectOf(schema, name);
      case undefined:
        return 'Any';
      default:
        throw new Error(`No Python type for the schema ${JSON.stringify(schema)}.`);
    }
  }

  #unionOf(members: readonly TSchema[], name: string): string {
    if (members.some((each) => each.const === undefined)) {
      return members.map((each) => this.#typeOf(each, name)).join(' | ');
    }
    const values = members.map((each) => literal(each.const));
    const line = `Literal[${values.join(', ')}]`;
    if (line.length < WIDTH / 2) return line;
    return `Literal[\n${values.map((each) => `        ${each},\n`).join('')}    ]`;
  }

  #objectOf(schema: TSchema, name: string): string {
    if (schema.properties === undefined) return `dict[str, ${this.#typeOf(memberSchemaOf(schema), name)}]`;
    this.#declareClass(name, schema, schema.description ?? `A part of ${partOf(name)}.`);
    this.#names.set(keyOf(schema), name);
    return name;
  }
}

/** The same for all schemas of one type. */
const keyOf = (schema: TSchema): string => typeText(schema, new Map());

const literal = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);

const pascal = (text: string): string =>
  text.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** The name of the class that a nested one is a part of: all but its last word. */
const partOf = (name: string): string => name.replace(/[A-Z][a-z]+$/, '') || name;

/** A docstring, wrapped. */
function docText(text: string): string {
  const indent = '    ';
  const lines = [''];
  for (const word of `"""${text.replaceAll('\\', '\\\\')}"""`.split(' ')) {
    const line = lines.at(-1) as string;
    if (line === '') lines[lines.length - 1] = word;
    else if (indent.length + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line) => `${indent}${line}`).join('\n');
}

/** A file: what it is for, what it takes from others, its declarations. */
function moduleText(what: string, module: Module, imported: readonly string[] = []): string {
  const body = module.texts.join('\n\n\n');
  const typing = ['Any', 'Literal'].filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  const shared = imported.filter((name) => new RegExp(`[:|\\[(] ?${name}\\b`).test(body)).sort();
  const exported = module.declared.map((name) => `    "${name}",\n`).join('');
  const head = [
    `"""${what} Generated from src/api by \`${COMMAND}\`."""\n`,
    'from dataclasses import dataclass',
    ...(typing.length === 0 ? [] : [`from typing import ${typing.join(', ')}`]),
    ...(shared.length === 0 ? [] : ['', `from .answers import ${shared.join(', ')}`]),
  ].join('\n');
  return `${head}\n\n__all__ = [\n${exported}]\n\n\n${body}`;
}

function answersText(): string {
  const module = new Module();
  for (const each of ANSWERS) module.declare(each);
  return moduleText('What the gateway answers.', module);
}

function shared(): Module {
  const module = new Module();
  for (const each of SHARED) module.declare(each);
  return module;
}

function transcriptionsText(): string {
  const { names, declared } = shared();
  const module = new Module(names);
  for (const each of TRANSCRIPTIONS) module.declare(each);
  return moduleText('A transcription of a file as it is answered.', module, declared);
}

function eventsText(): string {
  const { names, declared } = shared();
  const module = new Module(names);
  module.declare(['EventHead', Type.Pick(SessionStarted, HEAD), 'The members that every event has.']);
  for (const [name, schema, what] of EVENTS) {
    module.declare([name, Type.Omit(schema as TObject, HEAD), what], 'EventHead');
  }
  return moduleText('What the gateway says in a live session.', module, declared);
}
