// Every command with what `--help` prints.
import { commands } from '../../src/cli/index.ts';
import { page } from './page.ts';

export const commandPage = async (): Promise<string> =>
  page('Commands', 'src/cli', [
    `In a checkout, run commands as \`npm run -s voxgate -- COMMAND\`. With the package installed, run \`voxgate COMMAND\`. \`--help\` after a
command prints the text of this page.`,
    {
      head: ['command', 'what it does'],
      rows: commands.map(({ name, summary }) => [`[\`${name}\`](#${name})`, summary]),
    },
    ...(await Promise.all(
      commands.map(async ({ name, load }) => `## ${name}\n\n\`\`\`text\n${(await load()).usage}\n\`\`\``),
    )),
  ]);
