// The folder of speech models of the operator's own: one folder a model, declared by its `model.json`. What can be known without opening
// a model is checked here, each fault in one sentence; `voxgate models check` opens it.
import { closeSync, opendirSync, openSync, readFileSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, join, normalize, resolve, sep } from 'node:path';
import { type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { codeOf } from '../runtime/error-code.ts';
import { isToldLanguage, kindInfo, type LocalModel, MODEL_KINDS } from '../vendors/local/own-model.ts';
import { shown } from './config-error.ts';

const DECLARATION = 'model.json';
const DECLARATION_BYTES_MAX = 65_536;
const TOKENS_BYTES_MAX = 16 * 1024 * 1024;
/** A node tells the others of each. */
const MODELS_MAX = 64;
const ENTRIES_MAX = 1_000;
const EXAMPLE = '{"kind": "whisper", "languages": ["en"]}';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
/** What file systems and archivers leave behind. */
const IGNORED = /^(?:\.|lost\+found$|__MACOSX$)/;

const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, accepts: `a text of 1 to ${maxLength} characters` });

const MEMBERS: Readonly<Record<string, TSchema>> = {
  kind: Type.Union(
    Object.keys(MODEL_KINDS).map((kind) => Type.Literal(kind)),
    { accepts: `one of ${Object.keys(MODEL_KINDS).join(', ')}` },
  ),
  languages: Type.Array(Type.String({ pattern: '^(?:\\*|[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)$' }), {
    minItems: 1,
    maxItems: 256,
    uniqueItems: true,
    accepts: 'a list of BCP-47 languages such as ["en"], or ["*"]',
  }),
  name: text(64),
  description: text(512),
  modes: Type.Array(Type.Union([Type.Literal('live'), Type.Literal('batch')]), {
    minItems: 1,
    uniqueItems: true,
    accepts: '["live"], ["batch"] or both',
  }),
  sample_rates: Type.Array(Type.Union([Type.Literal(8_000), Type.Literal(16_000)]), {
    minItems: 1,
    maxItems: 1,
    accepts: '[16000], or [8000] for a model of telephone speech',
  }),
  files: Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 1_024 }), {
    accepts: 'an object with names of files in the folder',
  }),
};
const REQUIRED = ['kind', 'languages'];

interface Declaration {
  kind: keyof typeof MODEL_KINDS;
  languages: string[];
  name?: string;
  description?: string;
  modes?: ('live' | 'batch')[];
  sample_rates?: number[];
  files?: Record<string, string>;
}

/** One thing that is wrong with a folder, to be read after its path. */
class FolderFault extends Error {
  override readonly name = 'FolderFault';
}

interface Setting {
  /** By both its names, as messages call it. */
  name: string;
  accepts: string;
}

interface ReadModels {
  models: LocalModel[];
  /** A sentence for each folder that cannot be used. */
  faults: string[];
}

/** @param builtIn names that are taken */
export function readLocalModels(directory: string, builtIn: readonly string[], setting: Setting): ReadModels {
  const named = `${setting.name} is ${shown(directory)}, which`;
  const accepted = `it is ${setting.accepts}.`;
  const root = resolve(directory);
  let names: string[];
  try {
    names = foldersIn(root);
  } catch (error) {
    const problem = error instanceof FolderFault ? error.message : `cannot be read (${codeOf(error)})`;
    return { models: [], faults: [`${named} ${problem}; ${accepted}`] };
  }
  if (names.length > MODELS_MAX) {
    return { models: [], faults: [`${named} has ${names.length} folders; at most ${MODELS_MAX} models are taken.`] };
  }
  const faults: string[] = [];
  const models = names.flatMap((name) => {
    const folder = join(root, name);
    try {
      checkName(name, names, builtIn);
      return [readModelFolder(folder, name, root)];
    } catch (error) {
      faults.push(sentenceOf(folder, error));
      return [];
    }
  });
  return { models, faults };
}

/**
 * One model, whatever its folder is called.
 *
 * @throws Error with one sentence
 */
export function readOneModel(directory: string): LocalModel {
  const folder = resolve(directory);
  try {
    return readModelFolder(folder, folder.split(sep).at(-1) ?? folder);
  } catch (error) {
    throw new Error(sentenceOf(folder, error));
  }
}

function sentenceOf(folder: string, error: unknown): string {
  const unreadable = `it cannot be read (${codeOf(error)}); it is a folder that this user may read`;
  const problem = error instanceof FolderFault ? error.message : unreadable;
  return `The model folder ${folder} cannot be used: ${problem}.`;
}

function foldersIn(root: string): string[] {
  const entries = entriesOf(root);
  if (entries === undefined) throw new FolderFault(`has more than ${ENTRIES_MAX} entries`);
  if (entries.includes(DECLARATION)) throw new FolderFault(`has a ${DECLARATION} and is itself the folder of a model`);
  return entries.filter((name) => !IGNORED.test(name) && isFolder(join(root, name))).sort();
}

/** A link that leads nowhere is reported as a folder that cannot be read. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return true;
  }
}

/** Undefined where there are too many to be what is looked for. */
function entriesOf(folder: string): string[] | undefined {
  const directory = opendirSync(folder);
  try {
    const names: string[] = [];
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (names.length === ENTRIES_MAX) return undefined;
      names.push(entry.name);
    }
    return names.sort();
  } finally {
    directory.closeSync();
  }
}

function checkName(name: string, names: readonly string[], builtIn: readonly string[]): void {
  if (!NAME.test(name)) {
    throw new FolderFault(
      `its name is to be the name of the model, local/<name>; it is 1 to 96 letters, digits, dots, hyphens and underscores that begin with a letter or digit`,
    );
  }
  const isSame = (other: string) => other.toLowerCase() === name.toLowerCase();
  if (builtIn.some(isSame)) {
    throw new FolderFault(`local/${name} is a model of the package; give the folder another name`);
  }
  const other = names.find((each) => each !== name && isSame(each));
  if (other !== undefined) {
    throw new FolderFault(`its name and that of the folder ${other} differ in case alone; rename one of them`);
  }
}

function readModelFolder(folder: string, name: string, root = folder): LocalModel {
  const declared = readDeclaration(folder);
  const { kind, languages, name: title, description, modes = ['live', 'batch'], sample_rates: [rate] = [] } = declared;
  const { tokens, ...files } = filesOf(folder, root, declared);
  const [only] = languages;
  const language = languages.length === 1 && only !== '*' ? only?.split('-')[0]?.toLowerCase() : undefined;
  return {
    name,
    folder,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    languages,
    modes,
    model: {
      kind,
      files,
      tokens: tokens as string,
      ...(rate === undefined || rate === 16_000 ? {} : { sampleRate: rate }),
      ...(language === undefined || !isToldLanguage(kind) ? {} : { language }),
    },
  };
}

function readDeclaration(folder: string): Declaration {
  const path = join(folder, DECLARATION);
  const stats = statOf(path, () => new FolderFault(`it has no ${DECLARATION}; put one there, such as ${EXAMPLE}`), {
    folder,
    file: DECLARATION,
  });
  if (!stats.isFile()) throw new FolderFault(`its ${DECLARATION} is not a file; it is a file such as ${EXAMPLE}`);
  if (stats.size > DECLARATION_BYTES_MAX) {
    throw new FolderFault(`its ${DECLARATION} has ${stats.size} bytes; at most ${DECLARATION_BYTES_MAX} are read`);
  }
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      throw new FolderFault(`its ${DECLARATION} cannot be read (${codeOf(error)}); make it readable`);
    }
    throw new FolderFault(`its ${DECLARATION} is not valid JSON; it is an object such as ${EXAMPLE}`);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new FolderFault(`its ${DECLARATION} is ${quoted(content)}; it is an object such as ${EXAMPLE}`);
  }
  const given = content as Readonly<Record<string, unknown>>;
  for (const name of REQUIRED) {
    if (given[name] !== undefined) continue;
    throw new FolderFault(`\`${name}\` is missing in its ${DECLARATION}; it is ${MEMBERS[name]?.accepts}`);
  }
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined;
    if (schema === undefined) {
      const known = Object.keys(MEMBERS);
      throw new FolderFault(`${shown(name)} is not a member of ${DECLARATION}; its members are ${known.join(', ')}`);
    }
    if (Value.Check(schema, value)) continue;
    throw new FolderFault(`\`${name}\` in its ${DECLARATION} is ${quoted(value)}; it is ${schema.accepts}`);
  }
  return given as unknown as Declaration;
}

/** What is nested too deeply cannot be written. */
function quoted(value: unknown): string {
  try {
    return shown(value);
  } catch {
    return 'nested too deeply';
  }
}

type Files = Readonly<Record<string, string>>;

/** The path of each file that the kind has, and of `tokens`. */
function filesOf(folder: string, root: string, { kind, files: given = {} }: Declaration): Files {
  const wanted: Readonly<Record<string, readonly RegExp[]>> = {
    ...kindInfo(kind).files,
    tokens: [/^tokens\.txt$/, /tokens\.txt$/],
  };
  const unknown = Object.keys(given).find((role) => !Object.hasOwn(wanted, role));
  if (unknown !== undefined) {
    throw new FolderFault(
      `${shown(unknown)} is not a file of the kind ${kind}; its files are ${Object.keys(wanted).join(', ')}`,
    );
  }
  const isListed = Object.keys(wanted).every((role) => Object.hasOwn(given, role));
  const names = isListed ? [] : entriesOf(folder);
  if (names === undefined) {
    throw new FolderFault(
      `it has more than ${ENTRIES_MAX} files; name those of the model in \`files\` of its ${DECLARATION}`,
    );
  }
  const realRoots = [realpathSync(folder), realpathSync(root)];
  return Object.fromEntries(
    Object.entries(wanted).map(([role, patterns]) => {
      const file = given[role] ?? foundFile(names, role, patterns, kind);
      const path = pathWithin(folder, file, role, realRoots);
      if (role === 'tokens') checkTokens(path, file);
      else checkModelFile(path, file);
      return [role, path];
    }),
  );
}

function foundFile(names: readonly string[], role: string, patterns: readonly RegExp[], kind: string): string {
  for (const pattern of patterns) {
    const fitting = names.filter((name) => pattern.test(name) && !IGNORED.test(name));
    // Smaller, faster, and hardly worse.
    const quantized = fitting.filter((name) => /int8/.test(name));
    const [first, second] = quantized.length > 0 ? quantized : fitting;
    if (first === undefined) continue;
    if (second === undefined) return first;
    throw new FolderFault(
      `both ${first} and ${second} may be the ${role} of the kind ${kind}; name one in \`files\`, such as {"${role}": "${first}"}`,
    );
  }
  const usual = role === 'tokens' ? 'tokens.txt' : `${role}.onnx`;
  throw new FolderFault(
    `it has no file for the ${role} of the kind ${kind}, such as ${usual}; put it there, or name it in \`files\` of its ${DECLARATION}`,
  );
}

function pathWithin(folder: string, file: string, role: string, realRoots: readonly string[]): string {
  const isOutside = () =>
    new FolderFault(`its ${role} is ${shown(file)}, which leads out of the folder; name a file in it`);
  const path = join(folder, file);
  if (isAbsolute(file) || file.includes('\0') || normalize(file).split(sep).includes('..')) throw isOutside();
  statOf(path, () => new FolderFault(`its ${role}, ${file}, is not there; put it there, or name another file`), {
    folder,
    file,
  });
  const real = realpathSync(path);
  if (!realRoots.some((root) => real.startsWith(root.endsWith(sep) ? root : root + sep))) throw isOutside();
  return path;
}

/** @param missing the fault of a file that is not there */
function statOf(path: string, missing: () => FolderFault, { folder, file }: { folder: string; file: string }): Stats {
  try {
    return statSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT') throw new FolderFault(`its ${file} cannot be read (${code}); make it readable`);
    // The folder may be gone since it was found.
    statSync(folder);
    throw missing();
  }
}

const LFS = 'version https://git-lfs';
/** What a model in ONNX may begin with: tags of the version of its format, its producer and its graph. */
const ONNX_TAGS = new Set([0x08, 0x12, 0x1a, 0x3a]);
const MODEL_BYTES_MIN = 256;
const HEAD_BYTES = 4_096;

function checkModelFile(path: string, file: string): void {
  const { size, head } = headOf(path, file);
  if (head.toString('latin1').startsWith(LFS)) {
    throw new FolderFault(`its ${file} is a pointer of Git LFS and not the file; fetch it with \`git lfs pull\``);
  }
  const isOrt = head.subarray(4, 8).toString('latin1') === 'ORTM';
  if (size >= MODEL_BYTES_MIN && (isOrt || ONNX_TAGS.has(head[0] ?? 0))) return;
  throw new FolderFault(`its ${file} (${size} bytes) is not a model in ONNX; download it again`);
}

function checkTokens(path: string, file: string): void {
  const { size, head } = headOf(path, file);
  const [first = ''] = head.toString('utf8').split('\n', 1);
  const isTokens = size <= TOKENS_BYTES_MAX && !head.includes(0) && /[ \t]\d+\s*$/.test(first);
  if (isTokens) return;
  throw new FolderFault(
    `its ${file} (${size} bytes) is not a list of tokens; each line of it is a token and its number`,
  );
}

function headOf(path: string, file: string): { size: number; head: Buffer } {
  const stats = statSync(path);
  if (!stats.isFile()) throw new FolderFault(`its ${file} is not a file; name a file in the folder`);
  try {
    const descriptor = openSync(path, 'r');
    try {
      const head = Buffer.alloc(Math.min(HEAD_BYTES, stats.size));
      readSync(descriptor, head, 0, head.length, 0);
      return { size: stats.size, head };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new FolderFault(`its ${file} cannot be read (${codeOf(error)}); make it readable`);
  }
}
