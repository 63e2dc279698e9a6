// Files of other vendors' clients: each request becomes the form of `/v1/audio/transcriptions`, and its answer theirs.

import { type AliasedKey, aliasOf } from '../accounts/auth/aliases.ts';
import type { Caller } from '../accounts/auth/permissions.ts';
import type { VerboseTranscription } from '../api/transcriptions.ts';
import type { TranscriptionsDependencies } from '../files/routes/index.ts';
import { warningHeader } from '../files/routes/warnings.ts';
import type { DoorRequest, Reply } from '../http/door.ts';
import type { Field } from '../http/multipart/form-fields.ts';
import type { Route, RouteContext } from '../http/router.ts';
import type { Degradation } from '../live/failover/chain.ts';
import type {
  Answer,
  ClientRequest,
  Dialect,
  FileEndpoint,
  FormEndpoint,
  Handshake,
  JsonFileEndpoint,
} from '../vendors/compat/dialect.ts';
import { dialects } from '../vendors/compat/index.ts';
import type { JsonObject } from '../vendors/kit/json.ts';
import { asForm } from './as-form.ts';
import { captionsOf } from './captions.ts';
import { headerCredentialOf } from './header-credential.ts';
import { jsonAsForm, membersOf, OTHERS } from './json-file.ts';
import { inOwnNames, parametersFor, unmetOf } from './live.ts';
import { modelOf, replacedModel } from './model-names.ts';
import { pathOf } from './routes.ts';

type Post = (context: RouteContext, caller: Caller) => Promise<Reply>;
type Fields = Pick<TranscriptionsDependencies, 'fieldsOf' | 'listNames' | 'takesRepeated' | 'ownWarnings'>;
type Keyed = (handler: Post, credentialOf: (request: DoorRequest) => string | undefined) => Route['handle'];

/** @param postBy transcribes a form, whose fields are a client's own */
export const fileRoutes = (postBy: (fields?: Fields) => Post, keyed: Keyed, wallNow: () => Date): Route[] =>
  dialects.flatMap((dialect) => {
    const route = (path: string, handler: Post): Route => ({
      method: 'POST',
      path: pathOf(dialect, path),
      handle: keyed(handler, headerCredentialOf(dialect)),
      refusal: dialect.refusal,
    });
    const post = postBy();
    const formOf = (door: FormEndpoint | 'ours') =>
      door === 'ours' ? transcribeOurs(dialect, postBy) : transcribeForm(dialect, door, postBy, wallNow);
    return [
      ...Object.entries(dialect.files).map(([path, door]) => route(path, transcribeFor(dialect, door, post, wallNow))),
      ...Object.entries(dialect.jsonFiles ?? {}).map(([path, door]) =>
        route(path, transcribeJson(dialect, door, postBy, wallNow)),
      ),
      ...Object.entries(dialect.forms ?? {}).map(([path, door]) => route(path, formOf(door))),
    ];
  });

/** Our own form and answers, with the vendor's name of a model. */
const transcribeOurs =
  (dialect: Dialect, postBy: (fields: Fields) => Post): Post =>
  async (context, caller) => {
    let unmet: readonly Degradation[] = [];
    const post = postBy({
      takesRepeated: true,
      ownWarnings: () => unmet,
      fieldsOf: (fields, key) => {
        const isAlias = (name: string) => aliasOf(key, name) !== undefined;
        return fields.map(([name, value]) => {
          if (name !== 'model') return [name, value];
          unmet = replacedModel(dialect, value, isAlias);
          return [name, modelOf(dialect, value, isAlias) ?? value];
        });
      },
    });
    return post(context, caller);
  };

const handshakeOf = ({ request, requestId }: RouteContext): Handshake => ({
  query: new URLSearchParams(request.query),
  headers: request.headers,
  requestId,
});

const transcribeForm =
  (dialect: Dialect, door: FormEndpoint, postBy: (fields: Fields) => Post, wallNow: () => Date): Post =>
  async (context, caller) => {
    const handshake = handshakeOf(context);
    let unmet: Degradation[] = [];
    let form: readonly Field[] = [];
    const post = postBy({
      fieldsOf: (fields, key) => {
        form = fields;
        const clientRequest = door.open(fields, handshake);
        unmet = unmetOf(dialect, clientRequest, key);
        return [...parametersFor(dialect, clientRequest, key), ...ANSWER];
      },
      listNames: door.lists ?? [],
      // Some of the vendors' own clients say a field twice.
      takesRepeated: true,
    });
    return answered(await post(context, caller), unmet, (heard) =>
      door.answer(heard, { ...handshake, at: wallNow(), captions: captionsOf, fields: form }),
    );
  };

const transcribeFor =
  (dialect: Dialect, door: FileEndpoint, post: Post, wallNow: () => Date): Post =>
  async (context, caller) => {
    const handshake = handshakeOf(context);
    const clientRequest = door.open(handshake);
    const fields = [...parametersFor(dialect, clientRequest, caller.key), ...ANSWER];
    const header = clientRequest.headerOf?.(lengthOf(context.request));
    const reply = await post(
      { ...context, request: asForm(context.request, fields, clientRequest.contentType, header) },
      caller,
    );
    const unmet = unmetOf(dialect, clientRequest, caller.key);
    return answered(reply, unmet, (heard) => door.answer(heard, handshake, wallNow()));
  };

const transcribeJson =
  (dialect: Dialect, door: JsonFileEndpoint, postBy: (fields: Fields) => Post, wallNow: () => Date): Post =>
  async (context, caller) => {
    const handshake = handshakeOf(context);
    const readRequest = (others: JsonObject) => door.open(others, handshake);
    const asked = (clientRequest: ClientRequest, key: AliasedKey): [string, string][] => [
      ...parametersFor(dialect, clientRequest, key),
      ...ANSWER,
    ];
    const post = postBy({ fieldsOf: (fields, key) => asked(readRequest(othersIn(fields)), key) });
    let unmet: Degradation[] = [];
    const request = jsonAsForm(context.request, door.member, (others) => {
      const clientRequest = readRequest(others);
      unmet = unmetOf(dialect, clientRequest, caller.key);
      return asked(clientRequest, caller.key);
    });
    const reply = await post({ ...context, request }, caller);
    return answered(reply, unmet, (heard) => door.answer(heard, handshake, wallNow()));
  };

function lengthOf({ headers }: DoorRequest): number | undefined {
  const length = headers.get('content-length');
  return length === undefined ? undefined : Number(length);
}

function othersIn(fields: readonly Field[]): JsonObject {
  const [, text] = fields.find(([name]) => name === OTHERS) ?? [];
  return text === undefined ? {} : membersOf(text);
}

function answered(
  reply: Reply,
  unmet: readonly Degradation[],
  answerOf: (heard: VerboseTranscription) => Answer,
): Reply {
  const heard = JSON.parse(String(reply.body)) as VerboseTranscription;
  const warnings = [...unmet, ...inOwnNames(heard.warnings ?? [])];
  const answer = answerOf(warnings.length === 0 ? heard : { ...heard, warnings });
  return { ...answer, headers: { ...reply.headers, ...warningHeader(warnings), ...answer.headers } };
}

/** What our own form is asked for, so that any answer can be made of it. */
export const ANSWER: readonly [string, string][] = [
  ['response_format', 'verbose_json'],
  ['timestamp_granularities[]', 'word'],
  ['timestamp_granularities[]', 'segment'],
];
