// What a provider's credential looks like: forms of named texts, which of them are secret, and the access that comes of them.
// Where credentials are kept, and who may use which, is decided elsewhere.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import type { Retention } from '../../api/processing.ts';
import type { NamedRegion } from '../../api/residency-rule.ts';
import type { ProviderRefusal } from './endpoints.ts';
import { objectOf } from './json.ts';

/** The members of a credential. Every one is a text, and secret ones say so: `secret: true`. */
export type CredentialForm = TObject;
export type CredentialFields = Readonly<Record<string, string>>;

/** Where a provider is reached and with what. */
export interface ProviderAccess {
  baseUrl: string | undefined;
  /** What the model is called there, where that is not its part of the slug. */
  model?: string;
  /** The credential where it is one text. */
  credential: string | undefined;
  /** All members of the credential, by the provider's form. Absent where it is one text of the configuration. */
  fields?: CredentialFields;
  /** Texts that must not be shown, beside `credential`. */
  secrets?: readonly string[];
  /** Where `baseUrl` lies and what is kept there, and what the account has agreed on, as whoever runs the gateway says. */
  place?: { region?: NamedRegion; retention?: Exclude<Retention, 'unknown'> };
}

/** Whether a provider accepts a credential. `unknown`: its answer says nothing of that. */
export type CredentialVerdict = 'accepted' | 'refused' | 'unknown';

/** A cheap request that shows whether a credential is good. Pure: the host sends it, and keeps the deadline. */
export interface CredentialCheck {
  /** @param wallMs when it is sent, in milliseconds since 1970 */
  request(access: ProviderAccess, wallMs: number): { url: string; headers: Record<string, string> };
  /** By a `GET`'s answer, whatever its status. */
  verdict(answer: ProviderRefusal): CredentialVerdict;
}

/** Printable ASCII without spaces, as it may stand in a header. */
const token = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: 4096, pattern: '^[!-~]+$', description, ...more });
const secret = (description: string) => token(description, { secret: true });
const region = (example: string) =>
  Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: `Region, such as ${example}.` });
const form = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

/** One key: what most providers have, and what is assumed where a provider says nothing. */
export const apiKeyForm = form({ api_key: secret('API key of the provider.') });

/** One key, of a service with several endpoints. Without a region it is the one that the provider's folder names. */
export const regionalKeyForm = (regions: readonly string[]): CredentialForm =>
  form({
    api_key: secret('API key of the provider.'),
    region: Type.Optional(
      Type.Union(
        regions.map((name) => Type.Literal(name)),
        { description: `Region: ${regions.join(', ')}.` },
      ),
    ),
  });

export const awsForm = form({
  access_key_id: Type.String({ pattern: '^[A-Z0-9]{16,128}$', description: 'Access key id.' }),
  secret_access_key: secret('Secret access key.'),
  session_token: Type.Optional(secret('Session token, for temporary credentials.')),
  region: region('eu-west-1'),
});

export const azureForm = form({
  key: secret('Key of the speech resource.'),
  region: region('westeurope'),
  resource: Type.Optional(
    Type.String({
      pattern: '^[a-zA-Z0-9-]{2,64}$',
      description: 'Custom domain of the resource: what stands before .cognitiveservices.azure.com.',
    }),
  ),
  endpoint_id: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F-]{36}$',
      description: 'Id of your custom speech endpoint, for live sessions.',
    }),
  ),
});

/** The members of the JSON file of a Google service account. Its token endpoint is Google's: it is sent a signed assertion. */
export const googleServiceAccountForm = form({
  type: Type.Literal('service_account'),
  project_id: token('Project.'),
  private_key_id: token('Id of the private key.'),
  private_key: Type.String({
    maxLength: 16_384,
    pattern: '^-----BEGIN PRIVATE KEY-----\\n[A-Za-z0-9+/=\\n]+-----END PRIVATE KEY-----\\n?$',
    description: 'Private key in PEM.',
    secret: true,
  }),
  client_email: token('Address of the service account.'),
  client_id: Type.Optional(token('Number of the service account.')),
  auth_uri: Type.Optional(Type.Literal('https://accounts.google.com/o/oauth2/auth')),
  token_uri: Type.Optional(Type.Literal('https://oauth2.googleapis.com/token')),
  auth_provider_x509_cert_url: Type.Optional(Type.Literal('https://www.googleapis.com/oauth2/v1/certs')),
  client_x509_cert_url: Type.Optional(token('Address of the certificate.')),
  universe_domain: Type.Optional(Type.Literal('googleapis.com')),
});

/** Names of the members that must not be shown. */
export const secretNames = ({ properties }: CredentialForm): string[] =>
  Object.entries(properties)
    .filter(([, schema]) => schema.secret === true)
    .map(([name]) => name);

/**
 * The access of the configuration's one text. Where a credential has several members, it is a JSON object of them; any other
 * text is the first of them.
 */
export function configuredAccess(
  credentialForm: CredentialForm,
  baseUrl: string | undefined,
  credential: string | undefined,
): ProviderAccess {
  const isOne = Object.keys(credentialForm.properties).length === 1;
  const members = isOne || credential === undefined ? {} : objectOf(credential);
  const given = Object.entries(members).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return given.length === 0
    ? { baseUrl, credential }
    : accessOf(credentialForm, { baseUrl }, Object.fromEntries(given));
}

/** What a provider is reached with: the fields, the one text for a form of one, and which texts must not be shown. */
export function accessOf(
  credentialForm: CredentialForm,
  address: Pick<ProviderAccess, 'baseUrl' | 'place'>,
  fields: CredentialFields,
): ProviderAccess {
  const names = Object.keys(credentialForm.properties);
  const only = names.length === 1 ? fields[names[0] as string] : undefined;
  const secrets = secretNames(credentialForm).flatMap((name) => fields[name] ?? []);
  return { ...address, credential: only, fields, secrets };
}

/** The members that may be shown. */
export function shownFields(credentialForm: CredentialForm, fields: CredentialFields): CredentialFields {
  const secret = secretNames(credentialForm);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !secret.includes(name)));
}

/** The last four characters of the first secret, where that leaves most of it unsaid. */
export function lastFourOf(credentialForm: CredentialForm, fields: CredentialFields): string {
  const [name] = secretNames(credentialForm);
  const text = (name === undefined ? '' : (fields[name] ?? '')).replace(/-----END PRIVATE KEY-----\s*$/, '').trim();
  return text.length < LENGTH_SHOWN_MIN ? '' : text.slice(-4);
}

const LENGTH_SHOWN_MIN = 12;
