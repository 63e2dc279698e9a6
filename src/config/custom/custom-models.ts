// Reads the servers of the operator's own: what the file says of them, and the keys that are in the environment or in files.
import { CUSTOM } from '../../api/slug.ts';
import { type CustomModel, slugOf } from '../../vendors/custom/model.ts';
import { cardLike, SHAPES, type Shape } from '../../vendors/custom/shapes.ts';
import type { ModelCard } from '../../vendors/provider.ts';
import { codeOf, shown } from '../config-error.ts';
import { faultsIn } from './faults-in.ts';
import { CUSTOM_MODELS_MAX, Custom, CustomServer } from './schema-custom.ts';

interface Sources {
  env: Readonly<Record<string, string | undefined>>;
  /** Gives a file's text or throws. */
  readFile(path: string): string;
}

type Entry = CustomServer['models'][number];

const KEY = /^[!-~]{1,4096}$/;
/** As variables are named by habit: anything else may be the key itself, written at the wrong place, and is not quoted. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
const KEY_WORDS = 'a text of 1 to 4096 printable ASCII characters without spaces';

/**
 * The models, or a sentence for each fault.
 *
 * @param section what the file has as `custom`
 */
export function readCustomModels(section: unknown, sources: Sources): { models: CustomModel[]; faults: string[] } {
  if (section === undefined) return { models: [], faults: [] };
  const faults = faultsIn(Custom, section, CUSTOM);
  const servers: unknown[] = Array.isArray(section) ? section : [];
  const models = servers.flatMap((server, index) => {
    const place = `${CUSTOM}[${index}]`;
    if (!isServer(server, place)) return [];
    const credential = credentialOf(server, place, sources, faults);
    const shape = SHAPES[server.shape] as Shape;
    return server.models.map((entry, at) => {
      faults.push(...entryFaults(entry, shape, server.shape, `${place}.models[${at}]`));
      return modelOf(server, entry, shape, credential);
    });
  });
  faults.push(...listFaults(models));
  return { models, faults };
}

const isServer = (server: unknown, place: string): server is CustomServer =>
  faultsIn(CustomServer, server, place).length === 0;

/** The variables that hold keys: they may be called as the operator likes. */
export const keyVariablesIn = (section: unknown): string[] =>
  (Array.isArray(section) ? section : []).flatMap(
    (server: Partial<CustomServer> | null) => server?.apiKeyVariable ?? [],
  );

function modelOf(
  { shape: name, models: _, apiKeyVariable: __, apiKeyFile: ___, ...server }: CustomServer,
  { model = undefined, like, ...entry }: Entry,
  shape: Shape,
  credential: string | undefined,
): CustomModel {
  return { ...server, ...entry, shape: name, credential, model: model ?? entry.name, like: like ?? shape.like };
}

function credentialOf(server: CustomServer, place: string, sources: Sources, faults: string[]): string | undefined {
  const { apiKeyVariable: variable, apiKeyFile: file } = server;
  if (variable !== undefined && file !== undefined) {
    faults.push(
      `${place} in the configuration file has apiKeyVariable and apiKeyFile; one of them says where the key is.`,
    );
    return undefined;
  }
  if (variable !== undefined) {
    const key = sources.env[variable] ?? '';
    if (KEY.test(key)) return key;
    const problem = key === '' ? 'which is not set' : 'whose value cannot be used';
    const named = VARIABLE_NAME.test(variable) ? `the variable ${variable}` : 'a variable';
    faults.push(
      `${place}.apiKeyVariable in the configuration file names ${named}, ${problem}; set it to the key of that server (${KEY_WORDS}), or leave the member out where the server asks for none.`,
    );
  }
  if (file === undefined) return undefined;
  const named = `${place}.apiKeyFile names a file that`;
  try {
    const key = sources.readFile(file).trim();
    if (KEY.test(key)) return key;
    faults.push(`${named} cannot be used; it holds ${KEY_WORDS}.`);
  } catch (error) {
    faults.push(`${named} cannot be read (${codeOf(error)}); it holds ${KEY_WORDS}.`);
  }
  return undefined;
}

/** What no member can say alone. */
function entryFaults(entry: Entry, shape: Shape, shapeName: string, place: string): string[] {
  const { like = shape.like } = entry;
  const { provider } = shape;
  const card = cardLike(shape, like);
  if (card === undefined) {
    const known = provider.models.map(({ id }) => id.slice(provider.name.length + 1)).join(', ');
    return [
      `${place}.like in the configuration file is ${shown(like)}; of the shape ${shapeName} it is one of ${known}.`,
    ];
  }
  const modes = modesLike(card, shape);
  const priced = (['batch', 'live'] as const).filter((mode) => entry[mode] !== undefined);
  if (priced.length === 0)
    return [
      `${place} has no price in the configuration file; ${modes.join(' or ')} says what a minute costs, or "free".`,
    ];
  const surplus = priced.filter((mode) => !modes.includes(mode));
  return [
    ...surplus.map((mode) => {
      const why = mode === 'live' ? ', whose live sessions are files at its price' : '';
      return `${place}.${mode} in the configuration file has a price; a model like ${like} has ${modes.join(' and ')} alone${why}.`;
    }),
    ...(priced.includes('live') && surplus.length === 0 ? rateFaults(entry, card, `${place}.sampleRates`) : []),
  ];
}

/** A protocol that says no rate takes audio at another one for faster or slower speech. */
function rateFaults({ sampleRates = [] }: Entry, { id, audio }: ModelCard, place: string): string[] {
  const others = sampleRates.filter((rate) => !audio.sample_rates.includes(rate));
  if (others.length === 0) return [];
  const like = id.slice(id.indexOf('/') + 1);
  return [
    `${place} in the configuration file has ${others.join(', ')}; live a model like ${like} takes ${audio.sample_rates.join(', ')}.`,
  ];
}

/** Modes that the shape has by its codecs; a live mode of files alone comes by itself. */
const modesLike = ({ modes }: ModelCard, { provider }: Shape): readonly string[] =>
  modes.filter((mode) => provider[mode] !== undefined);

function listFaults(models: readonly CustomModel[]): string[] {
  const names = models.map(({ name }) => name);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return [
    ...[...twice].map(
      (name) => `The model ${slugOf({ name })} is in the configuration file twice; each has a name of its own.`,
    ),
    ...(models.length <= CUSTOM_MODELS_MAX
      ? []
      : [`${CUSTOM} in the configuration file has ${models.length} models; at most ${CUSTOM_MODELS_MAX} are taken.`]),
  ];
}
