// Where Google's Speech-to-Text v2 is reached, and how it is shown who asks: by a token that the service account signs for an hour, which
// Google takes without a request for one (https://google.aip.dev/auth/4111), or by an API key.
import { createPrivateKey, sign } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { type CredentialFields, googleServiceAccountForm } from '../kit/credentials.ts';
import { objectOf } from '../kit/json.ts';
import type { CredentialCheck, Provider, ProviderAccess } from '../kit/provider.ts';
import { urlOf } from '../kit/urls.ts';
import { failures } from './failures.ts';

/** Whom the token is for: the service by its first name, wherever it is reached. */
const AUDIENCE = 'https://speech.googleapis.com/';
const TOKEN_SECONDS = 3_600;
/** A clock of ours that is ahead makes no token of the future. */
const CLOCK_SECONDS = 30;

/** Where audio is processed, for what is not processed anywhere: https://cloud.google.com/speech-to-text/v2/docs/speech-to-text-supported-languages */
export const ENDPOINTS = {
  names: [
    ...['us', 'eu', 'us-central1', 'europe-west2', 'europe-west3', 'europe-west4', 'asia-northeast1'],
    ...['asia-southeast1', 'asia-south1', 'northamerica-northeast1'],
  ],
  oneKey: true,
} as const;

/** The key file of a service account, and where its audio is to be processed. */
export const credentialForm = Type.Object(
  {
    ...googleServiceAccountForm.properties,
    region: Type.Optional(
      Type.Union(
        ENDPOINTS.names.map((name) => Type.Literal(name)),
        {
          description: `Location of the endpoint: ${ENDPOINTS.names.join(', ')}; what each model has by itself when absent.`,
        },
      ),
    ),
  },
  { additionalProperties: false },
);

/** Models that are not offered at the global endpoint, and where they are first. */
const LOCATIONS: Readonly<Record<string, string>> = { chirp_3: 'us', chirp_2: 'us-central1' };

interface Place {
  access: ProviderAccess;
  model: string;
}

const locationOf = ({ access, model }: Place): string => access.fields?.region ?? LOCATIONS[model] ?? 'global';

/** The service's own credential is one text: an API key, or the JSON of the form in base64. */
function fieldsOf({ fields, credential = '' }: ProviderAccess): CredentialFields {
  if (fields !== undefined) return fields;
  const members = objectOf(Buffer.from(credential, 'base64').toString('utf8'));
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

const base64 = (text: string): string => Buffer.from(text).toString('base64url');

/** A signed token in place of the private key; in place of an API key with its project, the key. */
export const authorize: NonNullable<Provider['authorize']> = (access, wallMs) => {
  const { private_key, private_key_id, client_email, ...fields } = fieldsOf(access);
  const secrets = [...(access.secrets ?? []), ...(access.credential === undefined ? [] : [access.credential])];
  if (private_key === undefined) {
    const { api_key, ...place } = fields;
    return api_key === undefined ? access : { ...access, fields: place, credential: api_key, secrets };
  }
  const at = Math.floor(wallMs / 1_000) - CLOCK_SECONDS;
  const head = { alg: 'RS256', typ: 'JWT', kid: private_key_id };
  const claims = { iss: client_email, sub: client_email, aud: AUDIENCE, iat: at, exp: at + TOKEN_SECONDS };
  const said = `${base64(JSON.stringify(head))}.${base64(JSON.stringify(claims))}`;
  const token = `${said}.${sign('sha256', Buffer.from(said), createPrivateKey(private_key)).toString('base64url')}`;
  return { ...access, fields, credential: token, secrets: [...secrets, private_key, token] };
};

const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$|^ya29\./;

export function headersOf({ credential }: ProviderAccess): Record<string, string> {
  if (credential === undefined) return {};
  return TOKEN.test(credential) ? { authorization: `Bearer ${credential}` } : { 'x-goog-api-key': credential };
}

export function urlAt(place: Place, path: string): string {
  const location = locationOf(place);
  const host = location === 'global' ? 'speech.googleapis.com' : `${location}-speech.googleapis.com`;
  return urlOf('http', place.access.baseUrl ?? `https://${host}`, path);
}

/** The recognizer that nothing is stored of: the request says all. */
export const recognizerOf = (place: Place): string =>
  `projects/${place.access.fields?.project_id ?? '-'}/locations/${locationOf(place)}/recognizers/_`;

/** Lists the stored recognizers, of which there may be none: https://cloud.google.com/speech-to-text/v2/docs/reference/rest/v2/projects.locations.recognizers/list */
export const credentialCheck: CredentialCheck = {
  request: (access) => {
    const place = { access, model: '' };
    const path = `/v2/${recognizerOf(place).replace(/\/_$/, '')}`;
    return { url: `${urlAt(place, path)}?pageSize=1`, headers: headersOf(access) };
  },
  verdict: (answer) => {
    if (answer.status === 200) return 'accepted';
    const isOfKey = answer.status === 401 || answer.status === 400;
    return isOfKey && failures.ofRefusal(answer).kind === 'account' ? 'refused' : 'unknown';
  },
};
