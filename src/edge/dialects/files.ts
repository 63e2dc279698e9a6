// Files of other vendors' clients: each request becomes the form of `/v1/audio/transcriptions`, and its answer theirs.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { VerboseTranscription } from '../../api/transcriptions.ts';
import { aliasOf } from '../../auth/aliases.ts';
import type { Caller } from '../../auth/permissions.ts';
import { type Dialect, type FileDoor, modelOf } from '../../dialects/dialect.ts';
import { dialects } from '../../dialects/index.ts';
import type { DoorRequest, Reply } from '../door.ts';
import type { Route, RouteContext } from '../router.ts';
import type { UploadDependencies } from '../routes/transcriptions/read-upload.ts';
import { parametersFor } from './live.ts';
import { pathOf } from './place.ts';

type Post = (context: RouteContext, caller: Caller) => Promise<Reply>;
type ModelNamed = UploadDependencies['modelNamed'];
type Keyed = (handler: Post, credentialOf: (request: DoorRequest) => string | undefined) => Route['handle'];

/** @param postBy transcribes a form, whose model is named in a client's way */
export const fileRoutes = (postBy: (named?: ModelNamed) => Post, keyed: Keyed, wallNow: () => Date): Route[] =>
  dialects.flatMap((dialect) => {
    const route = (path: string, handler: Post): Route => ({
      method: 'POST',
      path: pathOf(dialect, path),
      handle: keyed(handler, (request) => {
        const query = new URLSearchParams(request.query);
        return dialect.credential({ query, headers: request.headers }).credential;
      }),
      refusal: dialect.refusal,
    });
    const post = postBy();
    const postForm = postBy((name, key) => modelOf(dialect, name, (each) => aliasOf(key, each) !== undefined));
    return [
      ...Object.entries(dialect.files).map(([path, door]) => route(path, transcribeFor(dialect, door, post, wallNow))),
      ...(dialect.forms ?? []).map((path) => route(path, postForm)),
    ];
  });

const transcribeFor =
  (dialect: Dialect, door: FileDoor, post: Post, wallNow: () => Date): Post =>
  async (context, caller) => {
    const { request, requestId } = context;
    const handshake = { query: new URLSearchParams(request.query), headers: request.headers, requestId };
    const wish = door.open(handshake);
    const fields = [...parametersFor(dialect, wish, caller.key), ...ANSWER];
    const reply = await post({ ...context, request: asForm(request, fields, wish.contentType) }, caller);
    const heard = JSON.parse(String(reply.body)) as VerboseTranscription;
    const answer = door.answer(heard, handshake, wallNow());
    return { ...answer, headers: { ...reply.headers, ...answer.headers } };
  };

const ANSWER: readonly [string, string][] = [
  ['response_format', 'verbose_json'],
  ['timestamp_granularities[]', 'word'],
  ['timestamp_granularities[]', 'segment'],
];

/** The body of a request as the file of a form. */
function asForm(request: DoorRequest, fields: readonly [string, string][], contentType = ''): DoorRequest {
  const boundary = randomBytes(18).toString('hex');
  const part = (disposition: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}${value}`;
  const type = /^[\w.+-]+\/[\w.+;= -]+$/.test(contentType) ? `\r\nContent-Type: ${contentType}` : '';
  const head = [
    ...fields.map(([name, value]) => part(`name="${name}"`, `\r\n\r\n${value}\r\n`)),
    part('name="file"; filename="audio"', `${type}\r\n\r\n`),
  ].join('');
  const headers = new Map(request.headers).set('content-type', `multipart/form-data; boundary=${boundary}`);
  headers.delete('content-length');
  return {
    ...request,
    headers,
    body: (maxBytes) => Readable.from(enclosed(head, request.body(maxBytes), `\r\n--${boundary}--\r\n`)),
  };
}

async function* enclosed(head: string, body: Readable, tail: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head);
  yield* body;
  yield Buffer.from(tail);
}
