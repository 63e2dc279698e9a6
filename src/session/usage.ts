// Who transcribed how much of a session: each sample belongs to the model that produced the final covering it, and what no
// final covers to the model that heard it last. Samples in, rows for the client and the bill out.
import type { UsageRow } from '../api/listen.ts';
import type { Price } from '../api/models.ts';
import { costMicroUsd, usdOf } from '../billing/price.ts';

export class Usage {
  private readonly sampleRate: number;
  private readonly samples = new Map<string, number>();
  private attributed = 0;
  private last: string | undefined;

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
  }

  /** A leg of the model begins to hear. */
  heardBy(model: string): void {
    this.last = model;
  }

  /** Everything up to the sample is covered by a final of the model. */
  covered(sample: number, model: string): void {
    const more = sample - this.attributed;
    if (more <= 0) return;
    this.samples.set(model, (this.samples.get(model) ?? 0) + more);
    this.attributed = sample;
  }

  /** Everything up to the sample was lost, as the client was told: nobody is charged for it. */
  skip(sample: number): void {
    this.attributed = Math.max(this.attributed, sample);
  }

  /** The rows and their sum, the audio without a final included when some model heard it. */
  total(
    receivedSamples: number,
    priceOf: (model: string) => Price | undefined,
  ): { usage: UsageRow[]; cost_usd: string } {
    if (this.last !== undefined) this.covered(receivedSamples, this.last);
    let sum = 0n;
    const usage = [...this.samples].map(([model, samples]) => {
      const ms = (samples / this.sampleRate) * 1000;
      const price = priceOf(model);
      const cost = price === undefined ? 0n : costMicroUsd(price, ms);
      sum += cost;
      return { model, seconds: Math.round(ms) / 1000, cost_usd: usdOf(cost), byok: false };
    });
    return { usage, cost_usd: usdOf(sum) };
  }
}
