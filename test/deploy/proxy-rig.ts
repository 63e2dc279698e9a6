// A proxy in a process of its own with a file of deploy/ as its configuration: names, ports and paths are those of the test,
// every other line is the file's. What a proxy has to do is in proxy.suite.ts.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

/** The name in the files, which the test's certificate is for. */
export const HOST = 'stt.example.com';

const START_MS_MAX = 10_000;

/** A proxy that runs. */
export interface RunningProxy {
  /** `https://stt.example.com:PORT`; `lookup` finds it on this machine. */
  url: string;
  /** The certificate it shows. */
  ca: string;
  /** Reads its configuration again; resolves when new connections are served by that. */
  reload(): Promise<void>;
  /** Ends it in order; resolves with what it wrote into its access log. */
  stop(): Promise<string>;
}

/** Resolves the name in the files to this machine. */
export const lookup: LookupFunction = (_name, options, found) => {
  if (options.all === true) found(null, [{ address: '127.0.0.1', family: 4 }]);
  else found(null, '127.0.0.1', 4);
};

/**
 * Why tests that need a program are skipped; undefined where they run. On the build server they run in any case, and fail
 * where it is missing.
 */
export function reasonToSkip(program: string, versionArgument: string): string | undefined {
  if (process.env.CI || spawnSync(program, [versionArgument]).status === 0) return undefined;
  const reason = `${program} is not installed: its tests are skipped.`;
  console.warn(reason);
  return reason;
}

/** A file of deploy/. */
export const deployFile = (name: string): string =>
  readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

/** The file with parts of it replaced. Throws where a part is not in it: then it has changed, and the test has to as well. */
export function substituted(text: string, parts: readonly (readonly [was: string, is: string])[]): string {
  let result = text;
  for (const [was, is] of parts) {
    if (!result.includes(was)) throw new Error(`${JSON.stringify(was)} is not in the file.`);
    result = result.replaceAll(was, is);
  }
  return result;
}

/** Where a proxy keeps its files, and its certificate. */
export function proxyDirectory(): { directory: string; certFile: string; keyFile: string; ca: string } {
  const directory = temporaryDirectory();
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  execFileSync('openssl', ['req', '-x509', ...curve, ...name, '-keyout', keyFile, '-out', certFile], { stdio: 'pipe' });
  return { directory, certFile, keyFile, ca: readFileSync(certFile, 'utf8') };
}

const started: ChildProcess[] = [];
// Registered on import, so that one may also be started inside a test.
afterAll(() => {
  for (const child of started.splice(0)) child.kill('SIGTERM');
});

/** A process that says on standard error what it does; ended after the tests of the file. */
export class ProxyProcess {
  readonly child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(program: string, args: readonly string[], env: Record<string, string> = {}) {
    this.child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });
    createInterface({ input: this.child.stderr! }).on('line', (line) => {
      this.#lines.push(line);
      for (const look of [...this.#watchers]) look();
    });
    started.push(this.child);
  }

  /** Resolves when a line matches that came after the first `from`; rejects when the process ends before. */
  async says(pattern: RegExp, from = 0): Promise<void> {
    const ended = once(this.child, 'exit').then(() => this.#fail(`ended before it said ${pattern}`));
    const late = once(AbortSignal.timeout(START_MS_MAX), 'abort').then(() => this.#fail(`never said ${pattern}`));
    const said = new Promise<void>((resolve) => {
      const look = () => {
        if (!this.#lines.slice(from).some((line) => pattern.test(line))) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
    await Promise.race([said, ended, late]);
  }

  get lines(): number {
    return this.#lines.length;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }

  #fail(what: string): never {
    throw new Error(`The proxy ${what}:\n${this.#lines.join('\n')}`);
  }
}
