// Reads the configuration: defaults, then the file, then the environment. Refuses what is unknown or out of range with a
// sentence for each; what the values mean is declared in schema.ts.
import { readFileSync } from 'node:fs';
import { type TSchema, TypeGuard } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { CUSTOM, modelOf } from '../api/slug.ts';
import { codeOf } from '../runtime/error-code.ts';
import { customProvider } from '../vendors/custom/provider.ts';
import { local } from '../vendors/local/index.ts';
import type { LocalModel } from '../vendors/local/own-model.ts';
import { localWith } from '../vendors/local/own-provider.ts';
import { loadAccuracies } from './accuracy.ts';
import { ConfigError, nameOf, shown, suggestion } from './config-error.ts';
import { keyVariablesIn, readCustomModels } from './custom.ts';
import { configFields, type Field } from './fields.ts';
import { readLocalModels } from './local-models.ts';
import type { PricedCard } from './prices/price-list.ts';
import { loadPriceList } from './prices/read-price-list.ts';
import { type Config, ConfigSchema } from './schema.ts';
import { type ConfigurableProvider, credentialFaults, faultsTogether, placeFaults } from './together.ts';

/** The variable that names the configuration file. */
export const CONFIG_FILE_VARIABLE = 'VOXGATE_CONFIG';
/** The API key of commands that speak to a gateway. A gateway started in the same shell has no use for it. */
export const CLIENT_KEY_VARIABLE = 'VOXGATE_KEY';

export interface LoadOptions {
  /** Names of the known providers, for their `VOXGATE_<PROVIDER>_URL` and `<PROVIDER>_API_KEY`. */
  providers: readonly string[];
  /** Their models: where they are given, the prices are checked with all the rest. */
  catalogue?: readonly ({ models: readonly PricedCard[] } & Partial<ConfigurableProvider>)[];
  /** Gives a file's text or throws. */
  readFile?: (path: string) => string;
  /** Hears what an operator may want to know of a configuration that can be used, in a sentence. */
  onNote?: (sentence: string) => void;
}

/**
 * The configuration from the environment and the JSON file that `VOXGATE_CONFIG` names. An empty variable counts as absent.
 *
 * @throws ConfigError naming every value that is wrong by its variable and its place in the file, with what is accepted
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>, options: LoadOptions): Config {
  const readFile = options.readFile ?? ((path: string) => readFileSync(path, 'utf8'));
  const fields = configFields(options.providers);
  const { own, ignored } = withoutServices(env);
  const faults: string[] = [];
  const noted = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(error.message);
      return undefined;
    }
  };
  const file = noted(() => readConfigFile(own[CONFIG_FILE_VARIABLE], readFile));
  const customSection = memberAt(file, [CUSTOM]);
  faults.push(...unknownVariables(own, fields, keyVariablesIn(customSection)));
  const isUsable = new Set<string>();
  const custom = readCustomModels(customSection, { env: own, readFile });
  const settings = {
    ...assemble(fields, (field) =>
      noted(() => {
        const value = readValue(field, own, file);
        isUsable.add(field.path.join('.'));
        return value;
      }),
    ),
    custom: custom.models,
  } as unknown as Config;
  const localModels = ownModels(settings, fields, faults, options.onNote);
  faults.push(...lastResortFaults(settings, fields, localModels));
  const config: unknown = { ...settings, localModels };
  // What a file would have said that cannot be read is not held against what the environment says.
  if (file !== undefined) {
    faults.push(...unknownMembers(file, fields), ...custom.faults);
    const usable = (...places: string[]) => places.every((place) => isUsable.has(place));
    faults.push(...faultsTogether(config as Config, fields, { readFile, usable }));
    const { catalogue } = options;
    faults.push(...placeFaults(catalogue ?? [], (config as Config).providers, fields));
    faults.push(...credentialFaults(catalogue ?? [], (config as Config).providers, fields));
    if (
      catalogue !== undefined &&
      custom.faults.length === 0 &&
      usable('billing.pricesFile', 'billing.marginPercent')
    ) {
      const known = catalogue.map((provider) => (provider.name === local.name ? localWith(localModels) : provider));
      const all = [...known, ...custom.models.map(customProvider)];
      noted(() => loadPriceList(all, (config as Config).billing, readFile));
    }
  }
  const { accuracyFile } = (config as Partial<Config>).session ?? {};
  if (options.catalogue !== undefined && typeof accuracyFile === 'string')
    noted(() => loadAccuracies(accuracyFile, options.readFile));
  if (faults.length > 0) throw new ConfigError(faults);
  if (!Value.Check(ConfigSchema, config)) throw new Error('The declaration of the configuration contradicts itself.');
  if (ignored.length > 0) options.onNote?.(`${ignored.join(', ')}: set by Kubernetes for a Service, and ignored.`);
  return config;
}

/** The operator's own speech models. Faults are added to `faults`. */
function ownModels(
  { recogniser: { modelsDirectory } }: Config,
  fields: readonly Field[],
  faults: string[],
  onNote: LoadOptions['onNote'],
): LocalModel[] {
  const field = fields.find(({ path }) => path.join('.') === 'recogniser.modelsDirectory');
  if (modelsDirectory === undefined || field === undefined) return [];
  const setting = { name: nameOf(field), accepts: field.accepts };
  const builtIn = local.models.map(({ id }) => modelOf(id));
  const read = readLocalModels(modelsDirectory, builtIn, setting);
  faults.push(...read.faults);
  if (read.models.length + read.faults.length === 0)
    onNote?.(`${setting.name} is ${shown(modelsDirectory)}, which has no model; it is ${setting.accepts}.`);
  return read.models;
}

/** The last resort is a model that is there and takes any speech: nobody gives it a text to align. */
function lastResortFaults({ session }: Config, fields: readonly Field[], localModels: readonly LocalModel[]): string[] {
  const field = fields.find(({ path }) => path.join('.') === 'session.lastResort');
  const slug = session?.lastResort;
  if (field === undefined || slug === undefined) return [];
  const provider = localWith(localModels);
  const fitting = provider.models.map(({ id }) => id).filter((id) => Value.Check(provider.options(modelOf(id)), {}));
  return fitting.includes(slug) ? [] : [`${nameOf(field)} is ${shown(slug)}; it is one of ${fitting.join(', ')}.`];
}

/** The environment without what Kubernetes has put there, and the names of that. */
function withoutServices(env: Readonly<Record<string, string | undefined>>) {
  const ignored = Object.keys(env).filter((name) => isOfService(name, env[name]));
  return { own: Object.fromEntries(Object.entries(env).filter(([name]) => !ignored.includes(name))), ignored };
}

function readValue(field: Field, env: Readonly<Record<string, string | undefined>>, file: unknown): unknown {
  const text = env[field.env];
  const value = text === undefined || text === '' ? memberAt(file, field.path) : fromText(text, field.schema);
  if (value === undefined) return field.schema.default;
  if (Value.Check(field.schema, value)) return value;
  const problem = field.quotable ? `is ${shown(value)}` : 'cannot be used';
  throw new ConfigError(`${nameOf(field)} ${problem}; it is ${field.accepts}.`);
}

/** A variable's text as the type that is wanted. Text that is not an integer stays text, and is refused as such. */
function fromText(text: string, schema: TSchema): unknown {
  return TypeGuard.IsInteger(schema) && /^-?\d+$/.test(text) ? Number(text) : text;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function memberAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (node, name) => (isRecord(node) && Object.hasOwn(node, name) ? node[name] : undefined),
    tree,
  );
}

function assemble(fields: readonly Field[], read: (field: Field) => unknown): Record<string, unknown> {
  const root: Record<string, unknown> = Object.fromEntries(
    Object.keys(ConfigSchema.properties).map((section) => [section, {}]),
  );
  for (const field of fields) {
    let node = root;
    for (const name of field.path.slice(0, -1)) {
      const next = isRecord(node[name]) ? node[name] : {};
      node[name] = next;
      node = next;
    }
    node[field.path.at(-1)!] = read(field);
  }
  return root;
}

function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  fields: readonly Field[],
  named: readonly string[],
): string[] {
  const known = [CONFIG_FILE_VARIABLE, CLIENT_KEY_VARIABLE, ...fields.map((field) => field.env), ...named];
  return Object.keys(env)
    .filter((name) => isOurs(name) && !known.includes(name))
    .map((name) => `${shown(name)} is not a variable of Voxgate; ${suggestion(name, known)}.`);
}

function readConfigFile(path: string | undefined, readFile: (path: string) => string): unknown {
  if (path === undefined || path === '') return {};
  const named = `${CONFIG_FILE_VARIABLE} names ${shown(path)}, which`;
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    throw new ConfigError(`${named} cannot be read (${codeOf(error)}); it is the path of a JSON file.`);
  }
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The parser's own message quotes the file, and the file may hold secrets.
    throw new ConfigError(
      `${named} is not valid JSON; it is an object of sections such as {"server": {"port": 8080}}.`,
    );
  }
  if (isRecord(content)) return content;
  throw new ConfigError(
    `${named} holds no JSON object; it is an object of sections such as {"server": {"port": 8080}}.`,
  );
}

/** Walks the file beside the declaration: every member must lead to a field. */
function unknownMembers(node: unknown, fields: readonly Field[], parents: readonly string[] = []): string[] {
  const here = parents.join('.');
  const members = [...new Set(fields.map((field) => field.path[parents.length]!))];
  if (parents.length === 0) members.push(CUSTOM);
  if (!isRecord(node)) {
    return [`${here} in the configuration file is no object; it is an object with the members ${members.join(', ')}.`];
  }
  return Object.entries(node).flatMap(([name, value]) => {
    const path = [...parents, name];
    if (path.length === 1 && name === CUSTOM) return [];
    const below = fields.filter((field) => field.path[parents.length] === name);
    if (below.some((field) => field.path.length > path.length)) return unknownMembers(value, below, path);
    if (below.length > 0) return [];
    const known = members.map((member) => [...parents, member].join('.'));
    const place = path.join('.');
    return [`${shown(place)} in the configuration file is not a member of Voxgate; ${suggestion(place, known)}.`];
  });
}

/** What Kubernetes puts into every container of a namespace for its Services named `voxgate` and `voxgate-…`. */
const OF_A_SERVICE =
  /^VOXGATE_(?:[A-Z0-9_]+_)?(?:SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
const ADDRESS_OF_A_SERVICE = /^(?:tcp|udp|sctp):\/\//;

/** Whether Kubernetes has set it: then it is not a setting, even if its name looks like one. */
const isOfService = (name: string, value: string | undefined): boolean =>
  OF_A_SERVICE.test(name) || (/^VOXGATE_(?:[A-Z0-9_]+_)?PORT$/.test(name) && ADDRESS_OF_A_SERVICE.test(value ?? ''));

/** Whether its name is one of Voxgate's. */
const isOurs = (name: string): boolean => name.startsWith('VOXGATE_');
