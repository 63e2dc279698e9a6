// README's example of OpenAI's client, which streams its file: what a wrong key is refused with, at either door. The client is in a
// process of its own, as clients are: only there it writes while the door closes.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const TIMES = 8;
const CLIENT = `
  import { createReadStream } from 'node:fs';
  import OpenAI from 'openai';
  const client = new OpenAI({ apiKey: 'sk_vox_wrong', baseURL: process.argv[1], maxRetries: 0 });
  const heard = [];
  for (let each = 0; each < ${TIMES}; each++) {
    await client.audio.transcriptions
      .create({ model: 'local/commands-en', file: createReadStream('test/fixtures/audio/commands.wav') })
      .then(
        () => heard.push('no error'),
        (error) => heard.push([error.constructor.name, error.status, error.code].join(' ')),
      );
  }
  console.log(JSON.stringify(heard));
`;

describe.each(['node', 'uws'])('at the door %s', (door) => {
  test('a streamed upload with a wrong key is an AuthenticationError of 401, every time', async () => {
    const { url } = await startLiveGateway({ VOXGATE_DOOR: door });
    const args = ['--input-type=module', '-e', CLIENT, `${url}/v1`];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toEqual(Array.from({ length: TIMES }, () => 'AuthenticationError 401 invalid_api_key'));
  });
});
