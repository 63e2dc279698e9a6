// How providers take files: by one request, or as jobs, which are uploaded, made, asked about until they are done, and fetched.
// Requests and answers only; the host sends them, streams the file and keeps the deadlines.
import type { LegFailure } from '../../../machines/events.ts';
import type { FailureTable } from './failures.ts';
import { type JsonObject, objectOf } from './json.ts';
import type {
  BatchRequest,
  BatchResult,
  BatchStep,
  ChannelBilling,
  HttpBatchCodec,
  HttpRequest,
  ProviderRefusal,
} from './provider.ts';

/** A client waits for the answer, so a job is asked about soon, and then less and less often. */
const POLL_MS = { first: 500, growth: 1.5, most: 3_000 };
/** An id goes into the path of a URL. */
const ID = /^[\w-]{1,128}$/;

/** What has become of a job. */
export type JobStatus = 'working' | 'done' | { failed: { code?: string | undefined; words?: string | undefined } };

/** A job as its provider knows it: its id, and what the upload was answered with. */
interface Job {
  id: string;
  uploaded: JsonObject;
}

interface Common {
  failures: FailureTable;
  needsLength?: boolean;
  answerMs: number;
  billsChannels: ChannelBilling;
  /** Undefined when the answer cannot be read. */
  resultOf(request: BatchRequest, answer: JsonObject): BatchResult | undefined;
}

interface Single extends Common {
  /** The request, or the failure of a file that need not be sent. */
  requestOf(request: BatchRequest): HttpRequest | LegFailure;
  /** The request to send in place of one that was refused, once; undefined where there is none. */
  instead?(request: BatchRequest, refusal: ProviderRefusal): HttpRequest | undefined;
}

/** One request with the file, one answer with what was said. */
export function requestBatch({
  failures,
  needsLength = false,
  requestOf,
  instead,
  resultOf,
  ...rest
}: Single): HttpBatchCodec {
  const codec: HttpBatchCodec<{ request: BatchRequest; isOther: boolean }> = {
    kind: 'http',
    needsLength,
    ...rest,
    begin: (batch) => {
      const request = requestOf(batch);
      return {
        state: { request: batch, isOther: false },
        step: 'kind' in request ? { type: 'failed', failure: request } : { type: 'request', request },
      };
    },
    read: (state, { body }) => {
      const result = resultOf(state.request, objectOf(body));
      return result === undefined
        ? { type: 'failed', failure: failures.named('bad_answer') }
        : { type: 'done', result };
    },
    refused: (_, refusal) => failures.ofRefusal(refusal, { file: true }),
    instead: (state, refusal) => {
      const other = state.isOther ? undefined : instead?.(state.request, refusal);
      state.isOther = other !== undefined;
      return other;
    },
  };
  return codec;
}

interface Polling extends Common {
  /** Sends the file, where that is a request of its own. */
  upload?(request: BatchRequest): HttpRequest;
  /** Makes the job, with the file where nothing was uploaded; undefined when the upload's answer cannot be read. */
  create(request: BatchRequest, uploaded: JsonObject): HttpRequest | undefined;
  /** The id in the answer to `create`; its member `id` when absent. */
  idOf?(answer: JsonObject): unknown;
  /** By the answers to `create` and `poll`; undefined for what cannot be read. */
  statusOf(answer: JsonObject): JobStatus | undefined;
  poll(request: BatchRequest, job: Job): HttpRequest;
  /** Fetches the transcript, where the job does not hold it. */
  fetch?(request: BatchRequest, job: Job): HttpRequest;
  /** Ends a job that nobody waits for, and takes what is left away: the job, where there is one, and what was uploaded. */
  remove?(request: BatchRequest, job: { id: string | undefined; uploaded: JsonObject }): HttpRequest[];
  /** Jobs that are done are removed as well. */
  removesDone?: boolean;
}

interface State {
  request: BatchRequest;
  stage: 'upload' | 'job' | 'transcript';
  uploaded: JsonObject;
  id: string | undefined;
  pollMs: number;
}

export function pollingBatch(settings: Polling): HttpBatchCodec {
  const { failures, upload, removesDone = false } = settings;
  const unreadable = (): BatchStep => ({ type: 'failed', failure: failures.named('bad_answer') });
  const asked = (request: HttpRequest | undefined): BatchStep =>
    request === undefined ? unreadable() : { type: 'request', request };
  const done = ({ request }: State, answer: JsonObject): BatchStep => {
    const result = settings.resultOf(request, answer);
    return result === undefined ? unreadable() : { type: 'done', result };
  };

  const ofJob = (state: State, answer: JsonObject): BatchStep => {
    const id = settings.idOf === undefined ? answer.id : settings.idOf(answer);
    if (typeof id === 'string' && ID.test(id)) state.id ??= id;
    const status = settings.statusOf(answer);
    if (state.id === undefined || status === undefined) return unreadable();
    const job = { id: state.id, uploaded: state.uploaded };
    if (typeof status === 'object') {
      return { type: 'failed', failure: failures.ofJob(status.failed.code, status.failed.words) };
    }
    if (status === 'done') {
      if (settings.fetch === undefined) return done(state, answer);
      state.stage = 'transcript';
      return asked(settings.fetch(state.request, job));
    }
    const afterMs = state.pollMs;
    state.pollMs = Math.min(POLL_MS.most, Math.round(afterMs * POLL_MS.growth));
    return { type: 'request', request: settings.poll(state.request, job), afterMs };
  };

  const codec: HttpBatchCodec<State> = {
    kind: 'http',
    needsLength: settings.needsLength ?? false,
    answerMs: settings.answerMs,
    billsChannels: settings.billsChannels,
    removesDone,

    begin(request) {
      const stage = upload === undefined ? 'job' : 'upload';
      const state: State = { request, stage, uploaded: {}, id: undefined, pollMs: POLL_MS.first };
      return { state, step: asked(upload === undefined ? settings.create(request, {}) : upload(request)) };
    },

    read(state, { body }) {
      const answer = objectOf(body);
      if (state.stage === 'job') return ofJob(state, answer);
      if (state.stage === 'transcript') return done(state, answer);
      state.stage = 'job';
      state.uploaded = answer;
      return asked(settings.create(state.request, answer));
    },

    refused: (_, refusal) => failures.ofRefusal(refusal, { file: true }),

    abandon: ({ request, id, uploaded }) => settings.remove?.(request, { id, uploaded }) ?? [],
  };
  return codec;
}
