// The gateway's secret, which signs client tokens and seals what nodes tell each other: from the configuration, or from a file that is made once and kept private.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { SigningSecrets } from '../../cluster/bus/signed.ts';
import type { Config } from '../../config/schema.ts';
import { loadPrivateFile } from '../../store/private-file.ts';

export { SecretError } from '../../store/private-file.ts';

const FILE_NAME = 'secret';
const SECRET_LENGTH_MIN = 32;
const RANDOM_BYTES = 32;

/**
 * The secret that was configured, or the one in `<directory>/secret`. The file is made with mode 0600 when missing; when two
 * processes start at once, both get the one secret.
 *
 * @throws SecretError when others may read the file, when it is too short, or when it can be neither read nor made
 */
export function loadSecret(configured: string | undefined, directory: string): Uint8Array {
  if (configured !== undefined) return Buffer.from(configured);
  return loadPrivateFile({
    path: join(directory, FILE_NAME),
    what: 'The secret',
    variable: 'VOXGATE_SECRET',
    otherwise: ', or delete it to get a new one',
    make: () => randomBytes(RANDOM_BYTES).toString('base64url'),
    read: (text) =>
      text.length >= SECRET_LENGTH_MIN
        ? { value: Buffer.from(text) }
        : {
            fault: `has fewer than ${SECRET_LENGTH_MIN} characters: delete it to get a new one; client tokens in use end with it.`,
          },
  });
}

/** The same, and the secret before it while it is changed. Throws as `loadSecret` does. */
export function loadSecrets({ secret, secretPrevious, directory }: Config['data']): SigningSecrets {
  return {
    secret: loadSecret(secret, directory),
    previousSecret: secretPrevious === undefined ? undefined : Buffer.from(secretPrevious),
  };
}
