// `client.jobs`: transcriptions in the background.
import { invalidOption } from '../errors.ts';
import type { ModelSlug } from '../params.ts';
import { integerOf, refuseUnknown } from '../settings.ts';
import type { ResponseFormat } from '../types/answers.ts';
import type { Job, JobList, JobStatus } from '../types/transcriptions.ts';
import { pause } from './backoff.ts';
import type { AudioInput } from './file-body.ts';
import { CALL_OPTIONS, type Call, type CallOptions, checkCall, type Http, readJson } from './http.ts';
import {
  JSON_FORMATS,
  TRANSCRIBE_OPTIONS,
  type TranscribeOptions,
  type TranscriptionOf,
  type TranscriptionSettings,
  uploadCall,
} from './transcribe.ts';

/** Exactly one of `file` and `audioUrl` is the audio. */
export type CreateJobOptions<Slug extends ModelSlug = ModelSlug> = AudioInput & JobSettings<Slug>;

/** All but the audio. */
export interface JobSettings<Slug extends ModelSlug = ModelSlug> extends Omit<TranscriptionSettings<Slug>, 'stream'> {
  /** How long the job can be fetched after its end, up to 30 days; 24 hours when absent. */
  retentionSeconds?: number;
  /** Receives `job.completed` or `job.failed` of this job. */
  webhookUrl?: string;
  /** Signs what is posted there: `whsec_` and the base64 of 24 to 64 random bytes. Posts are unsigned when absent. */
  webhookSecret?: string;
}

export interface ListJobsOptions extends CallOptions {
  /** Jobs of any status when absent. */
  status?: JobStatus;
  /** Accepted then or later; ISO 8601. */
  from?: string;
  /** Accepted before; ISO 8601. */
  to?: string;
  /** `customer:acme`: only jobs with this tag. */
  tag?: string;
  /** From 1 to 100; 20 when absent. */
  limit?: number;
  /** `next` of the page before. */
  before?: string;
}

export interface JobResultOptions<Format extends ResponseFormat> extends CallOptions {
  /** Any format, whatever the `responseFormat` of the job is. */
  format: Format;
  /** 0 when absent: a retry would get the same answer until the job is over, and the same error if it failed. */
  retriesMax?: number;
}

export interface WaitForJobOptions extends CallOptions {
  /** Between two looks: from 100 to 60,000; 1,000 when absent. */
  intervalMs?: number;
}

const INTERVAL_MS = [1_000, 100, 60_000] as const;
const LIST_FILTERS: readonly (keyof ListJobsOptions)[] = ['status', 'from', 'to', 'tag', 'limit', 'before'];
const CREATE_OPTIONS = [
  ...TRANSCRIBE_OPTIONS.filter((name) => name !== 'stream'),
  'retentionSeconds',
  'webhookUrl',
  'webhookSecret',
];

export class Jobs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Sends a file or the address of one, to be transcribed in the background. */
  async create<Slug extends ModelSlug>(options: CreateJobOptions<Slug>): Promise<Job> {
    refuseUnknown('jobs.create', options, CREATE_OPTIONS);
    const { retentionSeconds, webhookUrl, webhookSecret, ...rest } = options;
    const named = { retention_seconds: retentionSeconds, webhook_url: webhookUrl, webhook_secret: webhookSecret };
    const own = Object.entries(named).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return this.#http.json(await uploadCall('/v1/jobs', rest as TranscribeOptions, own));
  }

  /** With the transcript, if it is completed. Rejects with a NotFoundError. */
  async retrieve(id: string, options: CallOptions = {}): Promise<Job> {
    return this.#http.json(callOf('jobs.retrieve', 'GET', pathOf(id), options));
  }

  /** A page of jobs of this API key, newest first. */
  async list(options: ListJobsOptions = {}): Promise<JobList> {
    const { status, from, to, tag, limit, before, ...rest } = known('jobs.list', options, LIST_FILTERS);
    const query = { status, from, to, tag, limit: limit === undefined ? undefined : String(limit), before };
    return this.#http.json({ ...rest, method: 'GET', path: '/v1/jobs', query });
  }

  /** The transcript of a completed job. Rejects with its error if it failed, and with `job_not_over` if it is not over. */
  async result<Format extends ResponseFormat>(
    id: string,
    options: JobResultOptions<Format>,
  ): Promise<TranscriptionOf<Format>> {
    const { format, retriesMax = 0, ...rest } = known('jobs.result', options ?? {}, ['format']);
    if (typeof format !== 'string') throw invalidOption('format', '`format` is missing: `text`, for example.');
    const call: Call = { ...rest, retriesMax, method: 'GET', path: `${pathOf(id)}/result`, query: { format } };
    const read = Object.hasOwn(JSON_FORMATS, format) ? readJson<unknown> : (response: Response) => response.text();
    return (await this.#http.send(call, read)).data as TranscriptionOf<Format>;
  }

  /** Ends the work on a job. The answer is the job as it is now. */
  async cancel(id: string, options: CallOptions = {}): Promise<Job> {
    return this.#http.json(callOf('jobs.cancel', 'POST', `${pathOf(id)}/cancel`, options));
  }

  /** Removes a job with its transcript. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#http.send(callOf('jobs.delete', 'DELETE', pathOf(id), options), (response) => response.text());
  }

  /** Resolves with the job when it is over, whatever came of it. */
  async wait(id: string, options: WaitForJobOptions = {}): Promise<Job> {
    const { intervalMs, ...rest } = known('jobs.wait', options, ['intervalMs']);
    const waitMs = integerOf('intervalMs', intervalMs, ...INTERVAL_MS);
    for (;;) {
      const job = await this.retrieve(id, rest);
      if (job.ended_at !== null) return job;
      await pause(waitMs, rest.signal);
    }
  }
}

function callOf(what: string, method: Call['method'], path: string, options: CallOptions): Call {
  return { ...known(what, options), method, path };
}

function known<Options extends CallOptions>(what: string, options: Options, names: readonly string[] = []): Options {
  refuseUnknown(what, options, [...names, ...CALL_OPTIONS]);
  checkCall(options);
  return options;
}

function pathOf(id: string): string {
  if (typeof id === 'string' && id !== '') return `/v1/jobs/${encodeURIComponent(id)}`;
  throw invalidOption('id', '`id` is missing: the `id` of a job.');
}
