// Where a provider is reached, and how a request shows its credential.
import type { CredentialCheck, HttpRequest, ProviderAccess, ProviderRefusal } from './provider.ts';
import { type Query, urlOf } from './urls.ts';

interface Settings {
  /** The provider's own base URL, for some by the region of the credential; a configured one takes its place. */
  url: string | ((access: ProviderAccess) => string);
  /** The one for live sessions, where it is another. */
  liveUrl?: Settings['url'];
  /** What a base URL is made of a configured one. */
  base?(configured: string): string;
  /** The headers that show a credential: one text, or the members of `access`. */
  headers(credential: string, access: ProviderAccess): Record<string, string>;
}

export interface ProviderApi {
  http(access: ProviderAccess, path: string, query?: Query): string;
  websocket(access: ProviderAccess, path: string, query?: Query): string;
  headers(access: ProviderAccess): Record<string, string>;
  /** A whole request, without a body where none is given. */
  request(access: ProviderAccess, method: HttpRequest['method'], path: string, body?: HttpRequest['body']): HttpRequest;
}

export function providerApi(settings: Settings): ProviderApi {
  const { url, liveUrl = url, base = (configured) => configured } = settings;
  const rootOf = (access: ProviderAccess, own: Settings['url']) =>
    base(access.baseUrl ?? (typeof own === 'string' ? own : own(access)));
  const http: ProviderApi['http'] = (access, path, query) => urlOf('http', rootOf(access, url), path, query);
  const headers: ProviderApi['headers'] = (access) => {
    const { credential, fields } = access;
    return credential === undefined && fields === undefined
      ? {}
      : settings.headers(credential ?? fields?.api_key ?? '', access);
  };
  return {
    http,
    websocket: (access, path, query) => urlOf('websocket', rootOf(access, liveUrl), path, query),
    headers,
    request: (access, method, path, body = { kind: 'none' }) => ({
      method,
      url: http(access, path),
      headers: headers(access),
      body,
    }),
  };
}

/** What the model of a request is called where it is requested. */
export const modelAt = ({ model, access }: { model: string; access: ProviderAccess }): string => access.model ?? model;

/** A configured base counts with and without its last `/v1`, as both are in use. */
export const withVersion = (configured: string): string => `${configured.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;

/** Headers of the common form. */
export const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

/**
 * Whether a key is good, by what a cheap `GET` is answered with: cite the document that says so.
 *
 * @param isOfKey whether a 401 is about the key
 */
export const keyCheck = (
  api: ProviderApi,
  path: string,
  query?: Query,
  isOfKey: (refusal: ProviderRefusal) => boolean = () => true,
): CredentialCheck => ({
  request: (access) => ({ url: api.http(access, path, query), headers: api.headers(access) }),
  verdict: (answer) => {
    if (answer.status === 200) return 'accepted';
    return answer.status === 401 && isOfKey(answer) ? 'refused' : 'unknown';
  },
});
