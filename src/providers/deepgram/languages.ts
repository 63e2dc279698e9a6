// Which languages Deepgram's models hear, and how a client's BCP-47 tag is named to them.

/** Languages of Flux Multilingual, between which Nova-3 may switch as well. */
export const SWITCHING_LANGUAGES: readonly string[] = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl'];

/** https://developers.deepgram.com/docs/models-languages-overview and its changelog, to September 2026. */
export const NOVA_LANGUAGES: readonly string[] =
  'en es fr de hi ru pt ja it nl ar be bg bn bs ca cs da el et fa fi gu he hr hu id kn ko lt lv mk mr ms ne no pa pl ro sk sl sr sv ta te th tl tr uk ur vi zh'.split(
    ' ',
  );

/** Tags with a region or script that Nova-3 has a model for. Others are sent as their language. */
const NOVA_VARIANTS: readonly string[] =
  'en-US en-AU en-GB en-IN en-NZ es-419 fr-CA gu-IN pt-BR pt-PT de-CH nl-BE sv-SE da-DK ko-KR th-TH zh-CN zh-Hans zh-TW zh-Hant zh-HK'.split(
    ' ',
  );

/** What Nova calls the language of a tag; undefined when it does not know it, and hears English instead. */
export function novaLanguage(tag: string): string | undefined {
  const variant = NOVA_VARIANTS.find((known) => known.toLowerCase() === tag.toLowerCase());
  const base = baseOf(tag);
  return variant ?? (NOVA_LANGUAGES.includes(base) ? base : undefined);
}

/** What Flux Multilingual is told to expect for a tag; undefined when it does not know the language. */
export function fluxHint(tag: string): string | undefined {
  const base = baseOf(tag);
  return SWITCHING_LANGUAGES.includes(base) ? base : undefined;
}

const baseOf = (tag: string): string => tag.toLowerCase().split('-')[0] as string;
