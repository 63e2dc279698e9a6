// Words near a number that tell what it is. The nearest one counts.
import type { Token } from './tokens.ts';

export type Cue = 'card' | 'phone' | 'national_id' | 'iban' | 'other';

/** Tokens before a number that are read for what it may be. */
const CUE_TOKENS = 12;

const CUES: ReadonlyMap<string, Cue> = new Map(
  Object.entries({
    card: [
      ...['card', 'cards', 'visa', 'mastercard', 'amex', 'maestro', 'discover', 'credit', 'debit', 'kreditkarte'],
      ...['karte', 'kartennummer', 'carte', 'tarjeta'],
    ],
    phone: [
      ...['phone', 'telephone', 'mobile', 'cell', 'cellphone', 'tel', 'call', 'dial', 'fax', 'whatsapp'],
      ...['landline', 'callback', 'telefon', 'telefonnummer', 'handynummer', 'téléphone', 'teléfono'],
      ...['móvil', 'rufnummer'],
    ],
    national_id: [
      ...[
        'ssn',
        'itin',
        'social',
        'nino',
        'dni',
        'nie',
        'cpf',
        'bsn',
        'aadhaar',
        'steuernummer',
        'steueridentifikationsnummer',
      ],
      ...['burgerservicenummer', 'sozialversicherungsnummer', 'steuer'],
    ],
    iban: ['iban'],
    other: [
      ...['order', 'invoice', 'tracking', 'ticket', 'account', 'reference', 'ref', 'serial', 'code', 'confirmation'],
      ...['policy', 'case', 'part', 'sku', 'model', 'item', 'id', 'parcel', 'shipment', 'booking', 'customer', 'meter'],
      ...['total', 'price', 'population', 'version', 'build', 'isbn', 'ean', 'barcode', 'auftrag', 'bestellung'],
      ...['rechnung', 'commande', 'pedido', 'transaction', 'case', 'claim', 'license', 'licence', 'member', 'loan'],
    ],
  } satisfies Record<Cue, string[]>).flatMap(([cue, words]) => words.map((word) => [word, cue as Cue] as const)),
);

/** Of two words each. */
const PAIRS: ReadonlyMap<string, Cue> = new Map([
  ['national insurance', 'national_id'],
  ['national id', 'national_id'],
  ['tax id', 'national_id'],
  ['taxpayer id', 'national_id'],
  ['steuer id', 'national_id'],
  ['social security', 'national_id'],
  ['social insurance', 'national_id'],
  ['caller id', 'other'],
  ['social media', 'other'],
  ['reach me', 'phone'],
  ['reach us', 'phone'],
  ['text me', 'phone'],
  ['text us', 'phone'],
  ['ring me', 'phone'],
  ['ring us', 'phone'],
  ['my number', 'phone'],
  ['phone number', 'phone'],
  ['account number', 'other'],
]);

/** The nearest word before that token that tells what a number is. */
export function cueBefore(tokens: readonly Token[], at: number): Cue | undefined {
  const until = Math.max(0, at - CUE_TOKENS);
  for (let index = at - 1; index >= until; index--) {
    const token = tokens[index] as Token;
    if (token.kind !== 'word') continue;
    const before = previousWord(tokens, index);
    const cue = PAIRS.get(`${before} ${token.text}`) ?? CUES.get(token.text);
    if (cue !== undefined) return cue;
  }
  return undefined;
}

/** A hyphen between two words is as good as a space. */
function previousWord(tokens: readonly Token[], index: number): string {
  const before = tokens[index - 1];
  if (before?.kind === 'word') return before.text;
  const beyond = tokens[index - 2];
  return before?.text === '-' && beyond?.kind === 'word' ? beyond.text : '';
}
