// What `configure` changes of what a session is asked for, in the words of the URL.
import { printable, refuse } from '../../api/errors.ts';
import { Configure } from '../../api/listen.ts';
import { textOf } from '../socket/start-message.ts';

const { type: _, ...members } = Configure.properties;
export const CHANGEABLE = Object.keys(members);

/** The parameters with the changes. Throws a Refusal for what cannot be changed. */
export function changed(parameters: ReadonlyMap<string, string>, asked: Readonly<Record<string, unknown>>) {
  const next = new Map(parameters);
  // Options of one model are not those of another.
  if (asked.model !== undefined) next.delete('provider_params');
  for (const [name, value] of Object.entries(asked)) {
    if (name === 'type') continue;
    if (!CHANGEABLE.includes(name))
      throw refuse('invalid_request', unchangeableWords(name), { param: printable(name) });
    if (value === null) next.delete(name);
    else next.set(name, textOf(name, value));
  }
  return next;
}

/** The first member of a `configure` that names nothing that changes. */
export const unchangeableIn = (asked: object): string | undefined =>
  Object.keys(asked).find((name) => name !== 'type' && !CHANGEABLE.includes(name));

export const unchangeableWords = (name: string): string =>
  `\`${printable(name)}\` cannot be changed while a session goes on. ${CHANGEABLE.join(', ')} can; for others open another session.`;
