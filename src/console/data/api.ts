// Requests to the console's own API, and the answers that a page shows. A request rejects with the gateway's message. Where the gateway
// requires the password again, the user is prompted for it, and the request is sent again.
import { signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The field that is wrong. */
  readonly param: string | undefined;

  constructor(status: number, { code, message, param }: { code: string; message: string; param?: string | null }) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param ?? undefined;
  }
}

/** Set while a request waits for the password: `resolve(true)` after it was confirmed, `resolve(false)` lets the request fail. */
export const passwordPrompt = signal<{ resolve(isConfirmed: boolean): void } | undefined>(undefined);
/** Grows when the cookie has become invalid. */
export const loggedOut = signal(0);

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** @param path below `/console/api/` */
export async function request<Answer = void>(method: Method, path: string, body?: object): Promise<Answer> {
  try {
    return await noticingLogout(send<Answer>(method, path, body));
  } catch (error) {
    if (!isPasswordRequired(error as Error) || !(await promptForPassword())) throw error;
    return noticingLogout(send<Answer>(method, path, body));
  }
}

/** For what a page loads without an action of the user: never prompts for the password. */
export const read = <Answer>(path: string): Promise<Answer> => noticingLogout(send<Answer>('GET', path));

export const isPasswordRequired = (error: Error | undefined): boolean =>
  error instanceof ApiError && error.code === 'password_required';

async function noticingLogout<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'login_required') loggedOut.value++;
    throw error;
  }
}

/** Without the prompt for the password, and also before the login. */
export async function send<Answer = void>(method: Method, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`/console/api/${path}`, {
    method,
    ...(method === 'GET'
      ? {}
      : {
          headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'console' },
          body: JSON.stringify(body ?? {}),
        }),
  }).catch(() => {
    throw new ApiError(0, { code: 'unreachable', message: 'The gateway does not answer. Is it running? Try again.' });
  });
  const text = await response.text();
  const answer: unknown = text.startsWith('{') ? JSON.parse(text) : text;
  if (response.ok) return answer as Answer;
  const { status } = response;
  const error = (answer as { error?: ConstructorParameters<typeof ApiError>[1] } | undefined)?.error;
  throw new ApiError(status, error ?? { code: 'unknown', message: `The gateway answered ${status}. Try again.` });
}

function promptForPassword(): Promise<boolean> {
  // A second request waits for the same password.
  const before = passwordPrompt.peek();
  return new Promise((resolve) => {
    passwordPrompt.value = {
      resolve: (isConfirmed) => {
        passwordPrompt.value = undefined;
        before?.resolve(isConfirmed);
        resolve(isConfirmed);
      },
    };
  });
}

/** What a page shows of an answer: loaded when the page opens, and again when the page says so. Nothing is kept. */
export interface Answer<Value> {
  /** Undefined until the first answer. */
  readonly value: Value | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
}

/**
 * @param path below `/console/api/`; nothing is requested while it is undefined
 * @param everyMs how often it is requested again while the page is visible
 */
export function useAnswer<Value>(path: string | undefined, everyMs?: number): Answer<Value> {
  const value = useSignal<Value | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const newest = useRef(0);
  const load = useCallback(async () => {
    if (path === undefined) return;
    newest.current++;
    const own = newest.current;
    try {
      const answer = await read<Value>(path);
      if (own !== newest.current) return;
      value.value = answer;
      error.value = undefined;
    } catch (failure) {
      if (own === newest.current) error.value = failure as ApiError;
    }
  }, [path]);
  useEffect(() => {
    value.value = undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const again = async () => {
      if (document.visibilityState === 'visible') await load();
      if (!isOver && everyMs !== undefined) timer = setTimeout(again, everyMs);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [load, everyMs]);
  return { value: value.value, error: error.value, reload: () => void load() };
}
