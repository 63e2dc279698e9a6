// Requests to the gateway's own interface for the console. Rejects with what the gateway says is wrong, in its words. Where the
// gateway wants the password once more, the reader is asked for it, and the request is made again.
import { signal } from '@preact/signals';

export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  /** The field of a form that is at fault. */
  readonly param: string | undefined;

  constructor(status: number, { code, message, param }: { code: string; message: string; param?: string | null }) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param ?? undefined;
  }
}

/** Set while a request waits for the password: `give(true)` when it was confirmed, `give(false)` to let the request fail. */
export const passwordWanted = signal<{ give(confirmed: boolean): void } | undefined>(undefined);
/** Grows when a cookie opens nothing any more. */
export const loggedOut = signal(0);

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** @param path below `/console/api/` */
export async function ask<Answer = void>(method: Method, path: string, body?: object): Promise<Answer> {
  try {
    return await heeded(send<Answer>(method, path, body));
  } catch (error) {
    if (!isPasswordWanted(error as Error) || !(await confirmed())) throw error;
    return heeded(send<Answer>(method, path, body));
  }
}

/** What a page shows by itself, perhaps again and again: no question pops up for it. */
export const read = <Answer>(path: string): Promise<Answer> => heeded(send<Answer>('GET', path));

export const isPasswordWanted = (error: Error | undefined): boolean =>
  error instanceof Refused && error.code === 'password_required';

/** Whoever is not logged in any more is told so wherever it shows first. */
async function heeded<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refused && error.code === 'login_required') loggedOut.value++;
    throw error;
  }
}

/** Without asking for the password, also where nobody is logged in. */
export async function send<Answer = void>(method: Method, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`/console/api/${path}`, {
    method,
    ...(method === 'GET'
      ? {}
      : {
          headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'console' },
          body: JSON.stringify(body ?? {}),
        }),
  }).catch(() => {
    throw new Refused(0, { code: 'unreachable', message: 'The gateway does not answer. Is it running? Try again.' });
  });
  const text = await answer.text();
  const said: unknown = text.startsWith('{') ? JSON.parse(text) : text;
  if (answer.ok) return said as Answer;
  throw refusedOf(answer.status, said);
}

function refusedOf(status: number, said: unknown): Refused {
  const error = (said as { error?: ConstructorParameters<typeof Refused>[1] } | undefined)?.error;
  return new Refused(status, error ?? { code: 'unknown', message: `The gateway answered ${status}. Try again.` });
}

function confirmed(): Promise<boolean> {
  // A second request waits for the same password.
  const before = passwordWanted.peek();
  return new Promise((done) => {
    passwordWanted.value = {
      give: (isConfirmed) => {
        passwordWanted.value = undefined;
        before?.give(isConfirmed);
        done(isConfirmed);
      },
    };
  });
}
