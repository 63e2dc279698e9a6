// Which languages Deepgram's models hear, and how a client's BCP-47 tag is named to them.

/** Languages of Flux Multilingual, between which Nova-3 may switch as well. */
export const SWITCHING_LANGUAGES: readonly string[] = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl'];

/** https://developers.deepgram.com/docs/models-languages-overview and its changelog, to September 2026. */
export const NOVA_LANGUAGES: readonly string[] =
  'en es fr de hi ru pt ja it nl ar be bg bn bs ca cs da el et fa fi gu he hr hu id kn ko lt lv mk mr ms ne no pa pl ro sk sl sr sv ta te th tl tr uk ur vi zh'.split(
    ' ',
  );

/** Of the model for all purposes; its variants hear English alone. */
export const NOVA_2_LANGUAGES: readonly string[] =
  'en es fr de hi ru pt ja it nl bg ca cs da el et fi hu id ko lt lv ms no pl ro sk sv th tr uk vi zh'.split(' ');

/** Tags with a region or script that Nova has a model for. Others are sent as their language. */
const NOVA_VARIANTS: readonly string[] =
  'en-US en-AU en-GB en-IN en-NZ es-419 fr-CA gu-IN pt-BR pt-PT de-CH nl-BE sv-SE da-DK ko-KR th-TH zh-CN zh-Hans zh-TW zh-Hant zh-HK'.split(
    ' ',
  );

/** What the model calls the language of a tag; undefined when it does not know it, and hears English instead. */
export function novaLanguage(tag: string, model: string): string | undefined {
  const base = baseOf(tag);
  if (!languagesOf(model).includes(base)) return undefined;
  return NOVA_VARIANTS.find((known) => known.toLowerCase() === tag.toLowerCase()) ?? base;
}

function languagesOf(model: string): readonly string[] {
  if (!model.startsWith('nova-2')) return NOVA_LANGUAGES;
  return model === 'nova-2' ? NOVA_2_LANGUAGES : ['en'];
}

/** What Flux Multilingual is told to expect for a tag; undefined when it does not know the language. */
export function fluxHint(tag: string): string | undefined {
  const base = baseOf(tag);
  return SWITCHING_LANGUAGES.includes(base) ? base : undefined;
}

const baseOf = (tag: string): string => tag.toLowerCase().split('-')[0] as string;
