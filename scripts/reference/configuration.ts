// Every setting: the table is made in src/config.
import { configReference } from '../../src/config/reference.ts';
import { page } from './page.ts';

export const configurationPage = (): string =>
  page('Configuration', 'src/config', [
    `For operators. \`voxgate config check\` validates the settings, \`voxgate config print\` shows those in force, and \`voxgate config docs\`
prints this table.`,
    configReference(),
  ]);
