// Ten minutes of speech without a pause, whose providers are lost at any moment of it, drawn from seeds: every word is in one final,
// and what is billed is what finals cover. UNBROKEN_SEEDS=<count> plays so many for each provider. A failure names its seed.
import { describe, expect, test } from 'vitest';
import { type Random, seeded } from '../../../fakes/random.ts';
import { type Caller, Incident } from '../incident.ts';
import { PROTOCOLS, providerOf, rateOf } from '../protocols.ts';
import { unbrokenAudio, unbrokenEar, WORD_SECONDS, wordAt } from './unbroken.ts';

const SEEDS = Number(process.env.UNBROKEN_SEEDS ?? 1);
const WORDS = 1_200;
const SPOKEN_SECONDS = WORDS * WORD_SECONDS;
/** Providers that settle words of a turn while it goes on do so. */
const SETTLING = ['deepgram', 'soniox', 'speechmatics', 'kyutai'];
/** Takes over last, and is never lost. */
const LAST = ['deepgram/nova-3', 'openai/gpt-4o-transcribe', 'soniox/stt-rt-v5'];
const LOSSES = ['drop', 'close', 'stall', 'freeze'] as const;
/** Providers tell times in milliseconds. */
const ROUNDING_SECONDS = 0.002;

interface Loss {
  provider: string;
  fault: string;
}

/** The model, others that it falls back to, and how each but the last is lost. */
function drawn(slug: string, random: Random): { chain: string[]; losses: Loss[] } {
  const others = LAST.filter((last) => providerOf(last) !== providerOf(slug) && rateOf([slug, last]) !== undefined);
  const first = random.pick(others);
  const second = others.find((other) => other !== first && rateOf([slug, first, other]) !== undefined);
  const chain = [slug, first, ...(second !== undefined && random.next() < 0.5 ? [second] : [])];
  const losses = chain.slice(0, -1).map((lost) => ({
    provider: providerOf(lost),
    fault: `${random.pick(LOSSES)}-after=${random.integer(20_000, SPOKEN_SECONDS * 1_000 - 1_000)}ms`,
  }));
  return { chain, losses };
}

async function play(chain: readonly string[], losses: readonly Loss[]): Promise<Caller> {
  const faults: Record<string, string[]> = {};
  for (const provider of chain.map(providerOf)) faults[provider] = SETTLING.includes(provider) ? ['settles'] : [];
  for (const { provider, fault } of losses) faults[provider]?.push(fault);
  const incident = new Incident({
    speech: { audio: (rate) => unbrokenAudio(WORDS, rate), ear: unbrokenEar },
    faults,
    dials: Object.fromEntries(losses.map(({ provider }) => [provider, ['none', 'refuse']])),
  });
  const caller = await incident.play(chain);
  await incident.close();
  return caller;
}

function expectWhole({ client }: Caller): void {
  const words = client.finals.flatMap(({ text }) => text.split(' ')).filter((word) => word !== '');
  const expected = Array.from({ length: WORDS }, (_, index) => wordAt(index));
  const at = words.findIndex((word, index) => word.toLowerCase().replace(/\W/g, '') !== expected[index]);
  expect(at < 0 ? [] : words.slice(Math.max(0, at - 2), at + 3), `${words.length} words, wrong from ${at}`).toEqual([]);
  expect(words).toHaveLength(WORDS);
  expect(client.of('discontinuity')).toEqual([]);
  expect(client.closeCode).toBe(1000);
}

/** All of the audio, once, each part at the model whose final covers it. */
function expectBill({ client }: Caller): void {
  const usage = client.of('session_ended')[0]?.usage ?? [];
  for (const { model, seconds } of usage) {
    const finals = client.finals.filter((final) => final.model === model);
    const covered = finals.reduce((sum, { start, end }) => sum + end - start, 0);
    // The silence behind the last word is billed as well, and belongs to no final.
    expect(seconds).toBeGreaterThanOrEqual(covered - ROUNDING_SECONDS);
    expect(seconds).toBeLessThanOrEqual(covered + 1 + ROUNDING_SECONDS);
  }
  const billed = usage.reduce((sum, { seconds }) => sum + seconds, 0);
  expect(Math.abs(billed - SPOKEN_SECONDS - 1)).toBeLessThan(ROUNDING_SECONDS * usage.length);
}

describe.each(PROTOCOLS.map(({ slug }, index) => [slug, index] as const))('%s', (slug, index) => {
  test('loses no word of ten minutes of unbroken speech, doubles none, and bills what finals cover', async () => {
    for (let round = 0; round < SEEDS; round++) {
      const seed = index + round * PROTOCOLS.length;
      const { chain, losses } = drawn(slug, seeded(seed));
      const caller = await play(chain, losses);
      try {
        expectWhole(caller);
        expectBill(caller);
      } catch (error) {
        expect.fail(`seed ${seed}, ${chain}, ${JSON.stringify(losses)}: ${error}`);
      }
    }
  }, 300_000);
});
