// A box that one receiver alone can open: sealed with a key that only the two ends of an X25519 exchange can know, one of which
// is thrown away at once.
import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { keyFor, openBytes, sealBytes } from './sealing.ts';

const PURPOSE = 'voxgate sealed box v1';
const PUBLIC_BYTES = 32;
/** What comes before the 32 bytes of an X25519 public key in its DER form. */
const SPKI_HEAD = Buffer.from('302a300506032b656e032100', 'hex');

export interface BoxReceiver {
  /** 32 bytes; public. */
  readonly publicKey: Uint8Array;
  /** Undefined when it was sealed for another receiver or purpose, or was altered. */
  open(about: string, box: Uint8Array): Buffer | undefined;
}

/** A receiver with a new key pair, which never leaves the process. */
export function newBoxReceiver(): BoxReceiver {
  const pair = generateKeyPairSync('x25519');
  const publicKey = rawOf(pair.publicKey);
  return {
    publicKey,
    open(about, box) {
      if (box.byteLength <= PUBLIC_BYTES) return undefined;
      const sender = box.subarray(0, PUBLIC_BYTES);
      const key = sharedKey(pair.privateKey, sender, sender, publicKey);
      return key && openBytes(key, about, box.subarray(PUBLIC_BYTES));
    },
  };
}

/**
 * The box: the sender's public key of this one time, and what is sealed. Undefined for a public key that is none.
 *
 * @param publicKey of the receiver
 * @param about not in the box; the same is needed to open it
 */
export function sealBox(publicKey: Uint8Array, about: string, plain: Uint8Array): Buffer | undefined {
  const once = generateKeyPairSync('x25519');
  const sender = rawOf(once.publicKey);
  const key = sharedKey(once.privateKey, publicKey, sender, publicKey);
  return key && Buffer.concat([sender, sealBytes(key, about, plain)]);
}

/** Bound to both public keys, so that neither can be put in the place of another. */
function sharedKey(
  own: KeyObject,
  other: Uint8Array,
  sender: Uint8Array,
  receiver: Uint8Array,
): Uint8Array | undefined {
  if (other.byteLength !== PUBLIC_BYTES) return undefined;
  try {
    const key = Buffer.concat([SPKI_HEAD, other]);
    const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
    const secret = diffieHellman({ privateKey: own, publicKey });
    return keyFor(PURPOSE, Buffer.concat([secret, sender, receiver]));
  } catch {
    // A point of low order has no shared secret.
    return undefined;
  }
}

const rawOf = (key: KeyObject): Uint8Array =>
  new Uint8Array(key.export({ format: 'der', type: 'spki' }).subarray(SPKI_HEAD.length));
