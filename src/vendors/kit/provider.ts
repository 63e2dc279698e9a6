// The contract between the gateway and a provider's folder. A codec is pure: it never sees a socket, timer, clock or
// logger; what it needs of those (frame sizes, keep-alive period, deadlines) it states as data that src/live/upstream acts on.
import type { TObject } from '@sinclair/typebox';
import type { Heard, LegFailure, Utterance } from '../../../machines/events.ts';
import type { Capabilities, Mode, Model } from '../../api/models.ts';
import type { TokenLogprob } from '../../api/transcriptions.ts';
import type { CredentialCheck, CredentialForm, ProviderAccess } from './credentials.ts';
import type { Endpoint, GrpcMethod, HttpAnswer, HttpRequest, ProviderRefusal, SocketEndpoint } from './endpoints.ts';
import type { FailureRow } from './failure-row.ts';
import type { OptionRows } from './options.ts';
import type { UsageReports } from './usage-report.ts';

export type { CredentialCheck, CredentialVerdict, ProviderAccess } from './credentials.ts';
export type { HttpAnswer, HttpRequest, PlainRequest, ProviderRefusal } from './endpoints.ts';
export { type Endpoint, type GrpcEndpoint, type GrpcMethod, HALF_CLOSE, type SocketEndpoint } from './endpoints.ts';

/** A catalogue row: what `GET /v1/models` shows, less what depends on the caller. */
export interface ModelCard extends Omit<Model, 'object' | 'owned_by' | 'provider_params' | 'available' | 'status'> {
  /** Where the price was read, and when (ISO date). */
  priceSource: { url: string; date: string };
  /** What live sessions can that files cannot, or the other way round. */
  liveCapabilities?: Partial<Capabilities>;
  /** Whisper, or made like it: it gives text for audio without speech. */
  isWhisper?: true;
  /** It was made for one kind of speech, such as commands or a trade: it is used where it is named, and never chosen. */
  isForOnePurpose?: true;
  /** Languages between which it switches where it detects them; all that it knows when absent. */
  switching?: readonly string[];
}

/** What a leg is opened with. */
export interface LegRequest {
  /** The model's part of the slug. */
  model: string;
  /** Hertz of the audio the leg will be sent: one of the model's `audio.sample_rates`. */
  sampleRate: number;
  language: string | undefined;
  interimResults: boolean;
  diarization: boolean;
  /** The client wants to hear of the bounds of turns: early ends are requested where the provider has them. */
  turnEvents?: boolean;
  /** Checked against the provider's options. */
  params: Readonly<Record<string, unknown>>;
  /** Base URL and credential of the provider, from the configuration or the customer's vault; neither is there for `timing`. */
  access: ProviderAccess;
  /** Absent for `timing`. */
  connection?: ConnectionName;
}

/** What no other connection has: for protocols that name their connections, and signatures that lapse. */
export interface ConnectionName {
  /** 32 hexadecimal digits. */
  id: string;
  /** When it is made, in milliseconds since 1970. */
  wallMs: number;
}

/**
 * What a provider wants of its audio, and how long things may take. All of it is data; `src/audio` and `src/live/upstream` act on it.
 * Cite the public document of each value that is not the default.
 */
export interface LiveTiming {
  frame: FrameContract;
  /** Audio seconds per second that the provider accepts; Infinity where no limit is documented. */
  speedMax: number;
  /** Audio that may be sent at once, ahead of `speedMax`, in milliseconds. */
  burstMs: number;
  connectMs: number;
  /** From connected to `ready`. */
  readyMs: number;
  /** From finish sent to `finished`, as a rule: a connection that is alive is waited for longer where no other model may be better. */
  drainMs: number;
  /**
   * Silence that ends a turn. A leg that is behind is sent 300 ms of each pause, and told by `finalize` where the whole of it would
   * have ended the turn. Infinity where the leg hears that from 300 ms, or where the gateway ends the turns.
   */
  turnPauseMs: number;
  /** Send the keep-alive when nothing was sent for so long; undefined where none is needed. */
  keepAliveMs: number | undefined;
  /** The provider neither bills an open connection without audio nor ends it: it may be kept for a failover. */
  isIdleFree?: true;
  /** Nothing heard while there was speech for so long: the leg is taken for dead. */
  stallMs: number;
  /**
   * When a leg that works says something of speech: while it is spoken, when a pause of `turnPauseMs` follows, or at no time that
   * could be told. One that has kept to that and stops is taken for dead before `stallMs`.
   */
  answers: 'words' | 'pauses' | 'late';
  /** How long a formatted final is waited for. */
  formattedWaitMs: number;
  /** The provider's own limit on a session, undefined where there is none. The leg is replaced before it, between two turns. */
  sessionMaxMs: number | undefined;
  /**
   * For a provider that confirms its audio (`LiveCodec.unconfirmed`): so many frames may be on their way, then the session holds
   * back until half of them are confirmed. Undefined for all others.
   */
  unconfirmedMax: number | undefined;
  /** For a model that makes no turns itself, or endless ones: the gateway finalizes where they end. Undefined for all others. */
  endpointing: Endpointing | undefined;
}

/** When the gateway ends a turn for a model that does not. */
export interface Endpointing {
  /** Silence after speech that ends a turn; Infinity where the model sees to that. */
  silenceMs: number;
  /** A turn is ended after so much audio in any case, unless there is nothing to be heard in it. */
  longestMs: number;
}

/** Sizes of audio frames in milliseconds. A frame leaves when `minMs` is there; a backlog leaves in frames of `idealMs`. */
export interface FrameContract {
  minMs: number;
  idealMs: number;
  maxMs: number;
  /** What becomes of a last piece shorter than `minMs`: sent as it is, or padded with silence. */
  tail: 'short' | 'pad';
}

/** One message of a provider: a parsed JSON text frame (or an engine's object), a text that is not JSON, or bytes. */
export type Incoming = { json: unknown } | { text: string } | { bytes: Uint8Array };

/**
 * What a codec makes of something: words for the session, a frame for the provider, or a call of `wake` after so long
 * (one at a time: a later one replaces it). Steps are taken in their order; after `finished` or `failed` nothing is heard.
 */
export type Step =
  | Heard
  | { type: 'send'; frame: Outgoing }
  | { type: 'wake'; afterMs: number }
  /** Audio was confirmed: `unconfirmed` says how much is left. */
  | { type: 'confirmed' };

/**
 * A live codec. `State` is a plain object owned by the leg; methods may change it in place.
 * A message that cannot be read is answered with an empty list, never with a throw; the host counts it.
 */
export interface LiveCodec<State = unknown> {
  timing(request: LegRequest): LiveTiming;
  /** `state`, where to connect, and what to send as soon as the connection is open. */
  open(request: LegRequest): { state: State; endpoint: Endpoint; hello: Outgoing[] };
  /**
   * The WebSocket that is named by the answer to the request of an endpoint, or what is wrong with the answer. It has to lie where it
   * was requested, or in the same domain; texts of its query are taken for secrets, and shown nowhere.
   */
  socketOf?(state: State, answer: HttpAnswer): SocketEndpoint | LegFailure;
  /** The connection is open and `hello` was sent. For providers that take audio from then on and say nothing: `ready`. */
  opened?(state: State): Step[];
  /**
   * Wraps one audio frame. Return the frame itself where the wire takes raw bytes: it is reused after the call. Undefined where it has
   * to wait: the codec sends it later, and says by `unconfirmed` how many do.
   */
  audio(state: State, frame: Uint8Array): Outgoing | undefined;
  read(state: State, message: Incoming): Step[];
  /** Ends the current turn now. Empty where the provider has no such message. */
  finalize(state: State): Step[];
  /** No more audio: say what is left, then `finished`. */
  finish(state: State): Step[];
  /**
   * What is requested of the leg differs from before, on the open connection: what to send, and `reconfigured` once it is known whether
   * that is in force. Undefined, as without it, where the provider takes that change with a new connection alone. Model, rate and
   * access stay. One is requested at a time.
   */
  reconfigure?(state: State, before: LegRequest, after: LegRequest): Step[] | undefined;
  keepAlive(state: State): Outgoing[];
  /** Frames that were sent and that the provider has not confirmed: asked for behind each frame and each message. */
  unconfirmed?(state: State): number;
  /** The time that a `wake` step asked for has passed. */
  wake?(state: State): Step[];
  /** The leg is released, finished or not: what to send so that the provider ends it, and stops counting. */
  leave?(state: State): Outgoing[];
  /** What a refused upgrade, or a refused request before it, means. Without it the HTTP status decides. */
  refused?(refusal: ProviderRefusal): LegFailure;
  /** What a close of the connection means, in the phase it came in. `finished` where it ends a drained leg in order. */
  closed(state: State, code: number, reason: string): Heard;
}

/** What a file's transcription gives. Times are seconds of the file. */
export interface BatchResult {
  utterances: Utterance[];
  /** BCP-47 when the provider told it. */
  language: string | undefined;
  /** Seconds of audio, when the provider told them. */
  seconds: number | undefined;
  warnings: { code: string; message: string; param?: string }[];
  /** What each token was worth to the model, where it was asked for that and told it. */
  logprobs?: TokenLogprob[];
}

/** What a file is transcribed with. */
export interface BatchRequest {
  /** The model's part of the slug. */
  model: string;
  language: string | undefined;
  diarization: boolean;
  /** Whether the client asked for the times of words. */
  wordTimestamps: boolean;
  /** Checked against the provider's options; those the model does not honour are left out. */
  params: Readonly<Record<string, unknown>>;
  access: ProviderAccess;
  file: BatchFile;
}

/** The file, of which a codec sees everything but the bytes. */
export interface BatchFile {
  /** Safe ASCII with the extension of its container: never the client's own name. */
  name: string;
  contentType: string;
  /** Known where the codec `needsLength`, or the upload was kept. */
  bytes: number | undefined;
  /** Known where the container says so. */
  seconds: number | undefined;
}

/** What comes next in a file's transcription: a request (after a pause, for polling), the result, or the failure. */
export type BatchStep =
  | { type: 'request'; request: HttpRequest; afterMs?: number }
  | { type: 'done'; result: BatchResult }
  | { type: 'failed'; failure: LegFailure };

/**
 * What a provider bills of a file with several channels: each of them, each where this member of `provider_params` asks for them
 * on their own, or the audio once. A live codec hears one channel.
 */
export type ChannelBilling = 'always' | 'never' | { whenAsked: string };

/**
 * How a provider transcribes files by HTTP: requests and answers, one after the other, until it is done or has failed.
 * Pure: the host sends, streams the file, keeps the deadlines and reads the answers (64 MiB at most).
 */
export interface HttpBatchCodec<State = unknown> {
  kind: 'http';
  /** The upload is kept on disk first: the provider wants its length, or more than one request may need it. */
  needsLength: boolean;
  /** From a request sent to the first byte of its answer, in milliseconds. */
  answerMs: number;
  /** Cite the public document. */
  billsChannels: ChannelBilling;
  begin(request: BatchRequest): { state: State; step: BatchStep };
  read(state: State, answer: HttpAnswer): BatchStep;
  /** An answer with any other status. Without it the HTTP status decides. */
  refused?(state: State, refusal: ProviderRefusal): LegFailure;
  /** The request to send in place of one that was refused; undefined where there is none. Asked before `refused`. */
  instead?(state: State, refusal: ProviderRefusal): HttpRequest | undefined;
  /** What ends the job at the provider, and takes what is left of it away, when nobody waits for it any more. */
  abandon?(state: State): readonly HttpRequest[];
  /** A job that has ended is abandoned as well: the provider keeps what it was given. */
  removesDone?: boolean;
}

/** `live`: the file is sent through the live codec as fast as the leg takes it, and the finals are joined. */
export type BatchCodec = { kind: 'live' } | HttpBatchCodec;

/** Endpoints in several regions, by the provider's own names: those that `processing` of its models tells apart. */
export interface Endpoints {
  /** What the field `region` of a credential may be. */
  names: readonly string[];
  /** The one of a credential that names none. Absent: an address without a name, whose rows have no `endpoints`. */
  usual?: string;
  /** Whether a credential that names none opens all of them, so that a rule may choose. Otherwise it belongs to `usual`. */
  oneKey: boolean;
}

/** One provider: the one object its folder's index.ts exports. */
export interface Provider {
  /** What `providerOf` finds in a slug: the part before the slash, or all of it for an operator's own server. */
  name: string;
  title: string;
  models: readonly ModelCard[];
  /** The schema of `provider_params` for a model (the part of the slug after the slash): everything the provider knows. */
  options(model: string): TObject;
  /**
   * Whether the model honours a member of `provider_params` in this mode; without it all are. What is not honoured is a
   * warning, or a refusal with `strict`, and never reaches a codec.
   */
  honours?(option: string, model: string, mode: Mode): boolean;
  /** The same, row by row, where the provider has an option table. */
  optionRows?: OptionRows;
  /** What the service is told of a language with a region; without it, that language alone. */
  heardAs?(language: string, model: string, mode: Mode): string;
  /** Whether a credential is needed to use the provider. */
  credential: 'none' | 'required';
  /** A server that people run themselves: it is nowhere but at its configured base URL, and a configured credential is shown to it. */
  address?: 'configured';
  /** What a credential consists of; without it one key (`apiKeyForm`). */
  credentialForm?: CredentialForm;
  /** Its endpoints in several regions; without it there is one. */
  endpoints?: Endpoints;
  /**
   * Makes what is shown in place of a credential that is never sent, such as a signed token, for one connection.
   *
   * @param wallMs the time of day
   */
  authorize?(access: ProviderAccess, wallMs: number): ProviderAccess;
  /** How a credential is tried out; without it, it is tried by using it. */
  credentialCheck?: CredentialCheck;
  /** Its own reports of what it billed, to compare with the gateway's. */
  usageReports?: UsageReports;
  /** The live codec of a model: models of one provider may speak different protocols. */
  live: ((model: string) => LiveCodec) | undefined;
  /** Calls of gRPC that `live` makes. What they need is loaded beforehand by a node that may make them. */
  calls?: readonly GrpcMethod[];
  batch: BatchCodec | undefined;
  /** What its statuses, codes, words and closes mean. */
  failures: readonly FailureRow[];
}

/** A frame for the provider: audio bytes, a text frame, or an object that is sent as JSON (handed over as it is to an embedded engine). */
export type Outgoing = Uint8Array | string | Readonly<Record<string, unknown>>;

/** What an engine says to the leg that connected. Nothing is called before `connect` has returned. */
export interface EngineListener {
  open(): void;
  /** A message, as `read` of the codec takes it. */
  message(json: unknown): void;
  /** `bufferedBytes` has fallen low again. */
  drained(): void;
  /** Always called, once, unless `terminate` was. */
  closed(code: number, reason: string): void;
}

/** A leg's connection to an engine. Methods are safe at any time; none throws. Audio bytes are copied before `send` returns. */
export interface EngineConnection {
  send(frame: Outgoing): void;
  /** Audio taken and not yet worked on. */
  readonly bufferedBytes: number;
  close(): void;
  terminate(): void;
}

/**
 * An in-process server that an endpoint of kind `embedded` names: the recogniser, or a scripted provider. `owner` is the
 * organisation that it works for, so that none takes what is the others'; absent for the process's own.
 */
export interface Engine {
  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener, owner?: string): EngineConnection;
  /** Checks a query that a schema cannot check (a grammar). Resolves with what is wrong, or undefined. */
  check?(query: Readonly<Record<string, unknown>>, owner?: string): Promise<EngineFault | undefined>;
  /** Loads what connections of this model need, and keeps it until the returned function is called. */
  keepReady?(model: string): () => void;
}

type EngineFault = { param: string; message: string };
