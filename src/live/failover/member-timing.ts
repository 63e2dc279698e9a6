import { modelOf } from '../../api/slug.ts';
import { hearsUtterances, UTTERANCE_TIMING } from '../../vendors/live-turns.ts';
import type { LiveTiming } from '../../vendors/provider.ts';
import { type Ask, addressOf, type ChainDependencies, type ChainMember } from './chain.ts';

/** What a member wants of its audio and its time, for what is asked of it. */
export function timingOf(
  { provider, card, slug, sampleRate, params }: ChainMember,
  { language, diarization }: Pick<Ask, 'language' | 'diarization'>,
  access: ChainDependencies['access'],
): LiveTiming {
  if (hearsUtterances(card)) return UTTERANCE_TIMING;
  if (provider.live === undefined) throw new Error(`${slug} has no live mode, and was let into a live chain.`);
  const model = modelOf(slug);
  return provider.live(model).timing({
    model,
    sampleRate,
    language,
    interimResults: true,
    diarization,
    params,
    access: addressOf(access(provider.name)),
  });
}
