// README's example of OpenAI's client, which streams its file: what a wrong key is refused with, and a streamed answer, at either
// adapter. The client is in a process of its own, as clients are: only there it writes while the server closes.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startLiveGateway } from '../../../fakes/processes/live-gateway.ts';

/** Where the client is installed. */
const FOLDER = fileURLToPath(new URL('../..', import.meta.url));
const TIMES = 8;
const CLIENT = `
  import { createReadStream } from 'node:fs';
  import OpenAI from 'openai';
  const client = new OpenAI({ apiKey: 'sk_vox_wrong', baseURL: process.argv[1], maxRetries: 0 });
  const heard = [];
  for (let each = 0; each < ${TIMES}; each++) {
    await client.audio.transcriptions
      .create({ model: 'local/commands-en', file: createReadStream('../fixtures/audio/commands.wav') })
      .then(
        () => heard.push('no error'),
        (error) => heard.push([error.constructor.name, error.status, error.code].join(' ')),
      );
  }
  console.log(JSON.stringify(heard));
`;

const LISTENER = `
  import { createReadStream } from 'node:fs';
  import OpenAI from 'openai';
  const client = new OpenAI({ apiKey: process.argv[2], baseURL: process.argv[1], maxRetries: 0 });
  const file = createReadStream('../fixtures/audio/commands.wav');
  let text = '';
  let isDone = false;
  for await (const event of await client.audio.transcriptions.create({ model: 'local/commands-en', file, stream: true })) {
    if (event.type === 'transcript.text.delta') text += event.delta;
    isDone ||= event.type === 'transcript.text.done' && event.text === text;
  }
  console.log(JSON.stringify({ isSomething: text !== '', isDone }));
`;

async function run(script: string, ...args: string[]): Promise<unknown> {
  const node = ['--input-type=module', '-e', script, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: FOLDER });
  return JSON.parse(stdout);
}

describe.each(['node', 'uws'])('an upload, with the adapter %s', (adapter) => {
  test('answers a streamed upload with a stream that ends in order', async () => {
    const { url, key } = await startLiveGateway({ VOXGATE_DOOR: adapter });
    expect(await run(LISTENER, `${url}/v1`, key)).toEqual({ isSomething: true, isDone: true });
  });

  test('answers a streamed upload with a wrong key with AuthenticationError 401, every time', async () => {
    const { url } = await startLiveGateway({ VOXGATE_DOOR: adapter });
    expect(await run(CLIENT, `${url}/v1`)).toEqual(
      Array.from({ length: TIMES }, () => 'AuthenticationError 401 invalid_api_key'),
    );
  });
});
