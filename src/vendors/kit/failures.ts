// The failure table of a provider, asked about refusals, errors, closes and failed jobs: the only place that reads its codes.
import type { Heard, LegFailure } from '../../../machines/events.ts';
import type { FailureRow } from './failure-row.ts';
import { failed } from './heard.ts';
import { type JsonObject, objectOf } from './json.ts';
import type { ProviderRefusal } from './provider.ts';
import { failureOfStatus, providerWords } from './refusals.ts';
import { finalMissing } from './turn-text.ts';

const CODE_MAX = 64;

/** What the body of a refusal says. */
export interface RefusalWords {
  code?: string | undefined;
  words?: string | undefined;
  param?: string | undefined;
}

interface Settings {
  /** The provider, as messages call it. */
  title: string;
  rows: readonly FailureRow[];
  refusal?(body: JsonObject, refusal: ProviderRefusal): RefusalWords;
  /** The code of the cause in the reason of a close, and its type, which decides where no row knows the code. */
  close?(reason: string): { code?: string | undefined; type?: string | undefined };
  /** How a message continues with the provider's words. */
  quote?(message: string, words: string, row: FailureRow): string;
}

/** What a provider said of a failure, and where. */
interface Told extends RefusalWords {
  status?: number;
  close?: number;
  file?: boolean;
}

export class FailureTable {
  /** The provider's own rows, then those of what may happen with each. */
  readonly rows: readonly FailureRow[];
  readonly #settings: Settings;

  constructor(settings: Settings) {
    const names = settings.rows.map(({ name }) => name);
    this.rows = [...settings.rows, ...commonRows(settings.title).filter(({ name }) => !names.includes(name))];
    this.#settings = settings;
  }

  /** The failure of a refused upgrade or request. */
  ofRefusal(refusal: ProviderRefusal, { file = false } = {}): LegFailure {
    const read = this.#settings.refusal?.(objectOf(refusal.body), refusal) ?? {};
    const words = withParam(read);
    const row = this.#find({ ...read, status: refusal.status, file }) ?? {};
    const failure = failureOfStatus(refusal, words, row.kind);
    return {
      ...failure,
      reason: row.reason ?? failure.reason,
      code: row.as ?? read.code?.slice(0, CODE_MAX) ?? failure.code,
      message: row.message === undefined ? failure.message : this.#message(row, words),
    };
  }

  /** The failure of a close that was not requested. */
  ofClose(close: number, reason: string): LegFailure {
    const { code, type } = this.#settings.close?.(reason) ?? {};
    const common = isUnauthorized(close, reason) ? 'unauthorized' : 'closed';
    const row = this.#find({ close, code, words: reason }, type) ?? this.#row(common);
    return this.#failure(row, code ?? `close_${close}`, reason);
  }

  /** What a close means for a leg: its end, where that was requested and no turn is open. */
  heardOfClose(
    close: number,
    reason: string,
    leg: { finishing: boolean; open?: boolean; orderly?: readonly number[] },
  ): Heard {
    if (!leg.finishing || !(leg.orderly ?? [1000]).includes(close)) return failed(this.ofClose(close, reason));
    return leg.open ? failed(finalMissing) : { type: 'finished' };
  }

  /**
   * The failure of an error message; undefined where the session survives it.
   *
   * @param type what decides where no row knows the code
   */
  ofError(code: string | undefined, words = '', type?: string): LegFailure | undefined {
    const row = this.#find({ code, words }, type);
    const { survives, ...known } = row ?? this.#row('error');
    return survives ? undefined : this.#failure(known, providerWords(code ?? nameOf(known) ?? '') || 'error', words);
  }

  /** The same for a leg. */
  heardOfError(code: string | undefined, words = '', type?: string): Heard[] {
    const failure = this.ofError(code, words, type);
    return failure === undefined ? [] : [failed(failure)];
  }

  /** The failure of a job that a file was made. */
  ofJob(code: string | undefined, words = ''): LegFailure {
    const row = this.rows.find(
      (each) => each.file && each.status === undefined && holds(each, { code, words, file: true }),
    );
    return this.#failure(row ?? this.#row('job_failed'), code ?? 'job_failed', words);
  }

  /** The failure of the row of this name. */
  named(name: string, words = ''): LegFailure {
    return this.#failure(this.#row(name), name, words);
  }

  #row(name: string): FailureRow {
    return this.rows.find((row) => row.name === name) ?? this.#row('error');
  }

  /** @param type stands in for a code that no row knows */
  #find(told: Told, type?: string): FailureRow | undefined {
    const row = this.rows.find((each) => each.name === undefined && holds(each, told));
    return row ?? (type === undefined ? undefined : this.#find({ ...told, code: type }));
  }

  #failure(row: FailureRow, code: string, words: string): LegFailure {
    const { kind = 'retry', reason = 'upstream_error', as = code, own } = row;
    const failure: LegFailure = { kind, reason, code: as.slice(0, CODE_MAX), message: this.#message(row, words) };
    return own ? { ...failure, own } : failure;
  }

  /** Words about an account may quote its credential, and are not passed on. */
  #message(row: FailureRow, words = ''): string {
    const { kind, message = `${this.#settings.title} reported an error.` } = row;
    const said = kind === 'account' ? '' : providerWords(words);
    if (said === '') return message;
    return this.#settings.quote?.(message, said, row) ?? `${message.replace(/\.$/, '')}: ${said}`;
  }
}

/** What was said, with the part of the request that it is about: who is to blame is known by that name. */
export function withParam({ words = '', param }: RefusalWords): string {
  if (param === undefined || words.includes(param)) return words;
  return `(\`${param.slice(0, CODE_MAX)}\`) ${words}`.trim();
}

/** The first code that a row is about. */
const nameOf = ({ code }: FailureRow): string | undefined =>
  code instanceof RegExp ? undefined : typeof code === 'string' ? code : code?.[0];

/** Close codes for a refused credential: two that are registered, and two built from HTTP statuses. */
const UNAUTHORIZED = [3000, 3003, 4401, 4403];
/** What services say with 1008, the code for policies in general. */
const CREDENTIAL =
  /^(unauthori[sz]ed|unauthenticated|forbidden)\b|\b(invalid|incorrect|missing|expired) (api|access)[ _-]?key\b/i;

const isUnauthorized = (close: number, reason: string): boolean =>
  UNAUTHORIZED.includes(close) || (close === 1008 && CREDENTIAL.test(reason));

const commonRows = (title: string): readonly FailureRow[] => [
  {
    name: 'unauthorized',
    kind: 'account',
    reason: 'connect_failed',
    message: `${title} does not accept the credential.`,
  },
  { name: 'closed', kind: 'retry', reason: 'upstream_closed', message: `${title} closed the connection.` },
  { name: 'error', kind: 'retry', reason: 'upstream_error', message: `${title} reported an error.` },
  {
    name: 'bad_answer',
    kind: 'next',
    reason: 'upstream_error',
    message: `${title} gave an answer that cannot be read.`,
  },
  { name: 'job_failed', kind: 'next', reason: 'upstream_error', message: `${title} could not transcribe this file.` },
  { name: finalMissing.code, kind: finalMissing.kind, reason: finalMissing.reason, message: finalMissing.message },
];

function holds(row: FailureRow, { status, close, code, words = '', param, file }: Told): boolean {
  const closeOrCode = close ?? (status === undefined && code !== undefined ? Number(code) : undefined);
  const isNamed =
    (row.close === undefined && row.code === undefined) ||
    (row.close !== undefined && closeOrCode !== undefined && isAmong(row.close, closeOrCode)) ||
    (row.code !== undefined && code !== undefined && hasCode(row.code, code));
  return (
    isNamed &&
    (row.file === undefined || file === true) &&
    (row.status === undefined || (status !== undefined && hasStatus(row.status, status))) &&
    (row.param === undefined || row.param === param) &&
    (row.words === undefined || row.words.test(words))
  );
}

function hasStatus(wanted: NonNullable<FailureRow['status']>, status: number): boolean {
  if (typeof wanted !== 'string') return isAmong(wanted, status);
  return wanted === 'any' || wanted === `${Math.floor(status / 100)}xx`;
}

const hasCode = (wanted: NonNullable<FailureRow['code']>, code: string): boolean =>
  wanted instanceof RegExp ? wanted.test(code) : isAmong(wanted, code);

const isAmong = <Value extends string | number>(wanted: Value | readonly Value[], value: Value): boolean =>
  Array.isArray(wanted) ? wanted.includes(value) : wanted === value;
