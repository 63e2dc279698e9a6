// What every endpoint of a dialect receives, and returns by HTTP.
import type { ApiError } from '../../api/errors.ts';
import type { VerboseTranscription } from '../../api/transcriptions.ts';

export interface Handshake {
  query: URLSearchParams;
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>;
  requestId: string;
  /** A clock that only goes forward; absent where nothing continues in time. */
  nowMs?: () => number;
}

/** What a client asks for, in the gateway's words. */
export interface ClientRequest {
  /** As the client names it: a slug, a name of the vendor's own, or an alias; undefined where it names none. */
  model: string | undefined;
  /** Parameters of `/v1/listen`, or fields of a file's form, besides the model and its options. */
  parameters: ReadonlyMap<string, string>;
  /** Options of the vendor's own models, as `provider_params` has them; others are not asked for them. */
  own: Readonly<Record<string, unknown>>;
  /** Whose models `own` is for, where that is not the dialect's provider. */
  ownOf?: string;
  /** What of it is not done. */
  unmet?: readonly Unmet[];
  /** Of a telephone call. */
  call?: CallRequest;
  /** Nothing else of it is requested: it is refused, and those who hear of its call are told so. */
  refused?: ApiError;
}

/** A part of a request that is left out, or cut. */
export interface Unmet {
  code: 'parameter_ignored' | 'parameter_shortened' | 'parameter_mapped';
  message: string;
  /** As the client calls it. */
  param: string;
  /** Whom it holds for, where that is not all: the vendor's own models, which alone are asked for its options, or others. */
  models?: 'own' | 'other';
}

/** A call, whose client only sends: what was heard is told to others. */
export interface CallRequest {
  /** Who carries it: the name of the dialect. */
  carrier: string;
  /** By which it is found beside the id of its session: the carrier's ids, and a label of the customer's own. */
  names: readonly string[];
  /** Where its events are posted to, and the secret that they are signed with. */
  eventsUrl: string | undefined;
  eventsSecret: string | undefined;
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Options of the vendor's own models that are requested now, and were not so before. */
export const changedOptions = (before: ClientRequest, { own }: ClientRequest): string[] =>
  Object.keys(own).filter((name) => JSON.stringify(own[name]) !== JSON.stringify(before.own[name]));

/** A JSON answer. */
export const jsonAnswer = (value: unknown, status = 200): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});

export const textAnswer = (body: string, type = 'text/plain'): Answer => ({
  status: 200,
  headers: { 'Content-Type': `${type}; charset=utf-8` },
  body,
});

/** What was requested and is not honoured, for the metadata of vendors that have no shape for it. */
export const warningsIn = ({ warnings }: Pick<VerboseTranscription, 'warnings'>) =>
  warnings === undefined ? {} : { warnings };
