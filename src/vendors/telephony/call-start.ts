// What a carrier says of a call at its beginning, and what its parameters ask for: those of `/v1/listen`, and where events go.
import { ApiError, apiError } from '../../api/errors.ts';
import type { CallRequest, ClientRequest, Conversation, Step } from '../compat/dialect.ts';
import { badRequest } from '../compat/params.ts';

/** Who carries a call, and the carrier's ids of it and of its stream. */
export interface CarriedCall {
  carrier: string;
  ids: readonly unknown[];
}

/** How the audio of a call comes. */
export interface CallAudio {
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

const isName = (name: unknown): name is string => typeof name === 'string' && NAME.test(name);
const isEventsUrl = (url: string): boolean => /^https?:\/\/\S{1,2000}$/.test(url) && URL.canParse(url);
const isText = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/**
 * What the first message of a call comes to. A call that is refused and says where its events go is a request as well: its refusal is
 * posted there, by whoever knows that its key is good.
 *
 * @param asked its parameters; `audioOf` takes out what is none of a session's
 * @param audioOf throws an ApiError
 */
export function callStep(call: CarriedCall, asked: Map<string, unknown>, audioOf: () => CallAudio): Step {
  try {
    return { type: 'start', request: requestOfCall(call, asked, audioOf()) };
  } catch (refused) {
    if (!(refused instanceof ApiError)) throw refused;
    const told = toldOf(call, asked);
    if (told.eventsUrl === undefined) return { type: 'refuse', refusal: refused };
    return { type: 'start', request: { model: undefined, parameters: new Map(), own: {}, call: told, refused } };
  }
}

/** Throws an ApiError. */
function requestOfCall(call: CarriedCall, asked: ReadonlyMap<string, unknown>, audio: CallAudio): ClientRequest {
  const parameters = new Map<string, string>();
  for (const [name, value] of asked) {
    if (NOT_ASKED.includes(name))
      throw badRequest(name, `\`${name}\` cannot be asked for here: the call says how its audio is. Leave it out.`);
    if (!isText(value)) throw badRequest(name, `\`${name}\` has to be a text, as a parameter of /v1/listen.`);
    parameters.set(name, String(value));
  }
  const take = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value || undefined;
  };
  take(KEY_PARAMETER);
  const [model, label, eventsUrl] = [take('model'), take('label'), take('events_url')];
  take('events_secret');
  if (label !== undefined && !isName(label))
    throw badRequest(
      'label',
      '`label` is 1 to 128 letters, digits and any of _ . : @ + = ~ - by which the call is found.',
    );
  if (eventsUrl !== undefined && !isEventsUrl(eventsUrl))
    throw badRequest('events_url', '`events_url` is the https:// address that the events are posted to.');
  parameters.set('encoding', audio.encoding);
  parameters.set('sample_rate', String(audio.sampleRate));
  if (audio.channels > 1) parameters.set('channels', String(audio.channels));
  return { model, parameters, own: {}, call: toldOf(call, asked) };
}

/** Who is told of a call, as far as it says so rightly. */
function toldOf({ carrier, ids }: CarriedCall, asked: ReadonlyMap<string, unknown>): CallRequest {
  const textOf = (name: string): string | undefined => {
    const value = asked.get(name);
    return isText(value) ? String(value) || undefined : undefined;
  };
  const url = textOf('events_url');
  return {
    ...{ carrier, names: [...ids, textOf('label')].filter(isName), eventsSecret: textOf('events_secret') },
    eventsUrl: url !== undefined && isEventsUrl(url) ? url : undefined,
  };
}

export const unsupported = (encoding: unknown, accepted: string) =>
  apiError('unsupported_audio', `The call's audio is ${String(encoding).slice(0, 40)}; ${accepted} is taken.`);

/** The part of a conversation whose client hears nothing but the end. */
export const TOLD_NOTHING: Pick<Conversation, 'encode' | 'close' | 'refused'> = {
  encode: () => [],
  close: (code, reason) => ({ code, reason }),
  refused: ({ closeCode, code }) => ({ messages: [], code: closeCode, reason: code }),
};

/** The most that a message has whose audio is in text: seconds of it. */
export const TEXT_BYTES_MAX = 65_536;
