// What the simulated AssemblyAI knows beyond one request: keys, temporary tokens, uploads, jobs and how sessions ended.
import type { Clock } from '../../../../machines/clock.ts';
import type { SimulatedAnswer } from '../../simulation.ts';

/** Uploads, jobs and tokens that are remembered; the oldest are forgotten. */
const REMEMBERED_MAX = 200;

type KeyFault = 'bad' | 'broke' | 'limited';

/** How each fault is told: a close of a session, and an answer to a request. */
export const KEY_FAULTS: Readonly<
  Record<KeyFault, { close: { code: number; reason: string }; answer: SimulatedAnswer }>
> = {
  bad: {
    close: { code: 1008, reason: 'Unauthorized Connection: Missing Authorization header' },
    answer: { status: 401, body: { error: 'Authentication error, API token missing/invalid' } },
  },
  broke: {
    close: { code: 1008, reason: 'Unauthorized Connection: Insufficient account balance' },
    answer: { status: 400, body: { error: 'Your current account balance is negative. Please top up to continue.' } },
  },
  limited: {
    close: { code: 1008, reason: 'Unauthorized Connection: Too many concurrent sessions' },
    answer: { status: 429, headers: { 'retry-after': '30' }, body: { error: 'Too many requests' } },
  },
};

/** What is wrong with a key; any other is good. `Bearer` before it is a mistake AssemblyAI does not forgive. */
export function keyFault(key: string | undefined): KeyFault | undefined {
  if (key === undefined || key.trim() === '' || /^bearer\b/i.test(key) || key.startsWith('bad')) return 'bad';
  if (key.startsWith('broke')) return 'broke';
  return key.startsWith('limited') ? 'limited' : undefined;
}

/** A job as `GET /v2/transcript/{id}` shows it. */
export type Job = Record<string, unknown>;

interface Upload {
  key: string;
  bytes: Uint8Array;
}

/** Everything that outlives a request. */
export class Account {
  readonly uploads = new Remembered<Upload>();
  readonly jobs = new Remembered<Job>();
  /** Seconds that a session opened with the token may last. */
  readonly tokens = new Remembered<number>();
  /** An abandoned session was left without `Terminate`: AssemblyAI would go on charging it. */
  readonly sessions = { open: 0, terminated: 0, abandoned: 0 };
  private ids = 0;

  newId(kind: string): string {
    this.ids++;
    return `${kind}-${this.ids}`;
  }
}

class Remembered<Value> {
  private readonly values = new Map<string, Value>();

  set(id: string, value: Value): void {
    this.values.set(id, value);
    const oldest = this.values.keys().next();
    if (this.values.size > REMEMBERED_MAX && oldest.done !== true) this.values.delete(oldest.value);
  }

  get(id: string): Value | undefined {
    return this.values.get(id);
  }

  /** Gives it out and forgets it. */
  take(id: string): Value | undefined {
    const value = this.values.get(id);
    this.values.delete(id);
    return value;
  }
}

// Requests share nothing but the clock: whoever shares a clock shares an account, which does no harm as no id comes twice.
const accounts = new WeakMap<Clock, Account>();

export function accountOf(clock: Clock): Account {
  const known = accounts.get(clock);
  if (known !== undefined) return known;
  const account = new Account();
  accounts.set(clock, account);
  return account;
}

/** `GET /v3/token`: good for one session. */
export function tokenAnswer(account: Account, { searchParams }: URL): SimulatedAnswer {
  const expires = Number(searchParams.get('expires_in_seconds') ?? Number.NaN);
  const longest = Number(searchParams.get('max_session_duration_seconds') ?? 10_800);
  if (!isWithin(expires, 1, 600)) return { status: 422, body: { error: 'expires_in_seconds must be 1 to 600' } };
  if (!isWithin(longest, 60, 10_800))
    return { status: 422, body: { error: 'max_session_duration_seconds must be 60 to 10800' } };
  const token = account.newId('token');
  account.tokens.set(token, longest);
  return { status: 200, body: { token, expires_in_seconds: expires } };
}

const isWithin = (value: number, low: number, high: number): boolean =>
  Number.isInteger(value) && value >= low && value <= high;
