// Files are on the disk of the node that received them, and jobs run there. Other nodes pass requests for them on to it over the bus,
// and ask every node for the files of a key.
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Caller } from '../../accounts/auth/permissions.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import { ApiError, type ApiErrorExtras, apiError } from '../../api/errors.ts';
import { type Bus, type BusBody, BusError, type Detach } from '../../cluster/bus/bus.ts';
import { KEPT_JOBS } from '../../cluster/bus/subjects.ts';
import type { PartsProgress } from '../../files/long/long-files.ts';
import type { RouteContext } from '../../http/router.ts';
import type { ServerRequest } from '../../http/server.ts';
import type { Owner } from '../../jobs/owner.ts';
import { isRecord, plainOfText, textOfPlain } from '../../runtime/plain-data.ts';
import type { Answer } from '../../vendors/compat/dialect.ts';
import type { ShownFile } from '../../vendors/compat/jobs.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Of a message, compressed; with its envelope it stays below the default limit of NATS servers. */
const CONTENT_BYTES_MAX = 512 * 1024;
/** Of a message that was compressed. */
const UNZIPPED_BYTES_MAX = 32 * 1024 * 1024;
/** A job that is requested may wait for the ledger. */
const PASS_ON_MS = 30_000;
const LIST_MS = 2_000;
/** Longer than the node waits for the store. */
const CANCEL_MS = 8_000;
/** Without an answer, a job is shown without its progress. */
const PROGRESS_MS = 1_000;
const NODES_MAX = 64;
/** The others are the credential's, or the connection's. */
const HEADERS = ['host', 'content-type', 'traceparent'];

/** A request of a client, as one node passes it on to another. */
interface PassedOn {
  dialect: string;
  /** Of the endpoint: `POST /v2/transcript`. */
  place: string;
  id: string;
  query: string;
  headers: readonly (readonly [string, string])[];
  isTls: boolean;
  body: string;
  caller: Caller;
  requestId: string;
}

type Asked =
  | { does: 'pass'; request: PassedOn }
  | { does: 'list'; owner: Owner }
  | { does: 'end' | 'cancel' | 'progress'; owner: Owner; id: string };

type Said =
  | { answer: Answer }
  | { refusal: ErrorCode; message: string; extras: ApiErrorExtras }
  | { files: PlainFile[] }
  | { progress: PartsProgress | null }
  | { done: true };

type PlainFile = Omit<ShownFile, 'createdAt' | 'fields'> & {
  createdAtMs: number;
  fields: readonly (readonly [string, string])[];
};

interface Content extends BusBody {
  content: string;
}

export interface JobsElsewhereOptions {
  bus: Pick<Bus, 'node' | 'address' | 'requestOf' | 'serve'>;
  /** Nodes that serve clients; this one may be among them. */
  nodes(): readonly string[];
  onFault(error: unknown): void;
}

/** What this node does for others. */
export interface JobsHere {
  /** Answers the request as the endpoint of the dialect does. Rejects with ApiError. */
  answer(dialect: string, place: string, context: RouteContext, caller: Caller): Promise<Answer>;
  filesOf(owner: Owner): readonly ShownFile[];
  end(owner: Owner, id: string): void;
  /** Resolves when the store knows, or does not answer. */
  cancel(owner: Owner, id: string): Promise<void>;
  progressOf(owner: Owner, id: string): PartsProgress | undefined;
}

export class JobsElsewhere {
  readonly #options: JobsElsewhereOptions;

  constructor(options: JobsElsewhereOptions) {
    this.#options = options;
  }

  /**
   * Has another node answer. Rejects with the ApiError of that node, with `not_found` when it has stopped, `overloaded` when it does
   * not answer, and `file_too_large` for a body that cannot be passed on.
   *
   * @param body parsed JSON; undefined where there is none
   */
  async pass(
    node: string,
    [dialect, place]: readonly [string, string],
    { request, requestId, params: { id = '' } }: RouteContext,
    caller: Caller,
    body?: unknown,
  ): Promise<Answer> {
    const { query, headers, isTls = false } = request;
    const sent = HEADERS.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) as string] as const] : []));
    const passed = { dialect, place, id, query, headers: sent, isTls, caller, requestId };
    const asked: Asked = {
      does: 'pass',
      request: { ...passed, body: body === undefined ? '' : JSON.stringify(body) },
    };
    const said = await this.#ask(node, asked, PASS_ON_MS).catch((error) => {
      throw error instanceof BusError ? refusalOf(error) : error;
    });
    if (said !== undefined && 'refusal' in said) throw new ApiError(said.refusal, said.message, said.extras);
    if (said === undefined || !('answer' in said)) throw apiError('overloaded', SILENT, { retryAfterSeconds: 1 });
    return said.answer;
  }

  /** Of all other nodes that answer. Never rejects. */
  async filesOf(owner: Owner): Promise<ShownFile[]> {
    const { bus, nodes } = this.#options;
    const others = nodes()
      .filter((node) => node !== bus.node)
      .slice(0, NODES_MAX);
    const found = others.map(async (node) => {
      const said = await this.#ask(node, { does: 'list', owner }, LIST_MS).catch(() => undefined);
      return said !== undefined && 'files' in said ? said.files.map(shownFile) : [];
    });
    return (await Promise.all(found)).flat();
  }

  /** Never rejects: what is not ended finds its job removed. */
  end(node: string, owner: Owner, id: string): void {
    this.#ask(node, { does: 'end', owner, id }, LIST_MS).catch(() => {});
  }

  /** Never rejects: what is not cancelled continues, and is shown so. */
  async cancel(node: string, owner: Owner, id: string): Promise<void> {
    await this.#ask(node, { does: 'cancel', owner, id }, CANCEL_MS).catch(() => {});
  }

  /** Undefined where it is not known. Never rejects. */
  async progressOf(node: string, owner: Owner, id: string): Promise<PartsProgress | undefined> {
    const said = await this.#ask(node, { does: 'progress', owner, id }, PROGRESS_MS).catch(() => undefined);
    return said !== undefined && 'progress' in said ? progressIn(said.progress) : undefined;
  }

  /** Answers other nodes. */
  serve(here: JobsHere): Detach {
    return this.#options.bus.serve(KEPT_JOBS, async (body) => {
      const asked = (await contentOf(body)) as Asked | undefined;
      return bodyOf(asked === undefined ? { done: true } : await this.#answer(here, asked));
    });
  }

  async #answer(here: JobsHere, asked: Asked): Promise<Said> {
    try {
      switch (asked.does) {
        case 'pass': {
          const { dialect, place, caller } = asked.request;
          return { answer: await here.answer(dialect, place, contextOf(asked.request), caller) };
        }
        case 'list':
          return { files: here.filesOf(asked.owner).map(plainFile) };
        case 'end':
          here.end(asked.owner, asked.id);
          return { done: true };
        case 'cancel':
          await here.cancel(asked.owner, asked.id);
          return { done: true };
        case 'progress':
          return { progress: here.progressOf(asked.owner, asked.id) ?? null };
      }
    } catch (error) {
      if (!(error instanceof ApiError)) this.#options.onFault(error);
      const { code, message, extras } = error instanceof ApiError ? error : apiError('internal_error', FAULT);
      return { refusal: code, message, extras };
    }
  }

  async #ask(node: string, asked: Asked, timeoutMs: number): Promise<Said | undefined> {
    const { bus } = this.#options;
    const answer = await bus.requestOf(node, KEPT_JOBS, bus.address('jobs'), await bodyOf(asked), timeoutMs);
    const said = await contentOf(answer);
    if (!isRecord(said)) return undefined;
    if ('refusal' in said && !Object.hasOwn(ERROR_CATALOGUE, String(said.refusal))) return undefined;
    return said as Said;
  }
}

/** Throws an ApiError `file_too_large`. */
async function bodyOf(content: Asked | Said): Promise<Content> {
  const zipped = await zip(textOfPlain(content));
  if (zipped.length <= CONTENT_BYTES_MAX) return { type: KEPT_JOBS, content: zipped.toString('base64') };
  throw apiError('file_too_large', `${TOO_LARGE} ${CONTENT_BYTES_MAX} bytes, compressed. Send less.`);
}

async function contentOf(body: BusBody): Promise<unknown> {
  const { content } = body as Partial<Content>;
  if (typeof content !== 'string') return undefined;
  const bytes = await unzip(Buffer.from(content, 'base64'), { maxOutputLength: UNZIPPED_BYTES_MAX });
  return plainOfText(bytes.toString());
}

function contextOf({ place, id, query, headers, isTls, body, requestId }: PassedOn): RouteContext {
  const [method = '', path = ''] = place.split(' ');
  const request: ServerRequest = {
    ...{ method, path, query, headers: new Map(headers), isTls },
    remoteAddress: '',
    signal: new AbortController().signal,
    body: () => Readable.from(body === '' ? [] : [Buffer.from(body)], { objectMode: false }),
  };
  return { request, requestId, params: { id } };
}

function progressIn(said: unknown): PartsProgress | undefined {
  const { done, parts } = isRecord(said) ? said : {};
  return typeof done === 'number' && typeof parts === 'number' ? { done, parts } : undefined;
}

const plainFile = ({ id, filename, bytes, createdAt, fields, audio }: ShownFile): PlainFile => ({
  ...{ id, filename, bytes, createdAtMs: createdAt.getTime(), fields: [...fields] },
  ...(audio === undefined ? {} : { audio }),
});

const shownFile = ({ createdAtMs, fields, ...file }: PlainFile): ShownFile => ({
  ...file,
  createdAt: new Date(createdAtMs),
  fields: new Map(fields),
});

function refusalOf({ reason }: BusError): ApiError {
  const isGone = reason === 'unknown_node' || reason === 'unknown_actor';
  return isGone
    ? apiError('not_found', GONE, { param: 'file' })
    : apiError('overloaded', SILENT, { retryAfterSeconds: 1 });
}

const GONE = 'The node that had this file has stopped, and the file is gone. Upload it again.';
const SILENT = 'The node that has this file does not answer just now. Try again in a moment.';
const FAULT = 'The node that has this file could not do it.';
const TOO_LARGE = 'This request is passed on to the node that has the file, and may have';
