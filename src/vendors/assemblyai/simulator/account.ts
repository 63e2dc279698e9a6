// What the simulated AssemblyAI knows beyond one request: keys, temporary tokens, uploads, jobs and how sessions ended.
import { Type } from '@sinclair/typebox';
import { members, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { FileJobs } from '../../kit/simulator/jobs.ts';
import { ok, Remembered } from '../../kit/simulator/routes.ts';
import type { SimulatedAnswer } from '../../simulation.ts';

export const answer = (status: number, error: string): SimulatedAnswer => ({ status, body: { error } });

/** How long a session may last, unless its token says less. */
export const LONGEST_SECONDS = 10_800;

/** How each fault of a key is told: the reason of a close, and the answer to a request. */
const KEY_FAULTS: Readonly<Record<Exclude<KeyFault, 'missing'>, { reason: string; answer: SimulatedAnswer }>> = {
  bad: {
    reason: 'Unauthorized Connection: Missing Authorization header',
    answer: answer(401, 'Authentication error, API token missing/invalid'),
  },
  broke: {
    reason: 'Unauthorized Connection: Insufficient account balance',
    answer: answer(400, 'Your current account balance is negative. Please top up to continue.'),
  },
  limited: {
    reason: 'Unauthorized Connection: Too many concurrent sessions',
    answer: { ...answer(429, 'Too many requests'), headers: { 'retry-after': '30' } },
  },
};

/** What is wrong with a key. `Bearer` before it is a mistake AssemblyAI does not forgive. */
export function refusedKey(key: string | undefined) {
  const fault = /^bearer\b/i.test(key ?? '') ? 'bad' : keyFault(key);
  return fault === undefined ? undefined : KEY_FAULTS[fault === 'missing' ? 'bad' : fault];
}

/** Everything that outlives a request. */
export class Account extends FileJobs {
  /** The keys of uploads. */
  readonly owners = new Remembered<string | undefined>();
  /** Seconds that a session opened with the token may last. */
  readonly tokens = new Remembered<number>();
  /** Sessions whose key was good and called badly padded. */
  misread = 0;
  /** An abandoned session was left without `Terminate`: AssemblyAI would go on charging it. */
  readonly sessions = { open: 0, terminated: 0, abandoned: 0 };
}

const TokenQuery = members(
  { expires_in_seconds: Type.Integer({ minimum: 1, maximum: 600 }) },
  { max_session_duration_seconds: Type.Integer({ minimum: 60, maximum: 10_800 }) },
);

/** `GET /v3/token`: good for one session. */
export function tokenAnswer({ tokens }: Account, { searchParams }: URL, id: string): SimulatedAnswer {
  const asked = valuesOf(searchParams, TokenQuery);
  const wrong = wrongIn(TokenQuery, asked);
  if (wrong !== undefined) return answer(422, wrong);
  const token = `token-${id}`;
  tokens.set(token, (asked.max_session_duration_seconds as number | undefined) ?? LONGEST_SECONDS);
  return ok({ token, expires_in_seconds: asked.expires_in_seconds });
}
