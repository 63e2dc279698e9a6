// Every setting: the table is made in src/config.
import { configReference } from '../../src/config/reference.ts';
import { page } from './page.ts';

export const configurationPage = (): string =>
  page('Configuration', 'src/config', [
    `For whoever runs the gateway. \`voxgate config check\` says whether the settings can be used, \`voxgate config print\` which are in
force, \`voxgate config docs\` prints this table.`,
    configReference(),
  ]);
