// Client secrets: keys for browsers that live shortly and carry what their sessions begin with, so that any node knows it. Sessions
// may ask for something else, as at OpenAI. https://developers.openai.com/api/reference/resources/realtime/subresources/client_secrets
import { type Members, objectIn, objectOf } from '../../providers/kit/json.ts';
import { told } from '../answers.ts';
import type { Handshake, TokenDoor, TokenDoors } from '../dialect.ts';
import { authorizationOf, subprotocolsOf } from '../offers.ts';
import { badRequest } from '../texts.ts';
import { freshSettings, type Settings, toldSession, updated } from './settings.ts';

/** Libraries for browsers take no other keys. */
const PREFIX = 'ek_';
const TOKEN_PREFIX = 'st_';
/** A client token, without its prefix, and the session in base64url. */
const FORM = /^ek_([\w-]+\.[\w-]+)(?:\.([\w-]+))?$/;
const KEY_PROTOCOL = 'openai-insecure-api-key.';
const SECONDS = { min: 10, max: 7_200 };
/** Of JSON: it comes in a header, as a third more characters, and servers take 8 KiB of those in all. */
export const SESSION_BYTES_MAX = 3_072;

/** Browsers cannot set headers: a subprotocol stands for them. */
function saidBy({ headers }: Pick<Handshake, 'headers'>): string | undefined {
  if (headers.has('authorization')) return authorizationOf(headers);
  const named = subprotocolsOf(headers).find((each) => each.startsWith(KEY_PROTOCOL));
  return named?.slice(KEY_PROTOCOL.length);
}

/** The key, or the client token of a client secret. Never throws. */
export function credentialOf(handshake: Pick<Handshake, 'headers'>): string | undefined {
  const said = saidBy(handshake);
  const token = said && FORM.exec(said)?.[1];
  return token === undefined ? said : TOKEN_PREFIX + token;
}

/** What a session of this client begins with: what its secret carries, if it is one and carries something. */
export function settingsOf(handshake: Pick<Handshake, 'headers'>, fresh: Settings): Settings {
  const carried = FORM.exec(saidBy(handshake) ?? '')?.[2];
  if (carried === undefined) return fresh;
  const settings = updated(fresh, objectOf(Buffer.from(carried, 'base64url').toString()));
  // It was judged when it was written: another version of the gateway may have taken more.
  return 'code' in settings ? fresh : settings;
}

/** What a secret is to carry, and the settings that it comes to. Throws a Refusal. */
function judged(session: unknown = {}): { members: Members; settings: Settings } {
  const settings = updated(freshSettings(new URLSearchParams()), session);
  if ('code' in settings) throw badRequest(settings.param ?? 'session', settings.message);
  const bytes = Buffer.byteLength(JSON.stringify(session));
  if (bytes > SESSION_BYTES_MAX)
    throw badRequest(
      'session',
      `\`session\` has ${bytes} bytes as JSON, and at most ${SESSION_BYTES_MAX} are taken: it is a part of the secret. Let the client send the rest in an update.`,
    );
  return { members: objectIn(session), settings };
}

function secondsAsked(expiry: unknown): number | undefined {
  const { anchor = 'created_at', seconds } = objectIn(expiry);
  if (anchor !== 'created_at') throw badRequest('expires_after.anchor', '`expires_after.anchor` is "created_at".');
  if (seconds === undefined) return undefined;
  if (typeof seconds === 'number' && seconds >= SECONDS.min && seconds <= SECONDS.max) return seconds;
  throw badRequest(
    'expires_after.seconds',
    `\`expires_after.seconds\` is a number from ${SECONDS.min} to ${SECONDS.max}.`,
  );
}

function secretOf({ token, expiresAt }: Parameters<TokenDoor['answer']>[0], session: Members) {
  const carried =
    Object.keys(session).length === 0 ? '' : `.${Buffer.from(JSON.stringify(session)).toString('base64url')}`;
  const value = PREFIX + token.slice(TOKEN_PREFIX.length) + carried;
  return { value, expires_at: Math.floor(Date.parse(expiresAt) / 1000) };
}

export const tokens: TokenDoors = {
  'POST /v1/realtime/client_secrets': {
    open(_, { session, expires_after }) {
      judged(session);
      return secondsAsked(expires_after);
    },
    answer(token, { session }, { requestId }) {
      const { members, settings } = judged(session);
      return told({ ...secretOf(token, members), session: toldSession(settings, sessionIdOf(requestId), false) });
    },
  },
  // The same of the beta, whose body is the session.
  'POST /v1/realtime/transcription_sessions': {
    open(_, session) {
      judged(session);
      return undefined;
    },
    answer(token, session, { requestId }) {
      const { members, settings } = judged(session);
      const client_secret = secretOf(token, members);
      return told({ ...toldSession(settings, sessionIdOf(requestId), true), client_secret });
    },
  },
};

const sessionIdOf = (requestId: string): string => requestId.replace(/^req_/, 'sess_');
