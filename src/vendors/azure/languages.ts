// Locales of Azure's speech to text, https://learn.microsoft.com/azure/ai-services/speech-service/language-support, read 2026-11-23.
// A language that is asked for without its region is the first of these.

const REGIONS =
  'af-ZA am-ET ar-EG ar-AE ar-BH ar-DZ ar-IL ar-IQ ar-JO ar-KW ar-LB ar-LY ar-MA ar-OM ar-PS ar-QA ar-SA ar-SY ar-TN ar-YE as-IN az-AZ ' +
  'bg-BG bn-IN bs-BA ca-ES cs-CZ cy-GB da-DK de-DE de-AT de-CH el-GR en-US en-AU en-CA en-GB en-GH en-HK en-IE en-IN en-KE en-NG en-NZ ' +
  'en-PH en-SG en-TZ en-ZA es-ES es-AR es-BO es-CL es-CO es-CR es-CU es-DO es-EC es-GQ es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-PY ' +
  'es-SV es-US es-UY es-VE et-EE eu-ES fa-IR fi-FI fil-PH fr-FR fr-BE fr-CA fr-CH ga-IE gl-ES gu-IN he-IL hi-IN hr-HR hu-HU hy-AM id-ID ' +
  'is-IS it-IT it-CH ja-JP jv-ID ka-GE kk-KZ km-KH kn-IN ko-KR lo-LA lt-LT lv-LV mk-MK ml-IN mn-MN mr-IN ms-MY mt-MT my-MM nb-NO ne-NP ' +
  'nl-NL nl-BE or-IN pa-IN pl-PL ps-AF pt-BR pt-PT ro-RO ru-RU si-LK sk-SK sl-SI so-SO sq-AL sr-RS sv-SE sw-KE sw-TZ ta-IN te-IN th-TH ' +
  'tr-TR uk-UA ur-IN uz-UZ vi-VN zh-CN zh-HK zh-TW zu-ZA';
const LOCALES = REGIONS.split(' ');
/** Names of the same language. */
const SAME: Readonly<Record<string, string>> = { no: 'nb', tl: 'fil', iw: 'he', in: 'id', cmn: 'zh', yue: 'zh-HK' };

const baseOf = (locale: string): string => locale.split('-')[0] as string;

export const LANGUAGES: readonly string[] = [...new Set([...LOCALES.map(baseOf), ...LOCALES])];

/** The locale of a language, which the service has to be told; undefined where none is named. */
export function localeOf(language: string | undefined): string | undefined {
  if (language === undefined || language === 'auto') return undefined;
  const asked = SAME[language.toLowerCase()] ?? language;
  const exact = LOCALES.find((locale) => locale.toLowerCase() === asked.toLowerCase());
  return exact ?? LOCALES.find((locale) => baseOf(locale) === baseOf(asked.toLowerCase())) ?? asked;
}
