// The languages of the Whisper family: codes as clients name them, and the English names that `verbose_json` uses.

const NAMES: Readonly<Record<string, string>> = {
  af: 'afrikaans',
  am: 'amharic',
  ar: 'arabic',
  as: 'assamese',
  az: 'azerbaijani',
  ba: 'bashkir',
  be: 'belarusian',
  bg: 'bulgarian',
  bn: 'bengali',
  bo: 'tibetan',
  br: 'breton',
  bs: 'bosnian',
  ca: 'catalan',
  cs: 'czech',
  cy: 'welsh',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  et: 'estonian',
  eu: 'basque',
  fa: 'persian',
  fi: 'finnish',
  fo: 'faroese',
  fr: 'french',
  gl: 'galician',
  gu: 'gujarati',
  ha: 'hausa',
  haw: 'hawaiian',
  he: 'hebrew',
  hi: 'hindi',
  hr: 'croatian',
  ht: 'haitian creole',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  is: 'icelandic',
  it: 'italian',
  ja: 'japanese',
  jv: 'javanese',
  ka: 'georgian',
  kk: 'kazakh',
  km: 'khmer',
  kn: 'kannada',
  ko: 'korean',
  la: 'latin',
  lb: 'luxembourgish',
  ln: 'lingala',
  lo: 'lao',
  lt: 'lithuanian',
  lv: 'latvian',
  mg: 'malagasy',
  mi: 'maori',
  mk: 'macedonian',
  ml: 'malayalam',
  mn: 'mongolian',
  mr: 'marathi',
  ms: 'malay',
  mt: 'maltese',
  my: 'myanmar',
  ne: 'nepali',
  nl: 'dutch',
  nn: 'nynorsk',
  no: 'norwegian',
  oc: 'occitan',
  pa: 'punjabi',
  pl: 'polish',
  ps: 'pashto',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sa: 'sanskrit',
  sd: 'sindhi',
  si: 'sinhala',
  sk: 'slovak',
  sl: 'slovenian',
  sn: 'shona',
  so: 'somali',
  sq: 'albanian',
  sr: 'serbian',
  su: 'sundanese',
  sv: 'swedish',
  sw: 'swahili',
  ta: 'tamil',
  te: 'telugu',
  tg: 'tajik',
  th: 'thai',
  tk: 'turkmen',
  tl: 'tagalog',
  tr: 'turkish',
  tt: 'tatar',
  uk: 'ukrainian',
  ur: 'urdu',
  uz: 'uzbek',
  vi: 'vietnamese',
  yi: 'yiddish',
  yo: 'yoruba',
  zh: 'chinese',
};

/** BCP-47 codes of the languages that the Whisper family hears. */
export const LANGUAGES: readonly string[] = Object.keys(NAMES);

const CODES = new Map(Object.entries(NAMES).map(([code, name]) => [name, code]));

/** The code of a language that is told by its English name, or by a code; undefined where it is neither. */
export function languageCode(name: string): string | undefined {
  const told = name.trim().toLowerCase();
  return CODES.get(told) ?? (/^[a-z]{2,3}$/.test(told) ? told : undefined);
}

const OTHER_NAMES = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard' });

/** The English name of a language, whatever its region, in lower case; the code itself where none is known. */
export function languageName(code: string): string {
  const base = code.toLowerCase().split('-')[0] as string;
  if (Object.hasOwn(NAMES, base)) return NAMES[base] as string;
  return base === 'und' || !/^[a-z]{2,3}$/.test(base) ? code : (OTHER_NAMES.of(base) as string).toLowerCase();
}

/** ISO-639-1 of what a client requested; undefined leaves the choice to the model. */
export function baseLanguage(language: string | undefined): string | undefined {
  return language === undefined || language === 'auto' ? undefined : language.toLowerCase().split('-')[0];
}

/** The language with a region: its own, or the one where most people speak it. What is not a language stays as it is. */
export function regional(language: string): string {
  if (language.includes('-')) return language;
  try {
    const { region } = new Intl.Locale(language).maximize();
    return region === undefined ? language : `${language}-${region}`;
  } catch {
    return language;
  }
}
