// What a provider's folder in test/vendors tells the suite: what its service says, and what that must become; as data.
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import type {
  BatchRequest,
  BatchResult,
  Endpoint,
  HttpRequest,
  LegRequest,
  LiveTiming,
  Outgoing,
  SocketEndpoint,
} from '../../../src/vendors/kit/provider.ts';
import type { Story } from './story.ts';

export interface ProviderFixtures {
  /** Its name in the registry. */
  provider: string;
  options: OptionFixtures;
  /** For a provider with a live codec. */
  live?: LiveFixtures;
  /** For a provider that transcribes files by HTTP. */
  batch?: BatchFixtures;
  /** HTTP answers that refuse, of an upgrade and of a file. */
  refusals?: readonly RefusalRow[];
  simulated?: SimulatedFixtures;
}

export interface OptionFixtures {
  rows: Readonly<Record<string, OptionRow>>;
  /** What the schema of a model says of values that the rows cannot tell. */
  checks?: readonly (readonly [model: string, params: JsonObject, accepted: boolean])[];
  /** Members that a model's schema asks for. */
  needed?(model: string): JsonObject;
}

/** An option: values that are taken and each reach the wire, values that are refused, and the models that honour it, by mode. */
export interface OptionRow {
  takes: readonly unknown[];
  refuses: readonly unknown[];
  live?: readonly string[];
  batch?: readonly string[];
  /** Where it stands in what is asked for, with dots where it lies in an object; its own name without this. */
  at?: string;
}

export interface LiveFixtures {
  /** Of requests that name none. */
  model: string;
  sampleRate: number;
  /** Where a leg connects and what it says first, whole. */
  openings: readonly (readonly [change: Partial<LegRequest>, endpoint: Endpoint, hello?: readonly Outgoing[]])[];
  /** For a codec that asks for its WebSocket: bodies of the answer, and the WebSocket or "kind code" of the failure. */
  sockets?: readonly (readonly [body: unknown, socket: SocketEndpoint | string])[];
  /** What the provider says until a leg is set up; a leg asks for things in its URL, in `hello` or in answer to these. */
  begin?: readonly object[];
  /** What a leg asks for. Without it the members of the URL's query. */
  asked?(endpoint: Endpoint, frames: readonly Outgoing[]): JsonObject;
  /** An option's value as `asked` has it. Without it texts, and a list of them for a list. */
  written?(value: unknown, option: string): unknown;
  /** What asking for this changes, against a request of the same model without; undefined for what is no longer asked for. */
  requests: readonly (readonly [change: Partial<LegRequest>, asked: JsonObject])[];
  /** What a frame of audio becomes; without it, it goes as it is. */
  audio?(frame: Uint8Array): Outgoing;
  timings?: readonly (readonly [change: Partial<LegRequest>, timing: Partial<LiveTiming>])[];
  stories: readonly StoryGroup[];
  /** A close in order ends it while words are open as well: they are for the session to miss. */
  finishesOpen?: true;
  /** Closes of a leg that was not asked to finish: "kind code". */
  closes?: readonly (readonly [code: number, reason: string, failure: string])[];
}

/** Stories of legs that were opened in one way and sent so many seconds of audio. */
export interface StoryGroup {
  of: string;
  request?: Partial<LegRequest>;
  seconds?: number;
  stories: Readonly<Record<string, Story>>;
}

export interface BatchFixtures {
  /** Of requests that name none. */
  model: string;
  /** The first request of a file, whole. */
  opening: HttpRequest;
  /** Answers before the request that carries the options, each a JSON body. */
  before?: readonly object[];
  /** What that request asks for. Without it the members of its query and its body. */
  asked?(request: HttpRequest): JsonObject;
  /** An option's value as it stands in that request. Without it as in a query or form: texts, and a list of them for a list. */
  written?(value: unknown, option: string, model: string): unknown;
  requests: readonly (readonly [change: Partial<BatchRequest>, asked: JsonObject])[];
  /** For a provider that is asked again and again: the requests behind the opening, with the answers that lead to each. */
  job?: JobFixtures;
  /** Bodies of the answers, and what the last of them comes to: members of the result, or "kind code" of a failure. */
  answers: Readonly<Record<string, AnswerRow>>;
}

export interface JobFixtures {
  /** Behind the answers of `before`: the job is made, then asked about. */
  requests: readonly HttpRequest[];
  created: object;
  waiting: object;
  /** What ends it when nobody waits for it any more, in the order it is asked for. */
  abandoned: readonly Partial<HttpRequest>[];
  /** The same before the job is made; nothing where it is absent. */
  abandonedBefore?: readonly Partial<HttpRequest>[];
}

/** Members of the result. Of utterances, the line of each (`utteranceLine`), or members of it. */
export type ExpectedResult = Partial<Omit<BatchResult, 'utterances' | 'warnings'>> & {
  utterances?: readonly (string | object)[];
  warnings?: readonly object[];
};

export type AnswerRow = readonly [
  change: Partial<BatchRequest>,
  bodies: readonly unknown[],
  expected: ExpectedResult | string,
];

export type RefusalRow = readonly [
  status: number,
  /** An object is JSON. */
  body: string | object,
  /** "kind code" of the failure. */
  is: string,
  /** `file`: for a file, where that is another failure; any, for `*`. */
  more?: { file?: string; message?: RegExp; headers?: Readonly<Record<string, string>> },
];

export interface SimulatedFixtures {
  /** Sessions of numbered audio beside those of every model: all of it is heard, in so many finals where that is told. */
  whole?: readonly (readonly [model: string, faults: readonly string[], params?: JsonObject, finals?: number])[];
  /** Faults with which the leg ends as the line says: "kind code", or "finished". */
  ends?: readonly (readonly [model: string, faults: readonly string[], seconds: number, end: string])[];
  rules?: RuleFixtures;
}

/** What a client of the simulator may not do, and no official SDK does. */
export interface RuleFixtures {
  /** Of a session that is good, with its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** What is asked for otherwise, the frames (an object is JSON), and the refusal, or how the session ends. */
  rows: Readonly<
    Record<
      string,
      readonly [
        change: { query?: Readonly<Record<string, string>>; headers?: Readonly<Record<string, string>> },
        frames: readonly (string | object)[],
        end: { status: number } | { code: number; last?: object },
      ]
    >
  >;
}
