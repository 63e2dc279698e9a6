// Locales of live sessions, https://docs.aws.amazon.com/transcribe/latest/dg/supported-languages.html, read 2026-11-23. A language
// that is asked for without its region is the first of these.

const LOCALES = (
  'en-US en-GB en-AU en-IN en-IE en-NZ en-AB en-ZA en-WL es-US es-ES fr-FR fr-CA de-DE de-CH it-IT pt-BR pt-PT ja-JP ko-KR zh-CN zh-HK ' +
  'zh-TW hi-IN th-TH ar-SA ar-AE ca-ES nl-NL no-NO sv-SE pl-PL fi-FI af-ZA eu-ES hr-HR cs-CZ da-DK fa-IR gl-ES el-GR he-IL id-ID lv-LV ' +
  'ms-MY ro-RO ru-RU sr-RS sk-SK so-SO tl-PH uk-UA vi-VN zu-ZA'
).split(' ');
const SAME: Readonly<Record<string, string>> = {
  nb: 'no',
  'nb-no': 'no-NO',
  fil: 'tl',
  iw: 'he',
  cmn: 'zh',
  yue: 'zh-HK',
};

const baseOf = (locale: string): string => locale.split('-')[0] as string;

export const LANGUAGES: readonly string[] = [...new Set([...LOCALES.map(baseOf), ...LOCALES])];

/** Among which a language is found where none are named. */
export const USUAL = ['en-US', 'es-US', 'fr-FR', 'de-DE', 'pt-BR'];

/** The locale of a language. */
export function localeOf(language: string): string {
  const asked = SAME[language.toLowerCase()] ?? language;
  const exact = LOCALES.find((locale) => locale.toLowerCase() === asked.toLowerCase());
  return exact ?? LOCALES.find((locale) => baseOf(locale) === baseOf(asked.toLowerCase())) ?? asked;
}

/** Locales of different languages, up to five; undefined for fewer than two, between which there is nothing to find. */
export function severalLocales(languages: readonly string[]): string[] | undefined {
  const byBase = new Map<string, string>();
  for (const locale of languages.map(localeOf)) if (!byBase.has(baseOf(locale))) byBase.set(baseOf(locale), locale);
  return byBase.size < 2 ? undefined : [...byBase.values()].slice(0, 5);
}
