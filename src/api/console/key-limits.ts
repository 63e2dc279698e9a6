// The limits of an API key that are counts, each declared once. Made of this table: the settings of a key and their columns, the
// members of the console's requests and answers, the fields of its form, and the flags of `voxgate keys`. What a limit bounds is decided
// in src/accounts/auth/limits.ts, by its name.

export const KEY_LIMITS = {
  requestsPerMinuteMax: {
    /** Its member in JSON, and its column. */
    member: 'requests_per_minute_max',
    flag: 'requests-per-minute',
    label: 'Requests a minute',
    noun: 'requests per minute',
  },
  sessionsMax: { member: 'sessions_max', flag: 'sessions', label: 'Sessions at a time', noun: 'sessions' },
  tokensPerMinuteMax: {
    member: 'tokens_per_minute_max',
    flag: 'tokens-per-minute',
    label: 'Tokens a minute',
    noun: 'tokens per minute',
  },
} as const;

export type KeyLimitName = keyof typeof KEY_LIMITS;
type KeyLimit = (typeof KEY_LIMITS)[KeyLimitName];
export type KeyLimitMember = KeyLimit['member'];
export type KeyLimitFlag = KeyLimit['flag'];

type Named<By extends 'name' | 'member' | 'flag'> = By extends 'member' | 'flag' ? KeyLimit[By] : KeyLimitName;

/** One value for each limit, by its name among the settings, its member in JSON or its flag. */
export const eachKeyLimit = <By extends 'name' | 'member' | 'flag', Value>(
  by: By,
  pick: (limit: KeyLimit, name: KeyLimitName) => Value,
): Readonly<Record<Named<By>, Value>> =>
  Object.fromEntries(
    Object.entries(KEY_LIMITS).map(([name, limit]) => [
      by === 'name' ? name : limit[by as 'member' | 'flag'],
      pick(limit, name as KeyLimitName),
    ]),
  ) as Readonly<Record<Named<By>, Value>>;
