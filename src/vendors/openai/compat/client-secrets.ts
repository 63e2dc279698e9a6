// Client secrets: keys for browsers that live shortly and carry what their sessions begin with, so that any node knows it. Sessions
// may ask for something else, as at OpenAI. https://developers.openai.com/api/reference/resources/realtime/subresources/client_secrets
import { type ApiError, apiError, printable } from '../../../api/errors.ts';
import { TOKEN_PREFIX, TOKEN_TTL_SECONDS } from '../../../api/tokens.ts';
import type { Handshake, TokenEndpoint, TokenEndpoints } from '../../compat/dialect.ts';
import { badRequest, carried } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { jsonOf, objectIn } from '../../kit/json.ts';
import { authorizationOf, subprotocolsOf } from '../../kit/offered-keys.ts';
import { secretMessage } from '../messages.ts';
import { BETA_NAMES, freshSettings, type Settings, toldSession, updated } from './settings.ts';

/** Libraries for browsers take no other keys. */
const PREFIX = 'ek_';
/** A client token, without its prefix, and the session in base64url. */
const FORM = /^ek_([\w-]+\.[\w-]+)(?:\.([\w-]+))?$/;
const KEY_PROTOCOL = 'openai-insecure-api-key.';
const SECONDS = { min: 10, max: 7_200 };
const TOO_LARGE = {
  what: '`session`',
  advice: 'it is a part of the secret. Let the client send the rest in an update.',
};

/** Browsers cannot set headers: a subprotocol stands for them. */
function saidBy({ headers }: Pick<Handshake, 'headers'>): string | undefined {
  if (headers.has('authorization')) return authorizationOf(headers.get('authorization'));
  const named = subprotocolsOf(headers.get('sec-websocket-protocol')).find((each) => each.startsWith(KEY_PROTOCOL));
  return named?.slice(KEY_PROTOCOL.length);
}

/** The key, or the client token of a client secret. Never throws. */
export function credentialOf(handshake: Pick<Handshake, 'headers'>): string | undefined {
  const said = saidBy(handshake);
  if (said?.startsWith(PREFIX) !== true) return said;
  return TOKEN_PREFIX + (FORM.exec(said)?.[1] ?? said.slice(PREFIX.length));
}

/** Whether a page asks: it cannot read the answer to a handshake that is refused. */
export const isPage = ({ headers }: Pick<Handshake, 'headers'>): boolean =>
  !headers.has('authorization') && subprotocolsOf(headers.get('sec-websocket-protocol')).includes('realtime');

/**
 * What a session of this client begins with: what its secret carries, if it is one and carries something.
 *
 * @throws ApiError
 */
export function settingsOf(handshake: Pick<Handshake, 'headers'>, fresh: Settings): Settings {
  const part = FORM.exec(saidBy(handshake) ?? '')?.[2];
  if (part === undefined) return fresh;
  const settings = updated(fresh, jsonOf(Buffer.from(part, 'base64url').toString()));
  if (!('code' in settings)) return settings;
  throw apiError(
    'invalid_token',
    'The session that the client secret carries cannot be read. Send the secret as it was given.',
  );
}

/** What a secret carries, and the settings that it comes to. Throws an ApiError. */
function judged(known: readonly string[], session: unknown = {}): { part: string; settings: Settings } {
  const settings = updated(freshSettings(new URLSearchParams()), session);
  if ('code' in settings) throw badRequest(settings.param ?? 'session', settings.message);
  const members = objectIn(session);
  const names = Object.keys(members);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownMember(`session.${unknown}`, known);
  return { part: names.length === 0 ? '' : `.${carried(members, 'session', TOO_LARGE)}`, settings };
}

/** @param param that says how long the secret lives */
function secondsAsked(param: string, expiry: unknown): number | undefined {
  if (expiry !== undefined && objectIn(expiry) !== expiry)
    throw badRequest(param, `\`${param}\` is an object such as {"anchor": "created_at", "seconds": 60}.`);
  const { anchor = 'created_at', seconds } = objectIn(expiry);
  if (anchor !== 'created_at') throw badRequest(`${param}.anchor`, `\`${param}.anchor\` is "created_at".`);
  if (seconds === undefined) return undefined;
  if (typeof seconds === 'number' && seconds >= SECONDS.min && seconds <= SECONDS.max) return seconds;
  throw badRequest(
    `${param}.seconds`,
    `\`${param}.seconds\` is a number from ${SECONDS.min} to ${SECONDS.max}; a secret lives for ${TOKEN_TTL_SECONDS.max} at most.`,
  );
}

function unknownMember(name: string, known: readonly string[]): ApiError {
  const param = printable(name);
  return badRequest(param, `\`${param}\` is not known here. Known are ${known.join(', ')}.`);
}

const secretOf = ({ token, expiresAt }: Parameters<TokenEndpoint['answer']>[0], part: string) =>
  secretMessage(PREFIX + token.slice(TOKEN_PREFIX.length) + part, Math.floor(Date.parse(expiresAt) / 1000));

const SESSION = ['type', 'audio', 'include'];
const BETA_SESSION = ['type', 'modalities', 'include', ...Object.values(BETA_NAMES)];
const BODY = ['session', 'expires_after'];

export const tokens: TokenEndpoints = {
  'POST /v1/realtime/client_secrets': {
    open(_, body) {
      const unknown = Object.keys(body).find((name) => !BODY.includes(name));
      if (unknown !== undefined) throw unknownMember(unknown, BODY);
      judged(SESSION, body.session);
      return secondsAsked('expires_after', body.expires_after);
    },
    answer(token, { session }, { requestId }) {
      const { part, settings } = judged(SESSION, session);
      return jsonAnswer({ ...secretOf(token, part), session: toldSession(settings, sessionIdOf(requestId), false) });
    },
  },
  // The same of the beta, whose body is the session.
  'POST /v1/realtime/transcription_sessions': {
    open(_, { client_secret, ...session }) {
      judged(BETA_SESSION, session);
      return secondsAsked('client_secret.expires_at', objectIn(client_secret).expires_at);
    },
    answer(token, { client_secret: _, ...session }, { requestId }) {
      const { part, settings } = judged(BETA_SESSION, session);
      const client_secret = secretOf(token, part);
      return jsonAnswer({ ...toldSession(settings, sessionIdOf(requestId), true), client_secret });
    },
  },
};

const sessionIdOf = (requestId: string): string => requestId.replace(/^req_/, 'sess_');
