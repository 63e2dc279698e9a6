// Files of other vendors' clients: each request becomes the form of `/v1/audio/transcriptions`, and its answer theirs, subtitles included.
import { type AliasedKey, aliasOf } from '../accounts/auth/aliases.ts';
import type { AudioSource } from '../api/audio-source.ts';
import type { VerboseTranscription } from '../api/transcriptions.ts';
import { warningHeader } from '../files/routes/answer.ts';
import type { TranscriptionsDependencies } from '../files/routes/index.ts';
import { type CueLayout, cuesOf, srtOf, USUAL_LAYOUT, vttOf } from '../files/subtitles.ts';
import { readJson } from '../http/json-body.ts';
import type { Field } from '../http/multipart/form-fields.ts';
import type { Route, RouteContext } from '../http/router.ts';
import type { Reply, ServerRequest } from '../http/server.ts';
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
import type { CaptionLayout, Captions } from '../vendors/compat/jobs.ts';
import { turnsOf } from '../vendors/compat/transcript.ts';
import { type JsonObject, objectIn } from '../vendors/kit/json.ts';
import { addressAsForm, asForm, jsonAsForm, membersOf, OTHERS } from './as-form.ts';
import { inOwnNames, modelOf, parametersFor, replacedModel, unmetOf } from './parameters.ts';
import type { ReportedUpload } from './reported-upload.ts';
import { dialectRoutes, type Handler, type Keyed } from './routes.ts';

/** Of a JSON object that has the address of a file. */
const SOURCE_BYTES_MAX = 65_536;

type Fields = Pick<
  TranscriptionsDependencies,
  'fieldsOf' | 'listNames' | 'takesRepeated' | 'ownWarnings' | 'addressFields'
>;

type PostBy = (fields?: Fields) => Handler;

/**
 * @param postBy transcribes a form, whose fields are a client's own
 * @param acceptReported makes a job of a file whose client does not wait
 */
export const fileRoutes = (
  postBy: PostBy,
  keyed: Keyed,
  wallNow: () => Date,
  acceptReported: ReportedUpload,
): Route[] => [
  ...dialectRoutes(
    ({ files }) => files,
    (endpoint, dialect) => transcribeFor(dialect, endpoint, postBy, wallNow, acceptReported),
    keyed,
  ),
  ...dialectRoutes(
    ({ jsonFiles }) => jsonFiles,
    (endpoint, dialect) => transcribeJson(dialect, endpoint, postBy, wallNow),
    keyed,
  ),
  ...dialectRoutes(
    ({ forms }) => forms,
    (endpoint, dialect) =>
      endpoint === 'ours' ? transcribeOurs(dialect, postBy) : transcribeForm(dialect, endpoint, postBy, wallNow),
    keyed,
  ),
];

/** Our own form and answers, with the vendor's name of a model. */
const transcribeOurs =
  (dialect: Dialect, postBy: (fields: Fields) => Handler): Handler =>
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
  (dialect: Dialect, endpoint: FormEndpoint, postBy: (fields: Fields) => Handler, wallNow: () => Date): Handler =>
  async (context, caller) => {
    const handshake = handshakeOf(context);
    let unmet: Degradation[] = [];
    let form: readonly Field[] = [];
    const post = postBy({
      fieldsOf: (fields, key) => {
        form = fields;
        const clientRequest = endpoint.open(fields, handshake);
        unmet = unmetOf(dialect, clientRequest, key);
        return [...parametersFor(dialect, clientRequest, key), ...ANSWER];
      },
      listNames: endpoint.lists ?? [],
      addressFields: endpoint.addresses ?? [],
      // Some of the vendors' own clients say a field twice.
      takesRepeated: true,
    });
    return answered(await post(context, caller), unmet, (heard) =>
      endpoint.answer(heard, { ...handshake, at: wallNow(), captions: captionsOf, fields: form }),
    );
  };

const transcribeFor =
  (
    dialect: Dialect,
    endpoint: FileEndpoint,
    postBy: PostBy,
    wallNow: () => Date,
    acceptReported: ReportedUpload,
  ): Handler =>
  async (context, caller) => {
    const handshake = handshakeOf(context);
    const clientRequest = endpoint.open(handshake);
    const { contentType, headerOf } = clientRequest;
    const reported = endpoint.reported?.(handshake);
    if (reported !== undefined) {
      const source = () => sourceOf(context.request, endpoint);
      const file = () => asForm(context.request, [], contentType, headerOf?.(lengthOf(context.request)));
      return acceptReported(dialect, context, caller, { ...reported, ...clientRequest, source, file });
    }
    const fields = [...parametersFor(dialect, clientRequest, caller.key), ...ANSWER];
    const source = await sourceOf(context.request, endpoint);
    const request =
      source === undefined
        ? asForm(context.request, fields, contentType, headerOf?.(lengthOf(context.request)))
        : addressAsForm(context.request, fields, source);
    const post = postBy(source === undefined ? {} : { addressFields: [source.param] });
    const reply = await post({ ...context, request }, caller);
    const unmet = unmetOf(dialect, clientRequest, caller.key);
    return answered(reply, unmet, (heard) => endpoint.answer(heard, handshake, wallNow()));
  };

const transcribeJson =
  (dialect: Dialect, endpoint: JsonFileEndpoint, postBy: (fields: Fields) => Handler, wallNow: () => Date): Handler =>
  async (context, caller) => {
    const handshake = handshakeOf(context);
    const readRequest = (others: JsonObject) => endpoint.open(others, handshake);
    const asked = (clientRequest: ClientRequest, key: AliasedKey): [string, string][] => [
      ...parametersFor(dialect, clientRequest, key),
      ...ANSWER,
    ];
    const post = postBy({ fieldsOf: (fields, key) => asked(readRequest(othersIn(fields)), key) });
    let unmet: Degradation[] = [];
    const request = jsonAsForm(context.request, endpoint.member, (others) => {
      const clientRequest = readRequest(others);
      unmet = unmetOf(dialect, clientRequest, caller.key);
      return asked(clientRequest, caller.key);
    });
    const reply = await post({ ...context, request }, caller);
    return answered(reply, unmet, (heard) => endpoint.answer(heard, handshake, wallNow()));
  };

/** Throws an ApiError. Undefined where the body is the file. */
async function sourceOf(request: ServerRequest, { sourceIn }: FileEndpoint): Promise<AudioSource | undefined> {
  if (sourceIn === undefined || !/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
    return undefined;
  return sourceIn(objectIn(await readJson(request, SOURCE_BYTES_MAX)));
}

function lengthOf({ headers }: ServerRequest): number | undefined {
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

/** What is requested of our own form, so that any answer can be made of it. */
export const ANSWER: readonly [string, string][] = [
  ['response_format', 'verbose_json'],
  ['timestamp_granularities[]', 'word'],
  ['timestamp_granularities[]', 'segment'],
];

const WRITE = { srt: srtOf, vtt: vttOf } as const;

export const captionsOf: Captions = (heard, format, asked = {}) => {
  const layout = layoutOf(asked);
  return WRITE[format](cuesOf(spoken(heard, asked), heard.duration, true, layout).cues, layout);
};

function layoutOf({ charactersMax, lineCharactersMax, nameOf = USUAL_LAYOUT.nameOf }: CaptionLayout): CueLayout {
  const { lineWidthMax, linesMax } = USUAL_LAYOUT;
  const line = lineCharactersMax ?? lineWidthMax;
  if (charactersMax === undefined) return { lineWidthMax: line, linesMax, nameOf };
  const lines = charactersMax <= line ? 1 : linesMax;
  // The break between two lines is a character as well.
  return { lineWidthMax: Math.floor((charactersMax - lines + 1) / lines), linesMax: lines, nameOf };
}

const spoken = (heard: VerboseTranscription, { hasSpeakers = true }: CaptionLayout) =>
  turnsOf(heard).map(({ speaker, words, ...turn }) => ({
    ...turn,
    words: hasSpeakers ? words : words.map(({ speaker: _, ...word }) => word),
    ...(speaker === undefined || !hasSpeakers ? {} : { speaker }),
  }));
