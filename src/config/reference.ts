// What people read of the configuration: the table of all values, and the values in force without secrets.
// Declares nothing itself.
import { CUSTOM } from '../api/slug.ts';
import { customMembers } from './custom.ts';
import { configFields, type Field } from './fields.ts';
import { CONFIG_FILE_VARIABLE } from './load.ts';
import type { Config } from './schema.ts';

/** The reference of every variable and file member, as Markdown. The same on every machine. */
export function configReference(): string {
  const row = (field: Field) => {
    const cells = [
      `\`${field.env}\``,
      `\`${field.path.join('.')}\``,
      field.accepts,
      field.defaultText,
      field.description,
    ];
    return `| ${cells.join(' | ')} |`;
  };
  return [
    `Later sources win: the defaults, then the JSON file that \`${CONFIG_FILE_VARIABLE}\` names, then the environment.`,
    'An empty variable counts as absent; unknown variables and members are refused.',
    '',
    '| variable | in the file | accepted | default | meaning |',
    '|---|---|---|---|---|',
    ...configFields(['<provider>']).map(row),
    '',
    `Your own servers are a list in the file, \`${CUSTOM}\`. Variables cannot set them.`,
    '',
    '| in the file | accepted | meaning |',
    '|---|---|---|',
    ...customMembers().map(({ place, accepts, description }) => `| \`${place}\` | ${accepts} | ${description} |`),
    '',
  ].join('\n');
}

/** The values in force as JSON, with every secret replaced. */
export function printConfig(config: Config): string {
  const secrets = new Set([
    'credential',
    ...configFields(Object.keys(config.providers))
      .filter((field) => field.secret)
      .map((field) => field.path.at(-1)!),
  ]);
  const redact = (key: string, value: unknown) => (secrets.has(key) && value !== undefined ? '[redacted]' : value);
  return JSON.stringify(config, redact, 2);
}
