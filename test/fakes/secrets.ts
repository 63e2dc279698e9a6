// The secret of a gateway under test, as its nodes have it.
import type { SigningSecrets } from '../../src/cluster/bus/signed.ts';

export const SECRETS: SigningSecrets = { secret: Buffer.from('the secret of a gateway under test, on every node') };
