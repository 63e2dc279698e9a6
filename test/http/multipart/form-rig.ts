// A reader of forms with small limits, by itself and behind a server, for whole bodies as bytes; and what must not be left of them.
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, expect } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { type Form, type FormLimits, readForm } from '../../../src/http/multipart/form.ts';
import type { Field } from '../../../src/http/multipart/form-fields.ts';
import { FieldsFollow, SpoolBudget } from '../../../src/http/multipart/spool-file.ts';
import { createRouter, json } from '../../../src/http/router.ts';
import type { HttpServer, OpenServer } from '../../../src/http/server.ts';
import { Quota } from '../../../src/runtime/limits/quota.ts';
import { RawSocket, turns } from '../../fakes/raw-socket.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { CONTENT_TYPE } from './broken-forms.ts';

/** What came of a form: everything in it, or its refusal. */
export type Outcome = { fields: Field[]; content: Buffer; filename: string } | ApiError;

/** Of all forms of one test file. */
export class FormRig {
  readonly limits: FormLimits;
  /** Bytes. */
  readonly spoolQuota = new Quota(20_000, 1);
  readonly memoryQuota = new Quota(10_000, 1);
  readonly faults: unknown[] = [];
  readonly #servers: HttpServer[] = [];
  readonly #opened: Form[] = [];

  constructor() {
    const spoolDir = `${temporaryDirectory()}/spool`;
    mkdirSync(spoolDir);
    const spoolBudget = new SpoolBudget(this.spoolQuota, 'org');
    this.limits = {
      fileBytesMax: 5000,
      fieldBytesMax: 100,
      fieldsBytesMax: 400,
      fieldsMax: 4,
      memoryBytesMax: 1000,
      spoolDir,
      spoolBudget,
      memoryQuota: this.memoryQuota,
      organisationId: 'org',
    };
    afterAll(() => Promise.all(this.#servers.map((server) => server.close())));
  }

  /** A form as its reader gives it; disposed of by `closeAll`. */
  async open(
    body: Readable,
    changed: Partial<FormLimits> = {},
    contentType: string | undefined = CONTENT_TYPE,
  ): Promise<Form> {
    const form = await readForm(body, contentType, { ...this.limits, ...changed });
    this.#opened.push(form);
    return form;
  }

  closeAll(): void {
    for (const form of this.#opened.splice(0)) form.dispose();
  }

  /** The form in pieces of a size, or cut where it is said. */
  async read(bytes: Buffer, cut: number | readonly number[], contentType: string | undefined): Promise<Outcome> {
    try {
      return await this.#whole(Readable.from(piecesOf(bytes, cut), { objectMode: false }), contentType);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  /** A server of its own; closed after the tests. Answers with the fields, the file as base64 and its name. */
  async openServer(open: OpenServer): Promise<number> {
    const onFault = (error: unknown) => this.faults.push(error);
    const handle = async ({ request }: Parameters<Parameters<typeof createRouter>[0][number]['handle']>[0]) => {
      const { content, ...rest } = await this.#whole(request.body(20_000_000), request.headers.get('content-type'));
      return json(200, { ...rest, content: content.toString('base64') });
    };
    const routes = [{ method: 'POST', path: '/form', handle }];
    const request = createRouter(routes, { newRequestId: () => 'req_1', onFault, onReply: () => {} });
    const server = await open(
      { request, upgrade: () => Promise.reject(new Error('There are no sockets here.')) },
      {
        host: '127.0.0.1',
        port: 0,
        headerBytesMax: 8_192,
        messageBytesMax: 65_536,
        headerTimeoutMs: 10_000,
        onFault: (error) => {
          onFault(error);
          return { status: 500 };
        },
      },
    );
    this.#servers.push(server);
    return server.port;
  }

  /** No file with a name, none merely open, no room taken, nothing thrown for nobody to catch. */
  async expectNothingLeft(): Promise<void> {
    // Closing a file is asynchronous; it is under way, or it never happens.
    for (let turn = 0; turn < 500 && this.#openUploads() > 0; turn++) await turns(1);
    expect([this.#openUploads(), readdirSync(this.limits.spoolDir), this.spoolQuota.used]).toEqual([0, [], 0]);
    expect([this.memoryQuota.used, this.faults]).toEqual([0, []]);
  }

  async #whole(body: Readable, contentType: string | undefined): Promise<Exclude<Outcome, ApiError>> {
    const form = await readForm(body, contentType, this.limits);
    try {
      return { ...(await wholeOf(form)), filename: form.file.filename };
    } finally {
      form.dispose();
    }
  }

  /** Only Linux tells. */
  #openUploads(): number {
    return process.platform === 'linux' ? openFiles().filter((path) => path.includes(this.limits.spoolDir)).length : 0;
  }
}

/** A body that arrives in pieces of this size. */
export const bodyOf = (bytes: Buffer, pieceBytes = 64): Readable =>
  Readable.from(piecesOf(bytes, pieceBytes), { objectMode: false });

/** What the file descriptors of this process stand for. */
export function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
}

/** A whole request with this body. */
export const requestOf = (
  bytes: Buffer,
  contentType = CONTENT_TYPE,
  path = '/form',
  more: readonly string[] = [],
): Buffer =>
  Buffer.concat([
    Buffer.from(
      [
        `POST ${path} HTTP/1.1`,
        'Host: localhost',
        `Content-Type: ${contentType}`,
        `Content-Length: ${bytes.length}`,
        ...more,
        '\r\n',
      ].join('\r\n'),
      'latin1',
    ),
    bytes,
  ]);

export interface Answered {
  status: number;
  code: string | undefined;
  param: string | undefined;
  json: Record<string, unknown>;
}

/** Sends the pieces over a connection of their own, each by itself, and takes the answer. */
export async function answerTo(port: number, ...pieces: readonly Buffer[]): Promise<Answered> {
  const socket = await RawSocket.connect(port);
  try {
    if (pieces.length === 1) socket.write(pieces[0]!);
    else await socket.writeApart(pieces);
    const { status, body } = await socket.reply();
    const json = JSON.parse(body) as Record<string, unknown>;
    const { code, param } = (json.error ?? {}) as { code?: string; param?: string };
    return { status, code, param: param ?? undefined, json };
  } finally {
    socket.destroy();
  }
}

export function piecesOf(bytes: Buffer, cut: number | readonly number[]): Buffer[] {
  const ends =
    typeof cut === 'number' ? Array.from({ length: Math.ceil(bytes.length / cut) }, (_, at) => at * cut) : cut;
  const places = [...new Set([0, ...ends.map((at) => Math.min(at, bytes.length)), bytes.length])].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

/** All that is in a form, read while it arrives as far as that goes. */
async function wholeOf(form: Form): Promise<{ fields: Field[]; content: Buffer }> {
  const early = contentOf(form.file.read()).catch((error: unknown) => {
    if (!(error instanceof FieldsFollow)) throw error;
  });
  const [{ fields, file }, content] = await Promise.all([form.whole, early]);
  return { fields: [...fields], content: content ?? (await contentOf(file.read())) };
}

export async function contentOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
