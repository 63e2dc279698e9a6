// The contract of what clients come back for. A file that is transcribed while nobody waits: a client puts one here, asks for its
// transcript, and requests that later. A live session, whose finals it requests after the end. Pure, as the rest of a dialect: what
// is kept, for how long and for whom is the edge's. Its lists are paged, newest first.
import type { AudioSource } from '../../api/audio-source.ts';
import type { ApiError } from '../../api/errors.ts';
import type { TranscriptEvent } from '../../api/listen-events.ts';
import type { VerboseTranscription } from '../../api/transcriptions.ts';
import type { JsonObject } from '../kit/json.ts';
import type { Answer, ClientRequest, Handshake } from './request.ts';

/** An address that is told of the end of a job. It may have secrets in it, as its headers have: it is kept sealed, and never shown. */
export interface JobCallback {
  readonly url: string;
  /** What the client calls the address. */
  readonly param: string;
  readonly method: 'POST' | 'PUT';
  /** Sent along, as the receiver wants them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Signs what is sent, where the client has one for that. */
  readonly secret?: string;
  /** What of the job is sent, where the client chooses; as usual when absent. */
  readonly contents?: readonly string[];
}

/** What is sent there. */
export interface CallbackPost {
  url: string;
  method: 'POST' | 'PUT';
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}

export interface CallbackMeans {
  captions: Captions;
  /** Id of the API key that requested the job. */
  keyId: string;
}

/** A file that was put here. */
export interface ShownFile {
  readonly id: string;
  readonly filename: string;
  readonly bytes: number;
  readonly createdAt: Date;
  /** Of its form. */
  readonly fields: ReadonlyMap<string, string>;
  /** Where it is measured as it is put here; without seconds where that is not possible. */
  readonly audio?: { readonly seconds: number | undefined; readonly channels: number };
}

export interface CaptionLayout {
  /** Of a cue, with the names of speakers; and of a line. As usual when absent. */
  charactersMax?: number | undefined;
  lineCharactersMax?: number | undefined;
  /** Whether speakers are named; and how. */
  hasSpeakers?: boolean;
  nameOf?(speaker: number): string;
}

/** The subtitles of a transcript. */
export type Captions = (heard: VerboseTranscription, format: 'srt' | 'vtt', layout?: CaptionLayout) => string;

export interface Heard {
  transcription: VerboseTranscription;
}

export type JobState =
  | { type: 'queued' }
  | { type: 'processing' }
  | { type: 'done'; heard: Heard }
  | { type: 'failed'; refusal: ApiError };

/** A transcript that was requested. */
export interface ShownJob {
  readonly id: string;
  /** The file, also when it is gone. */
  readonly file: ShownFile;
  /** In the client's own words; large members of it are left out. */
  readonly asked: JsonObject;
  readonly createdAt: Date;
  /** When it was done or has failed. */
  readonly endedAt: Date | undefined;
  readonly state: JobState;
  /** The status that its first callback was answered with last; null before that, and where there was no answer. */
  readonly callbackStatus?: number | null;
}

/** One that is over. */
export type EndedJob = ShownJob & { readonly state: Extract<JobState, { type: 'done' | 'failed' }> };

/** What is sent to an address that a client named for the end of a job. */
export type WriteCallback = (job: EndedJob, callback: JobCallback, means: CallbackMeans) => CallbackPost;

export interface JobMeans extends Handshake {
  at: Date;
  /** An address of the dialect, as this client reaches the gateway: `https://…`. */
  url(path: string): string;
  captions: Captions;
}

export interface JobRequest extends ClientRequest {
  /** What is told of the job later. */
  asked: JsonObject;
  /** Told of its end. */
  callbacks?: readonly JobCallback[];
}

/** A request for a file's transcript whose client does not wait for it: the transcript is sent to the callbacks. */
export interface ReportedFile extends Pick<JobRequest, 'asked'> {
  callbacks: readonly JobCallback[];
  answer(job: ShownJob, means: JobMeans): Answer;
}

/** What is transcribed: a file that was put here, or one that is fetched when the job runs. */
export type JobAudio = { fileId: string } | { source: AudioSource };

/** The file is the whole body, or a part of a form by this name. */
type FileIn = 'body' | { part: string };

export type JobEndpoint =
  | { does: 'keep'; takes: FileIn; isMeasured?: boolean; answer(file: ShownFile, means: JobMeans): Answer }
  /** Asks for the transcript of a file that is kept, or is at an address. Throws an ApiError. */
  | {
      does: 'ask';
      open(body: JsonObject, handshake: Handshake): JobRequest & JobAudio;
      answer(job: ShownJob, means: JobMeans): Answer;
    }
  /** Both at once: what is requested is in the form's fields, and so is the address of a file that is not in the form. */
  | {
      does: 'keepAndAsk';
      part: string;
      open(fields: ReadonlyMap<string, string>, handshake: Handshake): JobRequest & { source?: AudioSource };
      answer(job: ShownJob, means: JobMeans): Answer;
    }
  | { does: 'show'; answer(job: ShownJob, means: JobMeans): Answer }
  /** Ends the work on a job as well, unless that is answered with something else. */
  | {
      does: 'remove';
      unless?(job: ShownJob, means: JobMeans): Answer | undefined;
      answer(job: ShownJob, means: JobMeans): Answer;
    }
  /** Newest first, and all there are: a page of them is answered. */
  | { does: 'list'; answer(jobs: readonly ShownJob[], means: JobMeans): Answer }
  | { does: 'showFile' | 'removeFile'; answer(file: ShownFile, means: JobMeans): Answer }
  | { does: 'listFiles'; answer(files: readonly ShownFile[], means: JobMeans): Answer };

/** By method and path: `GET /v2/jobs/:id`. What is shown or removed is named by `:id`. */
export type JobEndpoints = Readonly<Record<string, JobEndpoint>>;

export type FinalTurn = Pick<
  TranscriptEvent,
  'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence' | 'channel'
>;

/** How a session is found afterwards. */
export interface SessionName {
  /** As the client knows it. */
  id: string;
  /** In the client's own words; large members of it are left out. */
  asked: JsonObject;
}

export interface ShownSession extends SessionName {
  readonly createdAt: Date;
  /** Undefined while it continues. */
  readonly endedAt: Date | undefined;
  /** Of audio that was received; known at its end. */
  readonly seconds: number;
  /** Of the error that ended it. */
  readonly failure: { status: number; message: string } | undefined;
  /** In the order in which they were sent. */
  turns(): readonly FinalTurn[];
}

export type SessionEndpoint =
  | { does: 'show' | 'remove'; answer(session: ShownSession, means: JobMeans): Answer }
  /** Newest first, and all there are: a page of them is answered. */
  | { does: 'list'; answer(sessions: readonly ShownSession[], means: JobMeans): Answer };

/** By method and path: `GET /v2/live/:id`. */
export type SessionEndpoints = Readonly<Record<string, SessionEndpoint>>;

/** Of what a list shows at a time, whatever was requested. */
export const PAGE_MAX = 100;

interface Listed {
  readonly id: string;
  readonly createdAt: Date;
}

export const newestFirst = (one: Listed, other: Listed): number =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1);

/** Where something stands in its list; it sorts as its time does, which may stand for it. */
export const placeOf = ({ id, createdAt }: Listed): string => `${createdAt.toISOString()}_${id}`;

/**
 * @param all newest first
 * @param limit as it was requested
 * @param before a place: what comes after it is shown
 */
export function pageOf<Item extends Listed>(
  all: readonly Item[],
  limit: string | null,
  before?: string | null | undefined,
): { items: readonly Item[]; limit: number; last: Item | undefined } {
  const asked = Number(limit);
  const count = Number.isInteger(asked) && asked > 0 ? Math.min(asked, PAGE_MAX) : PAGE_MAX;
  const rest = before ? all.filter((item) => placeOf(item) < before) : all;
  const items = rest.slice(0, count);
  // The last of a page that others come after.
  return { items, limit: count, last: rest.length > count ? items.at(-1) : undefined };
}
