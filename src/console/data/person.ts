// Who is logged in here.
import { effect, signal } from '@preact/signals';
import type { PersonView } from '../../api/console/console.ts';
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

export async function logOut(): Promise<void> {
  await send('POST', 'logout').catch(() => {});
  person.value = null;
}

effect(() => {
  if (loggedOut.value > 0) person.value = null;
});
