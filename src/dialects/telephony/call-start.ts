// What a carrier says of a call at its beginning, and what its parameters ask for: those of `/v1/listen`, and where events go.
import { refuse } from '../../api/errors.ts';
import type { Conversation, Wish } from '../dialect.ts';
import { badRequest } from '../texts.ts';

/** What the call itself says. */
export interface CallStart {
  carrier: string;
  /** The carrier's ids of the call and its stream. */
  ids: readonly unknown[];
  encoding: 'mulaw' | 'alaw' | 'linear16';
  sampleRate: number;
  channels: number;
}

/** Of a name that the call is found by. */
const NAME = /^[\w.:@+=~-]{1,128}$/;
/** Parameters that are the call's to say, or have no meaning for one. */
const NOT_ASKED = ['encoding', 'sample_rate', 'channels', 'resume', 'start'];
/** The name of the key among the parameters. */
export const KEY_PARAMETER = 'api_key';

/** @throws Refusal */
export function wishOfCall(call: CallStart, asked: ReadonlyMap<string, unknown>): Wish {
  const { carrier, ids, encoding, sampleRate, channels } = call;
  const parameters = new Map<string, string>();
  for (const [name, value] of asked) {
    if (NOT_ASKED.includes(name))
      throw badRequest(name, `\`${name}\` cannot be asked for here: the call says how its audio is. Leave it out.`);
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw badRequest(name, `\`${name}\` has to be a text, as a parameter of /v1/listen.`);
    parameters.set(name, String(value));
  }
  const take = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value || undefined;
  };
  take(KEY_PARAMETER);
  const [model, label] = [take('model'), take('label')];
  if (label !== undefined && !NAME.test(label))
    throw badRequest(
      'label',
      '`label` is 1 to 128 letters, digits and any of _ . : @ + = ~ - by which the call is found.',
    );
  const names = [...ids, label].filter((name): name is string => typeof name === 'string' && NAME.test(name));
  const eventsUrl = take('events_url');
  if (eventsUrl !== undefined && !(/^https?:\/\/\S{1,2000}$/.test(eventsUrl) && URL.canParse(eventsUrl)))
    throw badRequest('events_url', '`events_url` is the https:// address that the events are posted to.');
  const wishOfEvents = { carrier, names, eventsUrl, eventsSecret: take('events_secret') };
  parameters.set('encoding', encoding);
  parameters.set('sample_rate', String(sampleRate));
  if (channels > 1) parameters.set('channels', String(channels));
  return { model, parameters, own: {}, call: wishOfEvents };
}

export const unsupported = (encoding: unknown, accepted: string) =>
  refuse('unsupported_audio', `The call's audio is ${String(encoding).slice(0, 40)}; ${accepted} is taken.`);

/** The part of a conversation whose client hears nothing but the end. */
export const TOLD_NOTHING: Pick<Conversation, 'encode' | 'close' | 'refused'> = {
  encode: () => [],
  close: (code, reason) => ({ code, reason }),
  refused: ({ closeCode, code }) => ({ messages: [], code: closeCode, reason: code }),
};

/** The most that a message has whose audio is in text: seconds of it. */
export const TEXT_BYTES_MAX = 65_536;
