// What is kept sealed of webhooks: the secrets of endpoints and the bodies of posts, with a key of the gateway, so that neither the
// database nor its log contains any.
import { keyFor, openBytes, sealBytes } from '../runtime/sealing.ts';

const PURPOSE = 'voxgate webhooks v1';

export interface WebhookSealOptions {
  secret: Uint8Array;
  /** Opens what was sealed before the secret of the gateway was changed; seals nothing. */
  previousSecret?: Uint8Array | undefined;
}

/** Who owns what is sealed, and its id: `we_…` of a secret, `msg_…` of a payload. */
export interface Sealed {
  organisationId: string;
  id: string;
}

export class WebhookSeal {
  readonly #current: Uint8Array;
  readonly #previous: Uint8Array | undefined;

  constructor({ secret, previousSecret }: WebhookSealOptions) {
    this.#current = keyFor(PURPOSE, secret);
    this.#previous = previousSecret === undefined ? undefined : keyFor(PURPOSE, previousSecret);
  }

  seal(about: Sealed, text: string): Uint8Array {
    return new Uint8Array(sealBytes(this.#current, boundTo(about), Buffer.from(text)));
  }

  /** Undefined for what was sealed with neither secret, or for something else. */
  open(about: Sealed, sealed: Uint8Array): string | undefined {
    return this.#openWith(this.#current, about, sealed) ?? this.#openWith(this.#previous, about, sealed);
  }

  /** The same under the current key; undefined where it is already, or does not open. */
  resealed(about: Sealed, sealed: Uint8Array): Uint8Array | undefined {
    if (this.#openWith(this.#current, about, sealed) !== undefined) return undefined;
    const text = this.#openWith(this.#previous, about, sealed);
    return text === undefined ? undefined : this.seal(about, text);
  }

  #openWith(key: Uint8Array | undefined, about: Sealed, sealed: Uint8Array): string | undefined {
    return key && openBytes(key, boundTo(about), sealed)?.toString();
  }
}

const boundTo = ({ organisationId, id }: Sealed): string => JSON.stringify([PURPOSE, organisationId, id]);
