// The declaration of schema.ts as a flat list, for what walks over it: loading, printing, the reference.
import type { TSchema } from '@sinclair/typebox';
import { ConfigSchema, ProviderSettings } from './schema.ts';

/** One value of the configuration, as the declaration describes it. */
export interface Field {
  /** Section, then (in `providers`) the provider, then the member. */
  path: readonly string[];
  env: string;
  schema: TSchema;
  /** What is accepted, to be read after "it is". */
  accepts: string;
  /** What the reference shows as the default. */
  defaultText: string;
  description: string;
  secret: boolean;
  /** Whether a refusal may show the value. */
  quotable: boolean;
}

/** Every value that can be configured when these providers are known, in the order of the declaration. */
export function configFields(providers: readonly string[]): Field[] {
  return Object.entries(ConfigSchema.properties).flatMap(([section, schema]) => {
    if ('properties' in schema) return fieldsOf([section], schema.properties);
    // What is a list is not a single value: src/config/custom.ts.
    if ('items' in schema) return [];
    return providers.flatMap((provider) => fieldsOf([section, provider], ProviderSettings.properties));
  });
}

/** The variable of a provider's credential. */
export const apiKeyVariable = (provider: string): string => envOf(ProviderSettings.properties.apiKey, provider);

/** The variable of its base URL. */
export const urlVariable = (provider: string): string => envOf(ProviderSettings.properties.url, provider);

const envOf = ({ env }: TSchema, provider = ''): string =>
  String(env).replace('<PROVIDER>', provider.toUpperCase().replaceAll(/[^A-Z0-9<>]/g, '_'));

function fieldsOf(parents: readonly string[], properties: Record<string, TSchema>): Field[] {
  return Object.entries(properties).map(([member, schema]) => ({
    path: [...parents, member],
    env: envOf(schema, parents[1]),
    schema,
    accepts: String(schema.accepts ?? `an integer from ${schema.minimum} to ${schema.maximum}`),
    defaultText: String(schema.defaultText ?? schema.default ?? ''),
    description: String(schema.description),
    secret: schema.secret === true,
    quotable: schema.secret !== true && schema.quotable !== false,
  }));
}
