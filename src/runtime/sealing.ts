// Authenticated encryption, one way for everything that is kept sealed: AES-256-GCM with a fresh nonce, bound to what it belongs to; and
// boxes that one receiver alone can open, by an X25519 exchange of which one side is discarded.
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const SEALING_KEY_BYTES = 32;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** A key for one purpose, out of a secret that has many. */
export function keyFor(purpose: string, secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), purpose, SEALING_KEY_BYTES));
}

/** Nonce, ciphertext and tag. `about` is not in it; the same is needed to open it. */
export function sealBytes(key: Uint8Array, about: string, ...plain: readonly Uint8Array[]): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS);
  cipher.setAAD(Buffer.from(about));
  return Buffer.concat([nonce, ...plain.map((part) => cipher.update(part)), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined for what was sealed with another key, for something else, was changed, or was never sealed. */
export function openBytes(key: Uint8Array, about: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), OPTIONS);
    decipher.setAAD(Buffer.from(about));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const PURPOSE = 'voxgate sealed box v1';
const PUBLIC_BYTES = 32;
/** What comes before the 32 bytes of an X25519 public key in its DER form. */
const SPKI_HEAD = Buffer.from('302a300506032b656e032100', 'hex');

/**
 * Opens boxes that were sealed for it alone, with a key that only the two ends of an X25519 exchange can know, one of which is
 * discarded at once.
 */
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
