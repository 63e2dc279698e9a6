// The person who is logged in with the role, the names of the organisation's ids, and what it has used recently.
import { effect, signal } from '@preact/signals';
import {
  type KeyView,
  MEMBER_ROLES,
  type MemberRole,
  type MemberView,
  type PersonView,
  type ProviderKeyList,
} from '../../api/console/console.ts';
import type { UsageList } from '../../api/usage.ts';
import { type ApiError, loggedOut, read, send, useAnswer } from './api.ts';

/** Undefined until the gateway has answered; null without a login. */
export const person = signal<PersonView | null | undefined>(undefined);
/** Set when the gateway cannot say who is logged in. */
export const personFailure = signal<string | undefined>(undefined);

export async function readPerson(): Promise<void> {
  try {
    person.value = await send<PersonView>('GET', 'me');
    personFailure.value = undefined;
  } catch (error) {
    const { code, message } = error as ApiError;
    if (code === 'login_required') person.value = null;
    else personFailure.value = message;
  }
}

/** Whether the user's role in the organisation is enough. */
export function may(least: MemberRole): boolean {
  const own = person.value?.role;
  return own !== undefined && MEMBER_ROLES.indexOf(own) <= MEMBER_ROLES.indexOf(least);
}

// Another tab may have switched to another organisation, or logged out: this one follows.
for (const event of ['visibilitychange', 'focus']) {
  addEventListener(event, () => {
    if (document.visibilityState === 'visible' && person.value) void readPerson();
  });
}

export async function logOut(): Promise<void> {
  await send('POST', 'logout').catch(() => {});
  person.value = null;
}

effect(() => {
  if (loggedOut.value > 0) person.value = null;
});

/** Between two reads: an id that stays unknown is not requested more often. */
const READ_AGAIN_MS = 5_000;

const known = signal<ReadonlyMap<string, string>>(new Map());
let readFor: string | undefined;
let readAtMs = 0;

/** What an id of a key, provider key, member or organisation stands for, as far as the user may see it. A component is drawn again once it is known. */
export function nameOf(id: string): string | undefined {
  const name = known.value.get(id);
  const organisation = person.value?.organisation.id;
  if (organisation !== readFor || (name === undefined && Date.now() - readAtMs > READ_AGAIN_MS)) {
    readFor = organisation;
    readAtMs = Date.now();
    void readNames().then((names) => {
      if (organisation === readFor) known.value = names;
    });
  }
  return name;
}

async function readNames(): Promise<ReadonlyMap<string, string>> {
  const list = <Entry>(path: string) =>
    read<{ data: Entry[] }>(path).then(
      ({ data }) => data,
      () => [],
    );
  const isDeveloper = may('developer');
  const [keys, providerKeys, members] = await Promise.all([
    isDeveloper ? list<KeyView>('keys') : [],
    isDeveloper ? list<ProviderKeyList['data'][number]>('provider-keys') : [],
    list<MemberView>('members'),
  ]);
  return new Map([
    ...(person.value?.organisations ?? []).map(({ id, name }) => [id, name] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
    ...providerKeys.map(({ id, name, provider }) => [id, `${name} (${provider})`] as const),
    ...members.map(({ id, email }) => [id, email] as const),
  ]);
}

const USED_DAYS = 90;
const DAY_MS = 86_400_000;

/** The first day of those in which use is recent. */
export const usedSince = (): string => new Date(Date.now() - USED_DAYS * DAY_MS).toISOString().slice(0, 10);

/** The providers or models that the organisation has used recently: unused ones are neither good nor bad. Undefined until it is known. */
export function useUsed(by: 'provider' | 'model'): ReadonlySet<string> | undefined {
  const { value } = useAnswer<UsageList>(`usage?from=${usedSince()}&group_by=${by}`);
  return value && new Set(value.data.flatMap(({ group }) => group ?? []));
}
