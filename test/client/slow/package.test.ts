// `@voxgate/client` as a program elsewhere has it: the packed package in a folder of its own, used from Node and checked by the
// compiler, for a browser with none of this project's dependencies, and for Node.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const WAV = join(ROOT, 'test/fixtures/audio/number.wav');
const MODULES = join(ROOT, 'node_modules');
const run = promisify(execFile);
const folder = temporaryDirectory();
let unpackedBytes = 0;
const PACKAGE = join(folder, 'node_modules/@voxgate/client');

beforeAll(async () => {
  // Its types are made when it is packed; what that prints is not among the answer.
  const pack = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: join(ROOT, 'clients/typescript') });
  const [{ filename, unpackedSize }] = JSON.parse(stdout) as [{ filename: string; unpackedSize: number }];
  unpackedBytes = unpackedSize;
  mkdirSync(PACKAGE, { recursive: true });
  await run('tar', ['-xzf', join(folder, filename), '-C', PACKAGE, '--strip-components=1']);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
}, 120_000);

/** Lets the folder have packages of this project. */
function link(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(join(MODULES, name), join(folder, 'node_modules', name));
  }
}

/** What the compiler says of a program: one line for each error. */
async function compile(name: string, text: string, options: Record<string, unknown>): Promise<string[]> {
  writeFileSync(join(folder, `${name}.ts`), text);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    exactOptionalPropertyTypes: true,
    ...options,
  };
  const project = join(folder, `tsconfig.${name}.json`);
  writeFileSync(project, JSON.stringify({ compilerOptions, files: [`${name}.ts`] }));
  const { stdout } = await run(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '-p', project], {
    cwd: folder,
  }).catch((failure: { stdout: string }) => failure);
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

/** A page: nothing but the DOM is there, and the declarations of the client themselves are checked as well. */
const BROWSER = {
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  types: [],
  module: 'ESNext',
  moduleResolution: 'bundler',
  skipLibCheck: false,
};

it('stays small and free of dependencies', () => {
  const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('dependencies');
  expect(readdirSync(PACKAGE).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  expect(unpackedBytes).toBeLessThan(512 * 1024);
});

describe('a page', () => {
  it('compiles without any other package', async () => {
    const program = `
      import { Voxgate, type SessionEvent } from '@voxgate/client';
      const client = new Voxgate({ baseUrl: '/', getToken: () => fetch('/token').then((answer) => answer.json()), webSocket: WebSocket, fetch });
      export async function listen(show: (text: string) => void): Promise<string> {
        const microphone = await client.microphone({ onLevel: (level: number) => void level });
        const session = client.listen({
          model: 'deepgram/nova-3',
          sampleRate: microphone.sampleRate,
          providerParams: { smart_format: true, keyterm: ['Voxgate'] },
          fallbacks: ['assemblyai/universal-streaming-english', { model: 'custom/ours', providerParams: { any: 1 } }],
        });
        void session.pipe(microphone);
        for await (const event of session) {
          const known: SessionEvent = event;
          if (known.type === 'transcript') show(known.text);
          if (known.type === 'reconnected') show(String(known.replayed_seconds));
        }
        const input = document.querySelector('input') as HTMLInputElement;
        const file = input.files?.[0] as File;
        const srt: string = await client.transcribe({ model: 'openai/whisper-1', file, responseFormat: 'srt' });
        const { words } = await client.transcribe({ model: 'openai/whisper-1', file, responseFormat: 'verbose_json' });
        for await (const part of await client.transcribe({ model: 'openai/whisper-1', file: file.stream(), stream: true })) show(part.type);
        return srt + (words?.length ?? 0) + (await session.close()).costUsd;
      }`;
    expect(await compile('page', program, BROWSER)).toEqual([]);
  }, 60_000);

  it('gets compile errors for its mistakes', async () => {
    const program = `import { Voxgate } from '@voxgate/client';
const client = new Voxgate({ token: 'st_a.b' });
client.listen({ model: 'deepgram/nova-3', providerParams: { format_turns: true } });
client.listen({ model: 'deepgram/nova-3', providerParams: { endpointing: true } });
client.listen({ model: 'local/align-en', providerParams: {} });
client.listen({ model: 'loopback/script', sample_rate: 8000 });
client.listen({ model: 'loopback/script', encoding: 'flac' });
client.transcribe({ model: 'openai/whisper-1', file: new Blob([]), responseFormat: 'yaml' });
client.transcribe({ model: 'openai/whisper-1', file: 'a path' });
const text: string = await client.transcribe({ model: 'openai/whisper-1', file: new Blob([]) });
client.listen({ model: 'custom/ours', providerParams: { whatever: true } });
export { text };`;
    const lines = (await compile('mistakes', program, BROWSER)).map((line) => Number(/\((\d+),/.exec(line)?.[1]));
    expect([...new Set(lines)]).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  }, 60_000);

  it('loads only files inside its folder, except one for Node', () => {
    const client = join(PACKAGE, 'dist');
    const names = readdirSync(client, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.js$|\.d\.ts$/.test(name),
    );
    expect(names).toContain('index.js');
    const foreign = names.flatMap((name) => {
      const text = readFileSync(join(client, name), 'utf8').replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
      const specifiers = [...text.matchAll(/(?<!['"])\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
        ([, specifier]) => specifier,
      );
      return specifiers
        .filter((each) => !/^\.\.?\/[\w./-]+\.[jt]s$/.test(each as string))
        .map((each) => `${name}: ${each}`);
    });
    expect(
      foreign.filter((line) => !/^(?:node|(?:live\/)?node-web-socket(?:-\w{8})?)\.(?:js|d\.ts): /.test(line)),
    ).toEqual([]);
    const importers = names.filter((name) =>
      /['"]\.\/node(?:-web-socket(?:-\w{8})?)?\.[jt]s['"]/.test(readFileSync(join(client, name), 'utf8')),
    );
    expect(importers).toEqual(['index.js']);
  });
});

describe('a program of Node', () => {
  it('compiles with types for its files and `ws`', async () => {
    link('@types/node', 'undici-types', 'ws', '@types/ws');
    const program = `
      import WebSocket from 'ws';
      import { RateLimitError, Voxgate } from '@voxgate/client';
      import { fileFromPath } from '@voxgate/client/node';
      const client = new Voxgate({ apiKey: 'sk_vox_', webSocket: WebSocket });
      const { data, metadata } = await client.transcribe({ model: 'a/b', file: await fileFromPath('a.wav') }).withMetadata().catch((error: unknown) => {
        throw error instanceof RateLimitError ? new Error(String(error.retryAfterSeconds)) : error;
      });
      console.log(data.text, metadata.warnings.join());`;
    const options = { module: 'NodeNext', types: ['node'], skipLibCheck: true };
    expect(await compile('program', program, options)).toEqual([]);
  }, 60_000);

  it('transcribes a file and a live session, with `ws` found automatically', async () => {
    const live = await startLiveGateway();
    const program = `
      import { createReadStream } from 'node:fs';
      import { Voxgate } from '@voxgate/client';
      import { fileFromPath } from '@voxgate/client/node';
      const client = new Voxgate({ baseUrl: process.argv[2] });
      const file = await fileFromPath(process.argv[3]);
      const { text } = await client.transcribe({ model: 'local/commands-en', file });
      const session = client.listen({ model: 'local/commands-en' });
      void session.pipe(createReadStream(process.argv[3], { start: 44 })).then(() => session.close());
      const finals = [];
      for await (const final of session.finals()) finals.push(final.text);
      console.log(JSON.stringify({ text, finals }));`;
    writeFileSync(join(folder, 'program.mjs'), program);
    const environment = { PATH: process.env.PATH, VOXGATE_KEY: live.key };
    const { stdout } = await run(process.execPath, ['program.mjs', live.url, WAV], { cwd: folder, env: environment });
    const { text, finals } = JSON.parse(stdout) as { text: string; finals: string[] };
    expect(text).not.toBe('');
    expect(finals.join(' ')).toBe(text);
  }, 60_000);
});
