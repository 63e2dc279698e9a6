// The words for an address that is not fetched, or that no audio came from. They never show the address: its query may be secret.
import { type ApiError, apiError } from '../../api/errors.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { NotReachable } from '../../runtime/outbound/reachable.ts';

const UPLOAD = 'Download the file and upload it.';
const ACCEPTED =
  'Send an `https` address on the Internet without user name and password, such as a presigned link, or upload the file.';
const ANSWERED =
  'Send an address that answers a GET with the audio, such as a presigned link that is still valid, or upload the file.';

/** @param what such as `is not a URL` */
export const notAllowed = (param: string, what: string): ApiError =>
  apiError('audio_url_not_allowed', `\`${param}\` ${what}. ${ACCEPTED}`, { param });

export const switchedOff = (param: string): ApiError =>
  apiError(
    'audio_url_not_allowed',
    `\`${param}\` is not served: the operator of this gateway has switched audio by URL off. ${UPLOAD}`,
    { param },
  );

/** @param why such as `the server answered with status 403` */
export const failed = (param: string, why: string): ApiError =>
  apiError('audio_url_failed', `The audio at \`${param}\` could not be fetched: ${why}. ${ANSWERED}`, { param });

export const tooLarge = (param: string, bytesMax: number): ApiError =>
  apiError(
    'file_too_large',
    `The file at \`${param}\` is larger than ${bytesMax} bytes. Split it, or compress it, as FLAC or Opus.`,
    { param },
  );

/** One sentence for both, so that no name of the operator's own network can be found out. */
export const notFound = (param: string): ApiError =>
  notAllowed(param, 'names a host that does not exist on the Internet, or that has a private address');

export const withoutTls = (param: string): ApiError => notAllowed(param, 'has no TLS: it begins with `http:`');

/** What a connection failed for. */
export function connectionFailure(param: string, error: unknown, isTls: boolean): ApiError {
  if (error instanceof NotReachable) return isTls ? notFound(param) : withoutTls(param);
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code === 'ENODATA') return notFound(param);
  if (code.startsWith('EAI_')) return failed(param, 'the name of its host could not be looked up');
  if (code.startsWith('HPE_')) return failed(param, 'the server does not answer in HTTP');
  if (/CERT|SIGNATURE/.test(code)) return failed(param, 'the certificate of its server is not valid for it');
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') return failed(param, 'the connection broke off');
  return failed(param, 'its server could not be reached');
}
