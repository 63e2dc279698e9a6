// The live protocols of the registry, each by one model, and what a session needs beside it to be failed over. One protocol of
// each shape plays every row of the matrices. With `ALL_DRAWN=true`, all others play those that a row's file puts first.
import { providers } from '../../../src/vendors/index.ts';
import type { LegRequest, LiveCodec, LiveTiming, ModelCard, Provider } from '../../../src/vendors/kit/provider.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { ALL_DRAWN } from '../../fakes/drawn.ts';
import { RATE } from './spoken.ts';

export const PROVIDERS: readonly Provider[] = providers.filter(({ name }) =>
  simulators.some(({ provider }) => provider === name),
);

/** The provider's part of a slug. */
export const providerOf = (slug: string): string => slug.split('/')[0] as string;

/**
 * Hertz that all of the models take, so that what they are sent is not converted: numbers and tones do not survive that.
 * Undefined where there is no such rate.
 */
export function rateOf(slugs: readonly string[]): number | undefined {
  const cards = PROVIDERS.flatMap(({ models }) => models).filter(({ id }) => slugs.includes(id));
  return [RATE, 16_000].find((rate) => cards.every(({ audio }) => audio.sample_rates.includes(rate)));
}

export interface Protocol {
  slug: string;
  provider: string;
  /** A model of another provider, which takes audio faster than it is spoken and ends turns itself. */
  fallback: string;
  timing: LiveTiming;
  /** The provider is ready when the connection is open, and says nothing of it. */
  readyAtOnce: boolean;
  /** Its WebSocket is asked for by a request. */
  isAsked: boolean;
  /** Its models' turns are ended by the gateway. */
  turnsOfGateway: boolean;
  /** It tells words before they are final. */
  givesInterims: boolean;
  /** Every row is played with it: it is the one of its shape. */
  isFull: boolean;
}

const requestOf = (slug: string): LegRequest => ({
  ...{ model: slug.slice(slug.indexOf('/') + 1), sampleRate: rateOf([slug]) ?? RATE, language: undefined },
  ...{ interimResults: true, diarization: false, params: {}, access: { baseUrl: undefined, credential: undefined } },
});

type Spoken = Omit<Protocol, 'fallback' | 'isFull'>;

function spokenBy({ id, capabilities }: ModelCard, { name, live }: Provider): Spoken {
  const request = requestOf(id);
  const codec = live?.(request.model) as LiveCodec;
  const timing = codec.timing(request);
  const { state, endpoint } = codec.open(request);
  return {
    slug: id,
    provider: name,
    timing,
    isAsked: endpoint.kind === 'request',
    readyAtOnce: codec.opened?.(state).some(({ type }) => type === 'ready') === true,
    turnsOfGateway: Number.isFinite(timing.endpointing?.silenceMs),
    givesInterims: capabilities.interim_results,
  };
}

/** Models of one provider that want the same of their time speak the same protocol: the first stands for them. */
const spoken: readonly Spoken[] = PROVIDERS.flatMap((provider) => {
  const live = provider.models.filter(({ modes, live_turns }) => modes.includes('live') && live_turns !== 'gateway');
  const known = new Map<string, Spoken>();
  for (const each of live.map((card) => spokenBy(card, provider))) {
    const protocol = JSON.stringify({ ...each, slug: '' });
    if (!known.has(protocol)) known.set(protocol, each);
  }
  return [...known.values()];
});

/** What a session sees of a protocol: who says that a leg is ready, and who ends turns. */
const shapeOf = ({ readyAtOnce, turnsOfGateway }: Spoken): string => `${readyAtOnce} ${turnsOfGateway}`;

/** For each shape the first protocol of a provider that stands for none yet, or else the first. */
const full = new Map<string, Spoken>();
for (const isNew of [true, false]) {
  for (const each of spoken) {
    const stands = [...full.values()].some(({ provider }) => provider === each.provider);
    if (!full.has(shapeOf(each)) && !(isNew && stands)) full.set(shapeOf(each), each);
  }
}

const isFallback = ({ timing, turnsOfGateway }: Spoken): boolean => timing.speedMax > 1 && !turnsOfGateway;

export const PROTOCOLS: readonly Protocol[] = spoken.map((each) => ({
  ...each,
  fallback: spoken.find((other) => other.provider !== each.provider && isFallback(other))?.slug as string,
  isFull: full.get(shapeOf(each)) === each,
}));

export const FULL: readonly Protocol[] = PROTOCOLS.filter(({ isFull }) => isFull);

/** Of the default tier: the suite of each provider tests what only its own protocol has. */
export const DRAWN: readonly Protocol[] = ALL_DRAWN ? PROTOCOLS : FULL;

/** Whether a frame asks a provider for the end of a turn: a message that does, or as much silence as does. */
export function finalizeOf({ slug, provider }: Protocol): (frame: string | Uint8Array) => boolean {
  const codec = PROVIDERS.find(({ name }) => name === provider)?.live?.(requestOf(slug).model) as LiveCodec;
  const { state } = codec.open(requestOf(slug));
  codec.audio(state, new Uint8Array(2 * RATE));
  const sent = codec.finalize(state).flatMap((step) => (step.type === 'send' ? [step.frame] : []));
  const message = sent.find((frame) => !(frame instanceof Uint8Array));
  if (message !== undefined) {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    // Of a message with a type that is enough: what stands beside it may differ.
    const [known] = /"(?:type|message)":"[^"]*"/.exec(text) ?? [];
    return (frame) => typeof frame === 'string' && (known === undefined ? frame === text : frame.includes(known));
  }
  const [silence] = sent as Uint8Array[];
  if (silence === undefined) throw new Error(`${slug} has no way to end a turn.`);
  return (frame) => frame.length === silence.length && typeof frame !== 'string';
}
