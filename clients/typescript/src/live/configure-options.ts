// The options of `session.configure`, checked, and as the message that the gateway reads.
import { VoxgateError } from '../errors.ts';
import { fallbacksText } from '../params.ts';
import { refuseUnknown } from '../settings.ts';
import { VOCABULARY, vocabularyTexts } from '../vocabulary.ts';
import type { ListenOptions } from './listen-options.ts';

/** So often the gateway takes it in one session. */
export const CHANGES_MAX = 100;

type Changeable =
  | 'model'
  | 'fallbacks'
  | 'prefer'
  | 'price'
  | 'providerParams'
  | 'returnToPrimary'
  | 'standby'
  | 'language'
  | 'languages'
  | 'prompt'
  | 'keyterms'
  | 'redact'
  | 'vocabularyBoost'
  | 'replace';

/** What is changed; null takes an option back, and what is absent stays. Another model begins without `providerParams`. */
export type ConfigureOptions = {
  [Name in Exclude<Changeable, 'model'>]?: ListenOptions[Name] | null;
} & Pick<Partial<ListenOptions>, 'model'>;

export type ConfigureMessage = { type: 'configure' } & Record<string, unknown>;

const KNOWN: readonly Changeable[] = [
  'model',
  'fallbacks',
  'prefer',
  'price',
  'providerParams',
  'returnToPrimary',
  'standby',
  'language',
  ...VOCABULARY,
] as const;

/** Throws an InvalidRequestError that names an option which cannot be changed. */
export function configureMessage(changes: ConfigureOptions): ConfigureMessage {
  refuseUnknown('configure', changes, KNOWN);
  const { model, fallbacks, prefer, price, providerParams: provider_params, language } = changes;
  const { returnToPrimary: return_to_primary, standby } = changes;
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null));
  const texts = {
    return_to_primary,
    standby,
    fallbacks: fallbacks?.length === 0 ? [] : fallbacksText(fallbacks ?? undefined),
    ...vocabularyTexts(given),
  };
  const taken = Object.entries(changes).flatMap(([name, value]) => (value === null ? [[wireName(name), null]] : []));
  return { type: 'configure', model, prefer, price, provider_params, language, ...texts, ...Object.fromEntries(taken) };
}

const wireName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function tooManyChanges(): VoxgateError {
  return new VoxgateError(`A session can be changed ${CHANGES_MAX} times. Open another one for more.`, {
    code: 'too_many_changes',
  });
}
