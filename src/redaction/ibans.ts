// IBANs: a country, two check digits and the account, in print or spelt, with the length of the country. The check digits count,
// except behind the word "IBAN".
import { latinLooks } from './characters.ts';
import { cueBefore } from './cues.ts';
import { type Match, matchOf, type Reading } from './match.ts';
import { isSeparator } from './numbers.ts';
import type { Token } from './tokens.ts';

const LENGTHS: Readonly<Record<string, number>> = {
  ...{ ad: 24, ae: 23, al: 28, at: 20, az: 28, ba: 20, be: 16, bg: 22, bh: 22, br: 29, by: 28, ch: 21, cr: 22 },
  ...{ cy: 28, cz: 24, de: 22, dk: 18, do: 28, ee: 20, eg: 29, es: 24, fi: 18, fo: 18, fr: 27, gb: 22, ge: 22 },
  ...{ gi: 23, gl: 18, gr: 27, gt: 28, hr: 21, hu: 28, ie: 22, il: 23, iq: 23, is: 26, it: 27, jo: 30, kw: 30 },
  ...{ kz: 20, lb: 28, lc: 32, li: 21, lt: 20, lu: 20, lv: 21, ly: 25, mc: 27, md: 24, me: 22, mk: 19, mr: 27 },
  ...{ mt: 31, mu: 30, nl: 18, no: 15, pk: 24, pl: 28, ps: 29, pt: 25, qa: 29, ro: 24, rs: 22, sa: 24, sc: 31 },
  ...{ se: 24, si: 19, sk: 24, sm: 27, st: 25, sv: 28, tl: 23, tn: 24, tr: 26, ua: 29, va: 22, vg: 24, xk: 20 },
};
/** Letters of one token within an IBAN: a bank's code. */
const LETTERS_MAX = 6;
const TOKENS_MAX = 90;

export interface Beginning {
  first: Token;
  /** Of its characters; undefined where not all of them are there yet. */
  last: Token | undefined;
  isValid: boolean;
}

export function findIbans(reading: Reading): Match[] {
  const found: Match[] = [];
  const { tokens } = reading;
  for (let at = 0; at < tokens.length; at++) {
    const iban = ibanAt(reading, at);
    if (iban?.last === undefined) continue;
    if (!iban.isValid && cueBefore(tokens, at) !== 'iban') continue;
    found.push(matchOf('iban', iban.first, iban.last));
    while ((tokens[at] as Token).to < iban.last.to) at++;
  }
  return found;
}

/** What begins there as an IBAN does. */
export function ibanAt({ tokens, itemAt }: Reading, at: number): Beginning | undefined {
  const country = countryAt(tokens, at);
  const length = country === undefined ? undefined : LENGTHS[country.name];
  if (country === undefined || length === undefined) return undefined;
  let code = country.name;
  let last: Token | undefined;
  let index = country.next;
  for (let steps = 0; steps < TOKENS_MAX && index < tokens.length && code.length < length; steps++) {
    const token = tokens[index] as Token;
    const item = itemAt.get(index);
    if (item !== undefined) {
      code += item.digits;
      index = item.last + 1;
      last = tokens[item.last];
    } else if (token.kind === 'word' && isCode(latinLooks(token.text)) && code.length >= 4) {
      code += latinLooks(token.text);
      index++;
      last = token;
    } else if (isSeparator(token)) index++;
    else break;
  }
  if (!isBegun(code)) return undefined;
  const first = tokens[at] as Token;
  if (code.length < length) return index >= tokens.length ? { first, last: undefined, isValid: false } : undefined;
  return code.length === length ? { first, last, isValid: passesMod97(code) } : undefined;
}

/** Two letters, in one token or in two. */
function countryAt(tokens: readonly Token[], at: number): { name: string; next: number } | undefined {
  const token = tokens[at];
  if (token?.kind !== 'word') return undefined;
  if (token.text.length === 2) {
    const looks = latinLooks(token.text);
    return Object.hasOwn(LENGTHS, looks) ? { name: looks, next: at + 1 } : undefined;
  }
  const other = tokens[at + 1];
  if (token.text.length !== 1 || other?.kind !== 'word' || other.text.length !== 1) return undefined;
  const name = token.text + other.text;
  return Object.hasOwn(LENGTHS, name) ? { name, next: at + 2 } : undefined;
}

const isCode = (text: string): boolean => text.length <= LETTERS_MAX && /^[a-z]+$/.test(text);

/** The check digits are there. */
const isBegun = (code: string): boolean => /^[a-z]{2}\d\d/.test(code);

function passesMod97(code: string): boolean {
  let rest = 0;
  for (const character of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
