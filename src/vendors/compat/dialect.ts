// The contract of a dialect: how the clients of another vendor speak to the gateway, and are answered. Pure: sockets, keys and
// money are the edge's. The mirror of a provider, whose contract says how the gateway speaks to that vendor.
import type { AudioSource } from '../../api/audio-source.ts';
import type { ApiError } from '../../api/errors.ts';
import type { ClientMessage } from '../../api/listen.ts';
import type { EventEncoder } from '../../api/listen-events.ts';
import type { VerboseTranscription } from '../../api/transcriptions.ts';
import type { JsonObject } from '../kit/json.ts';
import type { Captions, JobEndpoints, ReportedFile, SessionEndpoints, SessionName, WriteCallback } from './jobs.ts';
import type { Answer, ClientRequest, Handshake } from './request.ts';

export type { Answer, CallRequest, ClientRequest, Handshake, Unmet } from './request.ts';

/** What a message of a client comes to. */
export type Step =
  /** The session may be opened; only of a conversation without a `request` at its beginning, and once. */
  | { type: 'start'; request: ClientRequest }
  /** In the place of a `start`: the session is not opened. */
  | { type: 'refuse'; refusal: ApiError }
  | { type: 'audio'; bytes: Uint8Array }
  | { type: 'tell'; message: ClientMessage }
  /** Of a session that was requested: what it is to be, at once or from the end of the turn on. */
  | { type: 'change'; change: Change }
  /** What it says is not a message of this protocol: told as an error, and the session continues. */
  | { type: 'fault'; message: string; param?: string }
  /** Answered at once, whatever the session does. */
  | { type: 'say'; text: string }
  /** Asked for so much later, if the connection is still there. Only one waits: another is requested when it has come. */
  | { type: 'later'; afterMs: number; steps(): Iterable<Step> };

/** What a client changes in mid-session. Each is decided behind those before it, and answered once, in their order. */
export interface Change {
  /** What is then requested of all of the session. May be asked more than once. Throws an ApiError. */
  request(): ClientRequest;
  /** It is going to be so: what comes after begins with that. */
  taken(): void;
  /** What is said when it is in force. */
  inForce(): readonly string[];
  refused(refusal: ApiError): readonly string[];
}

/** One client's connection: what it says, and what it is told. Nothing of it throws, but where that is said. */
export interface Conversation extends EventEncoder {
  /** Where the handshake has said everything; else a `start` comes. */
  readonly request?: ClientRequest;
  /** Where its client may request the session later. */
  readonly name?: SessionName;
  /** What is said as soon as the connection is open. */
  readonly greeting?: readonly string[];
  /** The most that a text message has, where audio comes in text; as in `/v1/listen` when absent. */
  readonly textBytesMax?: number;
  text(text: string): Iterable<Step>;
  /** @param isPart of a large message, of which more follows */
  binary(bytes: Uint8Array, isPart?: boolean): Iterable<Step>;
  /** The session was not opened. */
  refused(refusal: ApiError): Ending;
}

/** What is said of a connection's end, and the close frame behind it. */
export interface Ending {
  messages: readonly string[];
  code: number;
  reason: string;
}

/** A WebSocket endpoint. */
export interface LiveEndpoint {
  /** Throws an ApiError for what the client asks for. */
  open(handshake: Handshake): Conversation;
  /** How a refused handshake is told, where the vendor accepts the connection first; an HTTP answer when absent, or undefined. */
  refused?(refusal: ApiError, handshake: Handshake): Ending | undefined;
}

/** A WebSocket endpoint whose clients may say their key in a message: they are let in, and judged as soon as it has come. */
export interface DeferredAuthEndpoint extends LiveEndpoint {
  refused(refusal: ApiError): Ending;
  /**
   * Asked of each text message from the first on, where the handshake brought no credential. Undefined: a later message says it.
   * Never throws.
   */
  late(text: string): { credential: string | undefined } | undefined;
}

/** What a file's request asks for; the file is its body. */
export interface FileRequest extends ClientRequest {
  contentType: string | undefined;
  /** A header that makes a file of samples without one. @param bytes of the samples, where they are known */
  headerOf?(bytes: number | undefined): Uint8Array;
}

/** An endpoint that takes a file as the whole body of a POST, and answers with its transcript. */
export interface FileEndpoint {
  /** Throws an ApiError. */
  open(handshake: Handshake): FileRequest;
  /** Where the client does not wait for the transcript; undefined where it does. Throws an ApiError. */
  reported?(handshake: Handshake): ReportedFile | undefined;
  /** The address of the file, in a JSON object that is the body in its place. Throws an ApiError. */
  sourceIn?(body: JsonObject): AudioSource;
  answer(transcription: VerboseTranscription, handshake: Handshake, at: Date): Answer;
}

/** An endpoint that takes a file in a form, under fields of the vendor's own, and answers with its transcript. */
export interface FormEndpoint {
  /** Fields that may come more than once. */
  lists?: readonly string[];
  /** Fields that may be the address of the file, in its place. They are not among those that `open` gets, unless a file came as well. */
  addresses?: readonly string[];
  /** Throws an ApiError. Asked of all fields; of a large file before that of those in front of it. */
  open(fields: readonly (readonly [name: string, value: string])[], handshake: Handshake): ClientRequest;
  /** @param fields of the form */
  answer(
    transcription: VerboseTranscription,
    means: Handshake & { at: Date; captions: Captions; fields: readonly (readonly [name: string, value: string])[] },
  ): Answer;
}

/** An endpoint that takes a file in base64, as a member of a JSON object, and answers with its transcript. */
export interface JsonFileEndpoint {
  member: string;
  /** Throws an ApiError. Asked of all members; of a large file before that of none, as long as they have not come. */
  open(others: JsonObject, handshake: Handshake): ClientRequest;
  answer(transcription: VerboseTranscription, handshake: Handshake, at: Date): Answer;
}

export interface Offered {
  credential: string | undefined;
  /** The subprotocol to answer. */
  protocol?: string;
  /** The parameter of the URL that it came in: URLs are logged. */
  param?: string;
  /** Of one that says until when it is good: throws an ApiError where it is not at this time. Sockets alone ask. */
  prove?(at: Date): void;
}

/** What a call may have done for it. */
export interface CallMeans {
  /** A short-lived credential that opens live sessions for whoever calls, as `credential` finds it. Throws an ApiError. */
  mint(): string;
  /** The address of a WebSocket of the dialect, as this client reaches the gateway: `wss://…`. */
  socketUrl(path: string): string;
  at: Date;
}

/** A POST with JSON, such as one that asks for a live session. */
export interface Call {
  /** Throws an ApiError. `request`: what is going to be requested of the session, which is judged as far as its own words go. */
  open(handshake: Handshake, body: unknown): { request: ClientRequest; answer(means: CallMeans): Answer };
}

/** A request for a short-lived credential that opens live sessions. */
export interface TokenEndpoint {
  /** For how many seconds it is requested; undefined as usual. Throws an ApiError. */
  open(handshake: Handshake, body: JsonObject): number | undefined;
  /** What the client is given may be shorter, or a little longer, than what it requested. */
  answer(token: { token: string; seconds: number; expiresAt: string }, body: JsonObject, handshake: Handshake): Answer;
}

/** By method and path: `GET /v3/token`. */
export type TokenEndpoints = Readonly<Record<string, TokenEndpoint>>;

export interface Dialect {
  /** Its folder, and its paths: `/compat/<name>/…`. */
  name: string;
  /** As people write it. */
  title: string;
  /** Whose models the names without a provider are; nobody's when absent, and `names` are slugs. */
  provider?: string;
  /** The model of a client that names none; when absent it has to name one. */
  model?: string;
  /** Other names of the vendor's models. */
  names: Readonly<Record<string, string>>;
  /** Names of models that the vendor had or has, and the gateway has not: what stands for each, with a warning. */
  replaced?: readonly (readonly [name: RegExp, model: string])[];
  /** By their paths below `/compat/<name>`. */
  live: Readonly<Record<string, LiveEndpoint | DeferredAuthEndpoint>>;
  files: Readonly<Record<string, FileEndpoint>>;
  jsonFiles?: Readonly<Record<string, JsonFileEndpoint>>;
  calls?: Readonly<Record<string, Call>>;
  jobs?: JobEndpoints;
  /** What is sent to an address that a client of it named for the end of a job; absent where none can be named. */
  callbackPost?: WriteCallback;
  sessions?: SessionEndpoints;
  tokens?: TokenEndpoints;
  /** What is said of paths that the vendor has and the gateway has not, by the pattern of the path. */
  notServed?: Readonly<Record<string, string>>;
  /** Paths that are taken at the root as well: of clients that can be given no path. */
  atRoot?: readonly string[];
  /** `ours`: the form of `/v1/audio/transcriptions`, and its answers, with the vendor's names of its models. */
  forms?: Readonly<Record<string, FormEndpoint | 'ours'>>;
  /** Where a client has its key. Never throws. */
  credential(handshake: Omit<Handshake, 'requestId'>): Offered;
  /** A refusal as an HTTP answer. */
  refusal(refusal: ApiError, requestId: string): Answer;
}
