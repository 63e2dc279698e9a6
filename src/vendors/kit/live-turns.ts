// Models that hear files only, made fit for live sessions: the gateway cuts the audio into utterances, and each is a file of
// its own. What such a model's catalogue row says, and what its legs want; how they work is in src/live/upstream.
import { modelOf } from '../../api/slug.ts';
import type { LiveTiming, ModelCard, Provider } from './provider.ts';

/** Bounds of an utterance, in milliseconds. */
export const UTTERANCE = {
  /** Silence that ends it. */
  silenceMs: 600,
  /** A longer one is cut. */
  longestMs: 20_000,
  /** The transcript has to be there so long after it was requested. */
  answerMs: 30_000,
} as const;

/** Beside the bounds of an utterance: for what is on its way. */
const MARGIN_MS = 4_000;

/** What a leg of such a model wants, whatever the model: it takes audio as it comes, and calls the provider on its own. */
export const UTTERANCE_TIMING: LiveTiming = {
  frame: { minMs: 20, idealMs: 100, maxMs: 1_000, tail: 'short' },
  // The leg holds audio back when the provider is slow.
  speedMax: Number.POSITIVE_INFINITY,
  burstMs: 1_000,
  connectMs: 5_000,
  readyMs: 5_000,
  // What waits when the audio ends is asked for two by two.
  drainMs: 3 * UTTERANCE.answerMs,
  keepAliveMs: undefined,
  // Nothing is heard while somebody speaks, and until the answer is there. A provider that does not answer is noticed by the
  // leg before that; this is for a leg that is gone itself.
  stallMs: UTTERANCE.longestMs + UTTERANCE.silenceMs + UTTERANCE.answerMs + MARGIN_MS,
  answers: 'late',
  formattedWaitMs: 0,
  sessionMaxMs: undefined,
  unconfirmedMax: undefined,
  endpointing: undefined,
  turnPauseMs: Number.POSITIVE_INFINITY,
};

/** Whether the gateway makes the turns of a model's live sessions. */
export const hearsUtterances = ({ live_turns }: Pick<ModelCard, 'live_turns'>): boolean => live_turns === 'gateway';

/** Each utterance would cost as much as the least of a file, and a minute of a session more than it is said to. */
const hasMinimum = ({ pricing }: ModelCard): boolean => pricing.batch?.minimum !== undefined;

/** The provider, with a live mode for each of its models that hears files by HTTP and nothing else. */
export function withLiveTurns(provider: Provider): Provider {
  if (provider.batch?.kind !== 'http') return provider;
  const models = provider.models.map((card) =>
    card.modes.includes('live') || hasMinimum(card) ? card : withLiveMode(card),
  );
  const hearing = models.filter(hearsUtterances).map(({ id }) => modelOf(id));
  if (hearing.length === 0) return provider;
  return {
    ...provider,
    models,
    honours: (option, model, mode) => {
      const isUtterance = mode === 'live' && hearing.includes(model);
      if (isUtterance && provider.optionRows?.[option]?.wholeFile) return false;
      return provider.honours?.(option, model, isUtterance ? 'batch' : mode) ?? true;
    },
  };
}

/** A minute of a session costs what a minute of a file does. */
function withLiveMode(card: ModelCard): ModelCard {
  const { batch } = card.pricing;
  return {
    ...card,
    modes: [...card.modes, 'live'],
    live_turns: 'gateway',
    // Each utterance is a file.
    processing: card.processing.map(({ modes, ...place }) => ({
      ...place,
      ...(modes === undefined ? {} : { modes: modes.includes('batch') ? [...modes, 'live' as const] : modes }),
    })),
    capabilities: { ...card.capabilities, interim_results: false },
    pricing: { ...card.pricing, ...(batch === undefined ? {} : { live: batch }) },
  };
}
