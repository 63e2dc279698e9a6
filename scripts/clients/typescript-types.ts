// The client's types, from the schemas that validate: plain TypeScript without a schema library, so that a program that uses
// `@voxgate/client` needs none. What is exported under which name is the lists below.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type TObject, Type } from '@sinclair/typebox';
import { SessionStarted } from '../../src/api/listen-events.ts';
import { providers } from '../../src/vendors/index.ts';
import type { Generator } from '../generator.ts';
import { ANSWERS, EVENTS, HEAD, type Named, SHARED, TRANSCRIPTIONS } from './schemas.ts';
import { declaration, memberName, typeText } from './type-text.ts';

const COMMAND = 'npx tsx scripts/generate.ts client-types';
const ROOT = join(import.meta.dirname, '../..');

export const clientTypes: Generator = {
  name: 'client-types',
  command: COMMAND,
  async files() {
    const texts = {
      models: modelsText(),
      answers: answersText(),
      transcriptions: transcriptionsText(),
      events: eventsText(),
    };
    const params = paramsByLetters().map(([letters, types]) => [`params/${letters}`, paramsText(types)]);
    return new Map(
      [...Object.entries(texts), ...params].map(([name, text]) => {
        const path = `clients/typescript/src/types/${name}.ts`;
        return [path, formatted(path, `${text}\n`)];
      }),
    );
  },
};

/** Declarations in their order; each is known by its name to those that follow. */
function declared(list: readonly Named[], names: Map<string, string>, base?: string): string[] {
  return list.map(([name, schema, what]) => {
    const text = typeText(schema, names);
    names.set(text, name);
    return declaration(name, what, text, base);
  });
}

function answersText(): string {
  const head = `// What the gateway answers, as plain types. Generated from src/api by \`${COMMAND}\`.`;
  return [head, ...declared(ANSWERS, new Map())].join('\n\n');
}

function transcriptionsText(): string {
  const head = `// A file's transcription as it is answered, as plain types. Generated from src/api by \`${COMMAND}\`.`;
  const names = sharedNames();
  const types = declared(TRANSCRIPTIONS, names).join('\n\n');
  return [head, sharedImport(types), types].join('\n\n');
}

function eventsText(): string {
  const names = sharedNames();
  const whole = EVENTS.map(([name, schema, what]): Named => [name, Type.Omit(schema as TObject, HEAD), what]);
  const events = declared(whole, names, 'EventHead').join('\n\n');
  const head = Type.Pick(SessionStarted, HEAD);
  return [
    `// What the gateway says in a live session, as plain types. Generated from src/api by \`${COMMAND}\`.`,
    sharedImport(events),
    declaration('EventHead', 'The members that every event has.', typeText(head, names)),
    events,
  ].join('\n\n');
}

function sharedNames(): Map<string, string> {
  const names = new Map<string, string>();
  declared(SHARED, names);
  return names;
}

/** What a text uses of the shared types. */
function sharedImport(text: string): string {
  const used = SHARED.map(([name]) => name).filter((name) => new RegExp(`[:|] ${name}\\b`).test(text));
  return `import type { ${used.join(', ')} } from './answers.ts';`;
}

interface ParamsType {
  name: string;
  text: string;
  what: string;
}

/** Models by the type of their options: a provider has one type, or a few. */
function typesOfParams() {
  return providers.map((provider) => {
    const types = new Map<string, ParamsType>();
    const byModel = provider.models.map(({ id }) => {
      const text = typeText(provider.options(id.slice(provider.name.length + 1)), new Map());
      const isFirst = types.size === 0;
      const what = `Options of ${provider.title}${isFirst ? '' : ` for ${id} and its like`}.`;
      const type = types.get(text) ?? { name: `${pascal(isFirst ? provider.name : id)}Params`, text, what };
      types.set(text, type);
      return { id, type: type.name };
    });
    return { provider: provider.name, byModel, types: [...types.values()] };
  });
}

/** Providers whose names begin with these share a file. */
const LETTERS = ['a-c', 'd-f', 'g-i', 'j-l', 'm-o', 'p-r', 's-u', 'v-x', 'y-z'];

function paramsByLetters(): (readonly [letters: string, types: ParamsType[]])[] {
  const all = typesOfParams();
  return LETTERS.map((letters) => {
    const begins = new RegExp(`^[${letters}]`);
    return [letters, all.filter(({ provider }) => begins.test(provider)).flatMap(({ types }) => types)] as const;
  }).filter(([, types]) => types.length > 0);
}

function modelsText(): string {
  const all = typesOfParams();
  const byModel = all.flatMap((each) => each.byModel.map(({ id, type }) => `${memberName(id)}: ${type};`));
  const byProvider = all.map(
    (each) => `${memberName(each.provider)}: ${each.types.map(({ name }) => name).join(' | ')};`,
  );
  const imports = paramsByLetters().map(([letters, types]) => {
    const names = types.map(({ name }) => name).sort();
    return `import type { ${names.join(', ')} } from './params/${letters}.ts';`;
  });
  return [
    `// The models, and whose options they take. Generated from src/vendors by \`${COMMAND}\`.`,
    imports.sort().join('\n'),
    declaration('ModelParams', 'The type of `providerParams`, by model.', `{\n${byModel.join('\n')}\n}`),
    declaration(
      'ProviderParams',
      'The same by provider, for models that are not listed.',
      `{\n${byProvider.join('\n')}\n}`,
    ),
  ].join('\n\n');
}

function paramsText(types: readonly ParamsType[]): string {
  const head = `// Options of providers. Generated from src/vendors by \`${COMMAND}\`.`;
  return [head, ...types.map(({ name, what, text }) => declaration(name, what, text))].join('\n\n');
}

const pascal = (text: string): string =>
  text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** As the formatter writes it, so that generated files pass the same check as all others. */
function formatted(path: string, text: string): string {
  const biome = join(ROOT, 'tools/node_modules/@biomejs/biome/bin/biome');
  return execFileSync(process.execPath, [biome, 'check', '--write', `--stdin-file-path=${path}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}
