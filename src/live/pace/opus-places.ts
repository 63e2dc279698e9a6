// Opus decoders of this process, each of which has a memory of its own.
import { refuse } from '../../api/errors.ts';
import { type OpusDecoder, openOpusDecoder } from '../../audio/codecs/opus-decoder.ts';
import { FairQuota } from '../../runtime/limits/fair-quota.ts';

/** Each takes 90 KiB, and 10 GiB of addresses, of which a process has 128 TiB. */
const DECODERS_MAX = 2_000;
const WORDS = {
  share:
    'Your organisation has as many sessions in Opus on this node as one organisation may have. Close one, or send `encoding=linear16`.',
  full: `This node decodes its limit of ${DECODERS_MAX} sessions in Opus. Try again shortly.`,
};

export class OpusPlaces {
  readonly #quota: FairQuota;

  constructor(decodersMax = DECODERS_MAX) {
    this.#quota = new FairQuota(decodersMax);
  }

  get used(): number {
    return this.#quota.used;
  }

  /** Rejects with a Refusal where there is no place for one more. */
  async open(organisationId: string, sampleRate: number): Promise<OpusDecoder> {
    const shortage = this.#quota.take(organisationId);
    if (shortage !== undefined) {
      const code = shortage === 'full' ? 'overloaded' : 'too_many_sessions';
      throw refuse(code, WORDS[shortage], { retryAfterSeconds: 1 });
    }
    return openOpusDecoder(sampleRate, () => this.#quota.giveBack(organisationId));
  }
}
