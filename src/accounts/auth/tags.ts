// The tags of a session, file or job: those of its API key, of the client token, and of the request. What the credential says cannot be
// changed by a request, so that no client has its use counted as another's.
import { apiError } from '../../api/errors.ts';
import { TAGS_MAX, type Tags, textOfTags } from '../../api/tags.ts';
import type { ApiKey } from '../keys/calls.ts';

export interface Tagged {
  /** A node of an older version answers without them. */
  key: Pick<Partial<ApiKey>, 'tags'>;
  tags?: Tags | undefined;
}

/** What came of it earlier. */
export interface DecidedTags {
  readonly text: string | undefined;
}

/** Of a token, as JSON: the token is sent in a header. */
export const TOKEN_TAGS_BYTES_MAX = 512;

/** As one text; undefined without any. Throws an ApiError where the request contradicts its credential, and for too many. */
export function tagsFor({ key, tags: ofToken }: Tagged, asked: Tags | undefined): string | undefined {
  const ofKey = key.tags ?? undefined;
  if (asked === undefined && ofToken === undefined && ofKey === undefined) return undefined;
  // The key may have been changed since the token was minted.
  const tags = new Map([...Object.entries(ofToken ?? {}), ...Object.entries(ofKey ?? {})]);
  for (const [name, value] of Object.entries(asked ?? {})) {
    if ((tags.get(name) ?? value) !== value)
      throw badTags(`\`tags\` has a different value for \`${name}\` than the API key or client token. Leave it out.`);
    tags.set(name, value);
  }
  if (tags.size > TAGS_MAX)
    throw badTags(
      `\`tags\` has ${tags.size} pairs, including those of the API key and the client token. Send ${TAGS_MAX} at most.`,
    );
  return textOfTags(Object.fromEntries(tags));
}

/** Throws an ApiError where a token of the key cannot carry them. */
export function requireTokenTags(key: Tagged['key'], tags: Tags): void {
  tagsFor({ key }, tags);
  const bytes = Buffer.byteLength(textOfTags(tags));
  if (bytes > TOKEN_TAGS_BYTES_MAX)
    throw badTags(
      `\`tags\` has ${bytes} bytes as JSON; a token carries ${TOKEN_TAGS_BYTES_MAX} at most. Set the others on the API key, or send them with the request.`,
    );
}

const badTags = (message: string) => apiError('invalid_request', message, { param: 'tags' });
