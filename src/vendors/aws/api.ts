// Where Amazon Transcribe is reached, and how its addresses are signed. A signed URL is as good as its credential, for minutes: it is
// made when the connection is, and shown nowhere.
import aws4 from 'aws4';
import type { CredentialCheck, ProviderAccess, SocketEndpoint } from '../kit/provider.ts';
import { type Query, urlOf } from '../kit/urls.ts';

/** Regions with streaming by where they are, https://docs.aws.amazon.com/general/latest/gr/transcribe.html */
export const REGIONS = {
  us: ['us-east-1', 'us-east-2', 'us-west-2', 'us-gov-west-1', 'us-gov-east-1'],
  eu: ['eu-central-1', 'eu-west-1', 'eu-west-3'],
  ...{ uk: ['eu-west-2'], ca: ['ca-central-1'], br: ['sa-east-1'], in: ['ap-south-1'], jp: ['ap-northeast-1'] },
  ...{ kr: ['ap-northeast-2'], sg: ['ap-southeast-1'], au: ['ap-southeast-2'], za: ['af-south-1'] },
} as const;
const REGION = 'us-east-1';
/** A credential is of one region, by its field. */
export const ENDPOINTS = { names: Object.values(REGIONS).flat(), usual: REGION, oneKey: false } as const;

/** A signature is looked at when the connection is made. */
const EXPIRES_SECONDS = 300;

interface Signer {
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
}

/** A credential that is one text is the name of a key and its secret: there is none such but at a simulator. */
function signerOf({ credential = '', fields = {} }: ProviderAccess): Signer | undefined {
  const { access_key_id = credential, secret_access_key = credential, session_token, region = REGION } = fields;
  if (access_key_id === '') return undefined;
  const credentials = { accessKeyId: access_key_id, secretAccessKey: secret_access_key };
  return {
    region,
    credentials: session_token === undefined ? credentials : { ...credentials, sessionToken: session_token },
  };
}

const hostOf = ({ fields }: ProviderAccess, service: 'transcribestreaming' | 'sts'): string =>
  `${service}.${fields?.region ?? REGION}.amazonaws.com`;

/** `20261123T120000Z` */
const timeOf = (wallMs: number): string => new Date(wallMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');

/** The WebSocket of a session, with everything that is requested, signed. */
export function socketAt(access: ProviderAccess, query: Query, wallMs: number): SocketEndpoint {
  const base = access.baseUrl ?? `wss://${hostOf(access, 'transcribestreaming')}:8443`;
  const urlWith = (more: Query) =>
    new URL(urlOf('websocket', base, '/stream-transcription-websocket', { ...query, ...more }));
  const signer = signerOf(access);
  if (signer === undefined) return { kind: 'websocket', url: urlWith({}).href, headers: {} };
  const url = urlWith({ 'X-Amz-Date': timeOf(wallMs), 'X-Amz-Expires': EXPIRES_SECONDS });
  const request = {
    host: url.host,
    path: `${url.pathname}${url.search}`,
    service: 'transcribe',
    region: signer.region,
  };
  const { path = '' } = aws4.sign({ ...request, signQuery: true }, signer.credentials);
  const signature = path.slice(path.lastIndexOf('=') + 1);
  return { kind: 'websocket', url: `${url.protocol}//${url.host}${path}`, headers: {}, secrets: [signature] };
}

/** It needs no permission: https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
export const credentialCheck: CredentialCheck = {
  request(access, wallMs) {
    const query = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
    const url = new URL(urlOf('http', access.baseUrl ?? `https://${hostOf(access, 'sts')}`, '/', query));
    const { region = REGION, credentials } = signerOf(access) ?? {};
    const headers = { Host: url.host, 'X-Amz-Date': timeOf(wallMs) };
    const request = { host: url.host, path: `${url.pathname}${url.search}`, service: 'sts', region, headers };
    const { Host: _, ...signed } = aws4.sign(request, credentials ?? {}).headers as Record<string, string>;
    return { url: url.href, headers: signed };
  },
  verdict: ({ status, body }) => {
    if (status === 200) return 'accepted';
    const isOfKey = /InvalidClientTokenId|SignatureDoesNotMatch|ExpiredToken|UnrecognizedClient/.test(body);
    return status === 403 && isOfKey ? 'refused' : 'unknown';
  },
};
