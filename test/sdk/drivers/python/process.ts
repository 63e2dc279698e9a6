// The Python process that runs the clients: one for all, since they take seconds to import. A line of JSON for each job and answer.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const SERVE = fileURLToPath(new URL('../../python/serve.py', import.meta.url));
/** Of what the clients write, for the error when their process ends. */
const LOG_CHARACTERS_MAX = 4_000;

interface Answer {
  id: number;
  result?: unknown;
  error?: string;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class PythonProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #lastId = 0;
  #log = '';

  constructor(python: string) {
    this.#child = spawn(python, ['-B', SERVE], {
      env: { PATH: process.env.PATH },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr.on('data', (written) => {
      this.#log = `${this.#log}${written}`.slice(-LOG_CHARACTERS_MAX);
    });
    createInterface(this.#child.stdout).on('line', (line) => this.#answered(JSON.parse(line) as Answer));
    this.#exited = new Promise((resolve) =>
      this.#child.once('close', (code) => {
        for (const { reject } of this.#waiting.values()) reject(new Error(`Python exited with ${code}: ${this.#log}`));
        resolve();
      }),
    );
  }

  /** Rejects with what the client raised. */
  ask(job: object): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, ...job })}\n`);
    });
  }

  /** Resolves when the process has exited. */
  close(): Promise<void> {
    this.#child.stdin.end();
    return this.#exited;
  }

  #answered({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error));
  }
}
