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

/** One value for each limit, by the member of its description that `by` names. */
export const eachKeyLimit = <By extends 'member' | 'flag', Value>(
  by: By,
  pick: (limit: KeyLimit, name: KeyLimitName) => Value,
): Readonly<Record<KeyLimit[By], Value>> =>
  Object.fromEntries(
    Object.entries(KEY_LIMITS).map(([name, limit]) => [limit[by], pick(limit, name as KeyLimitName)]),
  ) as Readonly<Record<KeyLimit[By], Value>>;

/** One value for each limit, by its name among the settings. */
export const everyKeyLimit = <Value>(
  pick: (limit: KeyLimit, name: KeyLimitName) => Value,
): Readonly<Record<KeyLimitName, Value>> =>
  Object.fromEntries(
    Object.entries(KEY_LIMITS).map(([name, limit]) => [name, pick(limit, name as KeyLimitName)]),
  ) as Readonly<Record<KeyLimitName, Value>>;
