// Where a recogniser runs: a thread of this process, or a process of its own for native code, which may crash.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { WorkerReply, WorkerRequest } from '../protocol.ts';

export interface PortListener {
  reply(message: WorkerReply): void;
  /** It failed, or ended without being asked to. May be called more than once. */
  failed(error: Error): void;
}

export interface Port {
  /** Audio bytes are handed over: their buffer may be empty afterwards. */
  post(request: WorkerRequest): void;
  /** Resolves when it is gone. */
  terminate(): Promise<void>;
}

export type OpenPort = (listener: PortListener) => Port;

/** @param file the compiled module that the thread runs */
export const threadPort =
  (file: () => URL): OpenPort =>
  (listener) => {
    // Flags of the process, such as loaders, are not for its threads.
    const worker = new Worker(file(), { execArgv: [], name: 'recogniser' });
    worker.on('message', (reply: WorkerReply) => listener.reply(reply));
    worker.on('error', (error) => listener.failed(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', (code) => listener.failed(new Error(`A thread of the recogniser ended with code ${code}.`)));
    return {
      post: (request) => worker.postMessage(request, request.type === 'audio' ? [request.bytes.buffer] : []),
      terminate: async () => {
        await worker.terminate();
      },
    };
  };

/** What is kept of what a process writes to its standard error. */
const COMPLAINT_CHARACTERS_MAX = 2_000;

interface ProcessOptions {
  /** The compiled module that the process runs. */
  file: () => URL;
  /** What it is told in its first argument. */
  argument: string;
  env?: Readonly<Record<string, string>>;
}

/** What a process needs to find its libraries. The keys of providers are not for native code that reads what anybody sends. */
const INHERITED = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR'];

const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(INHERITED.filter((name) => name in process.env).map((name) => [name, process.env[name]]));

/** A process that ends with this one, however this one ends. */
export const processPort =
  ({ file, argument, env }: ProcessOptions): OpenPort =>
  (listener) => {
    const child = fork(file(), [argument], {
      execArgv: [],
      serialization: 'advanced',
      env: { ...inherited(), ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS_MAX);
    });
    const exited = once(child, 'exit').catch(() => undefined);
    child.on('message', (reply) => listener.reply(reply as WorkerReply));
    child.on('error', (error) => listener.failed(error));
    child.on('exit', (code, signal) => {
      const how = `A process of the recogniser ended with ${signal ?? `code ${code}`}.`;
      listener.failed(new Error([how, oneLineOf(complaint)].filter(Boolean).join(' It wrote: ')));
    });
    return {
      post: (request) => {
        if (child.connected) child.send(request, () => {});
      },
      terminate: async () => {
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) await exited;
      },
    };
  };

/** What Node adds to an exception: where in this program it was thrown. */
const STACK = /^\s*(?:at\s|\^|throw\s|file:\/\/|node:|Node\.js v|this\.handle = )|\.js:\d+$/;

/** What a process wrote, on one line and without the stack of the exception. */
function oneLineOf(complaint: string): string {
  const lines = complaint.split('\n').filter((line) => !STACK.test(line));
  return lines
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' ');
}
