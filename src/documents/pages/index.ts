// The first page: what this gateway is, where to read on, and the calls that show it work.
import { code, escaped, heading, prose } from './html.ts';

const FIRST_CALLS = `curl {base}/v1/models -H "Authorization: Bearer $KEY"

curl {base}/v1/audio/transcriptions -H "Authorization: Bearer $KEY" \\
  -F model=local/commands-en -F file=@commands.wav`;

const OPENAI = `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '{base}/v1', apiKey: process.env.KEY });
const { text } = await client.audio.transcriptions.create({ model: 'local/commands-en', file });`;

/** @param titles of the other pages, by their names in the address */
export function indexPage(version: string, titles: Readonly<Record<string, string>>): string {
  const pages = Object.entries(titles).map(
    ([name, title]) => `<li><a href="/docs/${escaped(name)}">${escaped(title)}</a></li>`,
  );
  return [
    prose(
      'One HTTP and WebSocket interface to the speech-to-text models of many providers. A model is named `<provider>/<model>`; changing that name is all it takes to change the model.',
    ),
    `<ul>${pages.join('\n')}</ul>`,
    prose(`For programs: [/openapi.json](/openapi.json) and [/asyncapi.json](/asyncapi.json). Release ${version}.`),
    heading(2, 'first-calls', 'First calls'),
    prose('With an API key in `KEY`; keys are minted in the console, or by `voxgate keys`.'),
    code(FIRST_CALLS),
    heading(2, 'openai', 'With OpenAI’s client'),
    prose('Their libraries work unchanged: name this gateway as the base address.'),
    code(OPENAI),
    heading(2, 'browser', 'In a browser'),
    prose(
      'Pages must not hold an API key. A server mints a client token with [POST /v1/tokens](/docs/rest#createToken) and gives it to the page, which opens `/v1/listen` with it: see the [live reference](/docs/live).',
    ),
  ].join('\n');
}
