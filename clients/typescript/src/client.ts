// The client: one object for one gateway and one credential. What a call does is in the file of its name.

import { Credentials } from './credentials.ts';
import type { Answer } from './http/answer.ts';
import { CALL_OPTIONS, type Call, type CallOptions, checkCall, Http } from './http/http.ts';
import { Jobs } from './http/jobs.ts';
import { type TranscribeOptions, type TranscriptionOf, transcribe } from './http/transcribe.ts';
import { type ListenOptions, readListenOptions } from './live/listen-options.ts';
import { LiveSession } from './live/live-session.ts';
import { type Microphone, type MicrophoneOptions, openMicrophone } from './microphone/microphone.ts';
import type { ModelSlug } from './params.ts';
import { readSettings, refuseUnknown, type Settings, type VoxgateOptions } from './settings.ts';
import type { Tags } from './tags.ts';
import type { Balance, Mode, Model, ResponseFormat, Token, Usage } from './types/answers.ts';
import type { TranscriptionEvent } from './types/transcriptions.ts';
import type { Replacement } from './vocabulary.ts';

export interface MintOptions extends CallOptions {
  /** Seconds for which the token opens sessions: 10 to 300; 60 when absent. */
  ttlSeconds?: number;
  /** Models that it may use, such as `deepgram/*`; those of the key when absent. */
  models?: readonly string[];
  /** The longest duration of each session, and of a file. */
  maxSeconds?: number;
  /** The most that each session or file may be charged, in USD. */
  maxCost?: string | number;
  /** BCP-47 tags; the request then has to name its `language`. */
  languages?: readonly string[];
  /** True: the token opens one session or uploads one file. */
  singleUse?: boolean;
  /** Tags of all that is done with the token, which its holder cannot change. */
  tags?: Tags;
  /** Replacement rules of all that is done with the token: `from:to` or objects. They come after those of the request. */
  replace?: readonly (string | Replacement)[];
}

const MINT = ['ttlSeconds', 'models', 'maxSeconds', 'maxCost', 'languages', 'singleUse', 'tags', 'replace'] as const;

export interface UsageOptions extends CallOptions {
  /** ISO 8601; the beginning of the month when absent. */
  from?: string;
  /** ISO 8601; now when absent. */
  to?: string;
  groupBy?: Usage['group_by'];
  /** Id of a key: what was used with it alone. */
  key?: string;
  /** `customer:acme`: what was used with this tag alone. */
  tag?: string;
}

export class Voxgate {
  readonly #settings: Settings;
  readonly #credentials: Credentials;
  readonly #http: Http;

  /** Throws an InvalidRequestError for an option that is wrong. */
  constructor(options: VoxgateOptions = {}) {
    this.#settings = readSettings(options);
    this.#credentials = new Credentials(this.#settings.credential);
    this.#http = new Http(this.#settings, this.#credentials);
    this.jobs = new Jobs(this.#http);
  }

  /** Transcribes a file. `stream: true` gives the text as it comes, any other call the whole answer in its format. */
  transcribe<Slug extends ModelSlug>(
    options: TranscribeOptions<Slug, ResponseFormat> & { stream: true },
  ): Answer<AsyncIterable<TranscriptionEvent>>;
  transcribe<Slug extends ModelSlug, Format extends ResponseFormat = 'json'>(
    options: TranscribeOptions<Slug, Format> & { stream?: false },
  ): Answer<TranscriptionOf<Format>>;
  transcribe(
    options: TranscribeOptions,
  ): Answer<TranscriptionOf<ResponseFormat>> | Answer<AsyncIterable<TranscriptionEvent>> {
    return transcribe(this.#http, options) as Answer<TranscriptionOf<ResponseFormat>>;
  }

  /** Opens a live session. It connects by itself; audio may be sent at once. Throws for an option that is wrong. */
  listen<Slug extends ModelSlug>(options: ListenOptions<Slug>): LiveSession {
    const { query, ...rest } = readListenOptions(options as ListenOptions);
    const { baseUrl, webSocket } = this.#settings;
    const url = `${baseUrl.replace(/^http/, 'ws')}/v1/listen?${query}`;
    return new LiveSession({ ...rest, url, credentials: this.#credentials, webSocket });
  }

  /** Opens the microphone of a browser. Rejects with a MicrophoneError that says why there is none. */
  microphone(options: MicrophoneOptions = {}): Promise<Microphone> {
    return openMicrophone(options);
  }

  /** Files that are transcribed in the background. */
  readonly jobs: Jobs;

  readonly tokens = {
    /** Mints a client token for a browser or a device. */
    mint: (options: MintOptions = {}): Promise<Token> => {
      const { ttlSeconds, models, maxSeconds, maxCost, languages, singleUse, tags, replace, ...rest } = known(
        'tokens.mint',
        options,
        MINT,
      );
      const body = JSON.stringify({
        ...{ ttl_seconds: ttlSeconds, models, max_seconds: maxSeconds, max_cost: maxCost, languages },
        single_use: singleUse,
        ...{ tags, replace },
      });
      const headers = { 'Content-Type': 'application/json' };
      return this.#call({
        ...rest,
        method: 'POST',
        path: '/v1/tokens',
        headers,
        body: () => ({ body, isStream: false }),
      });
    },
  };

  readonly models = {
    /** The models, or those of one mode or provider. */
    list: async (options: CallOptions & { mode?: Mode; provider?: string } = {}): Promise<Model[]> => {
      const { mode, provider, ...rest } = known('models.list', options, ['mode', 'provider']);
      return (await this.#get<{ data: Model[] }>('/v1/models', { mode, provider }, rest)).data;
    },
    /** One model. Rejects with a NotFoundError that names the nearest slugs. */
    retrieve: (slug: ModelSlug, options: CallOptions = {}): Promise<Model> =>
      this.#get(
        `/v1/models/${slug.split('/').map(encodeURIComponent).join('/')}`,
        {},
        known('models.retrieve', options, []),
      ),
  };

  /** What the organisation has used, by model, provider, day, key or a tag. */
  usage(options: UsageOptions = {}): Promise<Usage> {
    const { from, to, groupBy, key, tag, ...rest } = known('usage', options, ['from', 'to', 'groupBy', 'key', 'tag']);
    return this.#get('/v1/usage', { from, to, group_by: groupBy, key, tag }, rest);
  }

  /** What the organisation has left. */
  balance(options: CallOptions = {}): Promise<Balance> {
    return this.#get('/v1/balance', {}, known('balance', options, []));
  }

  #get<Data>(path: string, query: NonNullable<Call['query']>, options: CallOptions): Promise<Data> {
    return this.#call({ ...options, method: 'GET', path, query });
  }

  #call<Data>(call: Call): Promise<Data> {
    return this.#http.json<Data>(call);
  }
}

function known<Options extends CallOptions>(what: string, options: Options, names: readonly string[]): Options {
  refuseUnknown(what, options, [...names, ...CALL_OPTIONS]);
  checkCall(options);
  return options;
}
