// The audio of the gateway's own jobs: in files with names, which outlive the process, so that its next start finds them. Each is named
// by whoever accepts the job, and goes when the job is over.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Form } from '../http/multipart/form.ts';

const SUFFIX = '.audio';
const NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** What a form shows of its file at once. */
const HEAD_BYTES = 64 * 1024;
const PIECE_BYTES = 64 * 1024;

export class JobFiles {
  readonly #directory: string;
  /** Files of earlier starts. */
  readonly #earlier: readonly string[];

  /** @param directory of this node alone; made if it is not there */
  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#earlier = readdirSync(directory).filter((file) => file.endsWith(SUFFIX));
  }

  newName(): string {
    return randomUUID();
  }

  /** @param name of `newName` */
  pathOf(name: string): string {
    return join(this.#directory, `${name}${SUFFIX}`);
  }

  /** Survives also that the machine loses its power. */
  async sync(name: string): Promise<void> {
    const file = await open(this.pathOf(name), 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Any number of times. */
  async remove(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  /** Removes files of earlier starts, but not these. */
  async removeEarlier(except: ReadonlySet<string>): Promise<void> {
    const others = this.#earlier.filter((file) => !except.has(file.slice(0, -SUFFIX.length)));
    for (const file of others) await rm(join(this.#directory, file), { force: true });
  }

  /** Undefined where it is gone. */
  async sizeOf(name: string): Promise<number | undefined> {
    if (!NAME.test(name)) return undefined;
    return (await stat(this.pathOf(name)).catch(() => undefined))?.size;
  }

  /** One of an earlier start, as the form that it came in. Undefined where it is gone. */
  async open(
    name: string,
    { filename, contentType }: { filename: string; contentType: string | undefined },
  ): Promise<Form | undefined> {
    if (!NAME.test(name)) return undefined;
    const file = await open(this.pathOf(name), 'r').catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const { size } = await file.stat();
      return formOf(file, size, { filename, contentType, head: await readAt(file, 0, HEAD_BYTES) });
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function* readAll(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const piece = await readAt(file, at, PIECE_BYTES);
    if (piece.length === 0) throw new Error('The audio of a job is shorter than it was.');
    at += piece.length;
    yield piece;
  }
}

function formOf(file: FileHandle, size: number, about: Pick<Form['file'], 'filename' | 'contentType' | 'head'>): Form {
  let isOpen = true;
  const form: Form = {
    fields: [],
    file: {
      ...about,
      size,
      pieces: undefined,
      read: () => Readable.from(readAll(file, size), { objectMode: false }),
      readAt: (position, length) => readAt(file, position, length),
    },
    whole: Promise.resolve().then(() => form),
    dispose() {
      if (!isOpen) return;
      isOpen = false;
      file.close().catch(() => {});
    },
  };
  return form;
}
