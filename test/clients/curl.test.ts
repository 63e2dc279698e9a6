// The real curl, as users write it: files in every way it can send them, and what goes wrong when a command is typed by hand.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { curl, describeCurl, type Printed } from './curl.ts';
import { numberedWav } from './files.ts';

const NUMBERED = '-F model=loopback/numbered';
/** curl asks before it sends a larger body, and waits a second for the answer. */
const ASKED_BYTES = 1_048_576;
/** Enough for a busy machine; a wait for nothing is longer. */
const AT_ONCE_SECONDS = 0.9;

const directory = temporaryDirectory();
const names = ['speech.wav', 'my meeting notes.wav', 'réunion — 日本語.wav', 'a;b,c"d.wav'];

describeCurl('curl', () => {
  let live: LiveGateway;
  beforeAll(async () => {
    live = await startLiveGateway();
    mkdirSync(directory, { recursive: true });
    for (const name of names) writeFileSync(join(directory, name), numberedWav(2));
    writeFileSync(join(directory, 'large.wav'), numberedWav(66));
    writeFileSync(join(directory, 'empty.wav'), '');
  });

  const env = () => ({ URL: live.url, KEY: live.key });
  const run = (command: string) => curl(command, env(), directory);
  /** A transcription, with these arguments. */
  const transcribe = (args: string) => run(`curl $URL/v1/audio/transcriptions -H "Authorization: Bearer $KEY" ${args}`);
  const errorOf = ({ body }: Printed) =>
    (JSON.parse(body) as { error: { code: string; param: string | null; message: string } }).error;

  it.each(names)('sends a file named %s', async (name) => {
    const quoted = name.replaceAll('"', '\\"');
    // Names with a comma or a semicolon stand in quotes, for curl itself.
    const { exit, status, body } = await transcribe(`${NUMBERED} -F 'file=@"${quoted.replaceAll("'", "'\\''")}"'`);
    expect([exit, status]).toEqual([0, 200]);
    expect(JSON.parse(body)).toMatchObject({ text: '0-32000' });
  });

  it.each<[string, string, string]>([
    ['with the content type that OpenAI’s examples set', '-H "Content-Type: multipart/form-data"', ''],
    ['with an offer of HTTP/2', '--http2', ''],
    ['with an offer of compression', '--compressed', ''],
    ['slowly', '--limit-rate 200k', ''],
    ['unbuffered', '-N', ''],
    ['with its fields behind it', '', '-F response_format=json'],
    ['with escapes in its form', '--form-escape', ''],
  ])('sends a file %s', async (_, option, behind) => {
    const { exit, status, body } = await transcribe(`${option} ${NUMBERED} -F file=@speech.wav ${behind}`);
    expect([exit, status]).toEqual([0, 200]);
    expect(JSON.parse(body)).toMatchObject({ text: '0-32000' });
  });

  it('sends a file in HTTP/1.0, where the adapter is node:http', async () => {
    const { url, key } = await startLiveGateway({ VOXGATE_DOOR: 'node' });
    const authorization = `-H "Authorization: Bearer ${key}"`;
    const { exit, status } = await run(
      `curl --http1.0 ${url}/v1/audio/transcriptions ${authorization} ${NUMBERED} -F file=@speech.wav`,
    );
    expect([exit, status]).toEqual([0, 200]);
  });

  it('sends what it reads from a pipe of unknown length', async () => {
    const piped = (args: string) =>
      run(`cat large.wav | curl $URL/v1/audio/transcriptions -H "Authorization: Bearer $KEY" ${NUMBERED} ${args}`);
    for (const file of ['-F file=@-', "-F 'file=@-;filename=speech.wav'"]) {
      const { exit, status, body } = await piped(file);
      expect([exit, status]).toEqual([0, 200]);
      expect(JSON.parse(body).text).toMatch(/^0-/);
    }
  });

  it('gets an immediate go-ahead or refusal for a large file', async () => {
    const large = '-F file=@large.wav';
    const sent = await transcribe(`${NUMBERED} ${large}`);
    expect([sent.exit, sent.status, sent.uploaded > 2 * ASKED_BYTES]).toEqual([0, 200, true]);
    expect(sent.seconds).toBeLessThan(AT_ONCE_SECONDS);
    const refused = await run(`curl $URL/v1/audio/transcriptions -H "Authorization: Bearer sk_x" ${large}`);
    expect([refused.exit, refused.status]).toEqual([0, 401]);
    expect(refused.seconds).toBeLessThan(AT_ONCE_SECONDS);
  });

  it.each<[string, string, number, string, RegExp]>([
    ['the file as the body', '--data-binary @speech.wav', 415, 'unsupported_media_type', /-F file=@/],
    ['JSON', `-d '{"model":"loopback/script"}'`, 415, 'unsupported_media_type', /-F file=@/],
    [
      'JSON by its name',
      `-H 'Content-Type: application/json' -d '{"model":"loopback/script"}'`,
      400,
      'missing_file',
      /`audio_url`.*multipart/,
    ],
    ['no file', NUMBERED, 400, 'missing_file', /`file`/],
    ['no fields', '-X POST', 415, 'unsupported_media_type', /-F file=@/],
    ['an empty file', `${NUMBERED} -F file=@empty.wav`, 400, 'missing_file', /empty/],
    ['a file without its @', `${NUMBERED} -F file=speech.wav`, 400, 'unsupported_audio', /-F file=@NAME/],
    ['a file with no model', '-F file=@speech.wav', 400, 'invalid_request', /`model` is missing/],
    [
      'options that are not JSON',
      `${NUMBERED} -F provider_params={turn_seconds:2} -F file=@speech.wav`,
      400,
      'invalid_provider_params',
      /not JSON/,
    ],
    [
      'a compressed body',
      `-H 'Content-Encoding: gzip' ${NUMBERED} -F file=@speech.wav`,
      415,
      'unsupported_media_type',
      /./,
    ],
    ['a password', `-u name:password ${NUMBERED} -F file=@speech.wav`, 401, 'missing_credential', /Bearer/],
  ])('gets a helpful error when it sends %s', async (_, args, status, code, words) => {
    const isPassword = args.startsWith('-u');
    const printed = isPassword ? await run(`curl $URL/v1/audio/transcriptions ${args}`) : await transcribe(args);
    expect([printed.exit, printed.status, errorOf(printed).code]).toEqual([0, status, code]);
    expect(errorOf(printed).message).toMatch(words);
  });

  it('takes options as JSON, and the members of an object one by one', async () => {
    for (const params of [`-F 'provider_params={"turn_seconds":1}'`, "-F 'provider_params[turn_seconds]=1'"]) {
      const { body } = await transcribe(`${NUMBERED} ${params} -F file=@speech.wav`);
      expect(JSON.parse(body)).toMatchObject({ text: '0-16000 16000-32000' });
    }
  });

  it('reads a stream as it comes', async () => {
    const { exit, status, body, contentType } = await transcribe(
      `-N ${NUMBERED} -F stream=true -F 'provider_params={"turn_seconds":1}' -F file=@speech.wav`,
    );
    expect([exit, status]).toEqual([0, 200]);
    expect(contentType).toMatch(/^text\/event-stream/);
    const events = [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
    expect(events.map(({ type }) => type)).toContain('transcript.text.delta');
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: '0-16000 16000-32000' });
  });

  it('asks for a head, and for what there is not', async () => {
    const get = (args: string) => run(`curl -H "Authorization: Bearer $KEY" ${args}`);
    const head = await get('-I $URL/v1/models');
    expect([head.exit, head.status]).toEqual([0, 200]);
    expect(head.body).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect((await get('-I $URL/v1/audio/transcriptions')).status).toBe(405);
    expect((await get('$URL/v1/audio/transcriptions')).status).toBe(405);
    expect((await get('-X OPTIONS $URL/v1/audio/transcriptions')).status).toBe(204);
    expect((await get('-X OPTIONS $URL/v1/usage')).status).toBe(204);
    expect((await get('$URL/v1/models/local%2Fcommands-en')).status).toBe(200);
    expect((await get('$URL/v1/models/local/commands-en')).status).toBe(200);
    expect((await get('--http2 $URL/v1/models')).status).toBe(200);
    expect((await get('$URL/v2/models')).status).toBe(404);
  });

  it('ends as scripts expect it to', async () => {
    const models = 'curl $URL/v1/models -H "Authorization: Bearer $KEY"';
    const ends = async (command: string) => (await run(command)).exit;
    expect(await ends(`${models} --fail`)).toBe(0);
    expect(await ends('curl $URL/v1/models --fail')).toBe(22);
    const told = await run('curl $URL/v1/models --fail-with-body');
    expect([told.exit, errorOf(told).code]).toEqual([22, 'missing_credential']);
    expect(await ends(`${models} -F file=@nothing.wav`)).toBe(26);
  });

  it('keeps its connection from one request to the next, also behind a refusal', async () => {
    const request = '$URL/v1/models -o /dev/null -H "Authorization: Bearer $KEY"';
    const connects = `-w '%{num_connects} '`;
    const { output, exit } = await run(
      `curl ${request} ${connects} --next $URL/v1/nothing -o /dev/null ${connects} --next ${request} ${connects}`,
    );
    expect([exit, output]).toEqual([0, '1 0 0 ']);
  });
});
