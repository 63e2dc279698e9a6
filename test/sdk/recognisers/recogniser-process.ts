// Recognisers that others have made, each as a server in a process of its own that can be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const RECOGNISERS = {
  // Debian's Python, whatever other one is first on the PATH: its packages are for that one.
  'vosk-shaped': ['/usr/bin/python3', '-W', 'ignore', fileURLToPath(new URL('./vosk-shaped.py', import.meta.url))],
  'whisper-shaped': [
    process.execPath,
    '--import',
    'tsx',
    fileURLToPath(new URL('./whisper-shaped.ts', import.meta.url)),
  ],
} as const;

const NEEDED = {
  'python3-pocketsphinx': '/usr/lib/python3/dist-packages/pocketsphinx',
  'python3-websockets': '/usr/lib/python3/dist-packages/websockets',
  'pocketsphinx-en-us': '/usr/share/pocketsphinx/model/en-us',
};
/** Debian's packages that the one shaped like Vosk needs and this machine does not have. Under `CI=true` there are none. */
export const missingPackages = Object.entries(NEEDED).flatMap(([name, place]) => (existsSync(place) ? [] : [name]));
if (missingPackages.length > 0 && process.env.CI === 'true') throw new Error(`Install ${missingPackages.join(', ')}.`);

const started: RecogniserProcess[] = [];
// Registered on import, so that one may also be started inside a test.
afterAll(() => Promise.all(started.splice(0).map((each) => each.kill())));

export class RecogniserProcess {
  readonly port: number;
  private readonly child: ChildProcess;
  private readonly lines: Interface;
  private readonly log: string;

  private constructor(child: ChildProcess, lines: Interface, port: number, log: string) {
    this.child = child;
    this.lines = lines;
    this.port = port;
    this.log = log;
  }

  /** Resolves when it has its model and listens. */
  static async start(kind: keyof typeof RECOGNISERS, port = 0): Promise<RecogniserProcess> {
    const [program, ...args] = RECOGNISERS[kind];
    const log = join(temporaryDirectory(), 'heard');
    const child = spawn(program, [...args, String(port), log], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const [first] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as unknown[];
    if (typeof first !== 'string') throw new Error(`${kind} ended with ${first} before it listened.`);
    const recogniser = new RecogniserProcess(child, lines, (JSON.parse(first) as { port: number }).port, log);
    started.push(recogniser);
    return recogniser;
  }

  /** What it has sent so far, turn by turn or file by file. */
  get heard(): string[] {
    return existsSync(this.log) ? readFileSync(this.log, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Resolves when it has begun to hear so many more files: one that is shaped like Whisper. */
  begins(files: number): Promise<void> {
    return new Promise((resolve) => {
      let begun = 0;
      this.lines.on('line', () => {
        if (++begun === files) resolve();
      });
    });
  }

  /** At once, with everything that is on its way. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
