// Languages as Speechmatics writes them: bare codes, with an output locale where spelling has one.

/** https://docs.speechmatics.com/speech-to-text/languages, read 2026-08-13; Mandarin is `cmn` there. */
export const LANGUAGES: readonly string[] =
  `ar ba be bg bn ca cs cy da de el en eo es et eu fa fi fr ga gl he hi hr hu ia id it ja ko lt lv mn mr ms mt nl no pl pt ro ru
  sk sl sv sw ta th tl tr ug uk ur vi yue zh`.split(/\s+/);

const OWN: Readonly<Record<string, string>> = { zh: 'cmn', nb: 'no', nn: 'no', fil: 'tl' };
const LOCALES: readonly string[] = ['en-GB', 'en-US', 'en-AU'];

/** The members that a language becomes. One has to be named: English where none was. */
export function languageOf(language = 'en'): { language: string; output_locale?: string } {
  const [base = 'en'] = language.toLowerCase().split('-');
  const locale = LOCALES.find((each) => each.toLowerCase() === language.toLowerCase());
  return { language: OWN[base] ?? base, ...(locale === undefined ? {} : { output_locale: locale }) };
}

/** The BCP-47 language of a code of theirs. */
export const heardLanguage = (code: string | undefined): string | undefined => (code === 'cmn' ? 'zh' : code);
