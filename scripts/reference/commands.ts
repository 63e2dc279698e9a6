// Every command with what `--help` prints.
import { commands } from '../../src/cli/index.ts';
import { page } from './page.ts';

export const commandPage = async (): Promise<string> =>
  page('Commands', 'src/cli', [
    `In a checkout a command is \`npm run -s voxgate -- COMMAND\`; where the package is installed, \`voxgate COMMAND\`. \`--help\` after a
command prints what stands here.`,
    {
      head: ['command', 'what it does'],
      rows: commands.map(({ name, summary }) => [`[\`${name}\`](#${name})`, summary]),
    },
    ...(await Promise.all(
      commands.map(async ({ name, load }) => `## ${name}\n\n\`\`\`text\n${(await load()).usage}\n\`\`\``),
    )),
  ]);
