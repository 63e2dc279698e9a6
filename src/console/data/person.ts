// Who is logged in here.
import { effect, signal } from '@preact/signals';
import type { MemberRole, PersonView } from '../../api/console/console.ts';
import { MEMBER_ROLES } from '../../api/console/team.ts';
import { loggedOut, type Refused, send } from './api.ts';

/** Undefined until the gateway has answered; null when nobody is. */
export const person = signal<PersonView | null | undefined>(undefined);
/** Why it is not known who is logged in. */
export const unknownBecause = signal<string | undefined>(undefined);

export async function readPerson(): Promise<void> {
  try {
    person.value = await send<PersonView>('GET', 'me');
    unknownBecause.value = undefined;
  } catch (error) {
    const { code, message } = error as Refused;
    if (code === 'login_required') person.value = null;
    else unknownBecause.value = message;
  }
}

/** Whether the reader's role in the organisation is enough. */
export function may(least: MemberRole): boolean {
  const own = person.value?.role;
  return own !== undefined && MEMBER_ROLES.indexOf(own) <= MEMBER_ROLES.indexOf(least);
}

// Another tab may have entered another organisation, or logged out: what is shown here is to be of the same.
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
