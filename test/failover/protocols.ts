// Every live protocol, and what a session needs beside it to be failed over.
import { assemblyai } from '../../src/providers/assemblyai/index.ts';
import { deepgram } from '../../src/providers/deepgram/index.ts';
import { openai } from '../../src/providers/openai/index.ts';
import type { LiveTiming, Provider } from '../../src/providers/provider.ts';
import { RATE } from './spoken.ts';

export const PROVIDERS: readonly Provider[] = [deepgram, assemblyai, openai];

export interface Protocol {
  slug: string;
  provider: string;
  /** A model of another provider. */
  fallback: string;
  timing: LiveTiming;
}

const protocol = (slug: string): Protocol => {
  const [name, model] = slug.split('/') as [string, string];
  const provider = PROVIDERS.find((each) => each.name === name) as Provider;
  const timing = (provider.live as NonNullable<Provider['live']>).timing({
    model,
    sampleRate: RATE,
    language: undefined,
    interimResults: true,
    diarization: false,
    params: {},
    access: { baseUrl: undefined, credential: undefined },
  });
  return {
    slug,
    provider: name,
    fallback: name === 'deepgram' ? 'openai/gpt-4o-transcribe' : 'deepgram/nova-3',
    timing,
  };
};

export const PROTOCOLS: readonly Protocol[] = [
  'deepgram/nova-3',
  'deepgram/flux-general-en',
  'assemblyai/universal-streaming-english',
  'assemblyai/u3-rt-pro',
  'openai/gpt-4o-transcribe',
  'openai/gpt-live-transcribe',
].map(protocol);

/** The provider's part of a slug. */
export const providerOf = (slug: string): string => slug.slice(0, slug.indexOf('/'));
