// The tables of README.md that are made from the code: commands, models, errors, close codes,
// configuration. Everything outside the markers is written by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOGUE } from '../src/api/error-catalogue.ts';
import type { Price } from '../src/api/models.ts';
import { commands } from '../src/cli/index.ts';
import { modeText } from '../src/cli/models.ts';
import { configReference } from '../src/config/reference.ts';
import { ADVICE, closeCodes } from '../src/documents/close-codes.ts';
import { providers } from '../src/providers/index.ts';
import type { Generator } from './generator.ts';
import { table } from './table.ts';

const README = 'README.md';

export const reference: Generator = {
  name: 'reference',
  command: 'npm run reference',
  async files() {
    const text = readFileSync(join(import.meta.dirname, '..', README), 'utf8');
    const tables = {
      commands: commandTable(),
      models: modelTable(),
      errors: errorTable(),
      'close-codes': closeCodeTable(),
      config: configReference(),
    };
    return new Map([[README, fillSections(text, tables)]]);
  },
};

/** Puts each section's text between its markers. Throws when a marker is missing. */
export function fillSections(text: string, sections: Readonly<Record<string, string>>): string {
  let filled = text;
  for (const [name, content] of Object.entries(sections)) {
    const opening = `<!-- generated:${name} -->`;
    const closing = `<!-- /generated:${name} -->`;
    const start = filled.indexOf(opening);
    const end = filled.indexOf(closing, start);
    if (start === -1 || end === -1) throw new Error(`${README} lacks ${opening} with ${closing} after it.`);
    filled = `${filled.slice(0, start + opening.length)}\n${content.trim()}\n${filled.slice(end)}`;
  }
  return filled;
}

function commandTable(): string {
  return table(
    ['command', 'what it does'],
    commands.map(({ name, summary }) => [`\`${name}\``, summary]),
  );
}

function errorTable(): string {
  const rows = Object.entries(ERROR_CATALOGUE).map(([code, { type, status, close, advice, when }]) => [
    `\`${code}\``,
    `\`${type}\``,
    String(status ?? '–'),
    String(close ?? '–'),
    ADVICE[advice],
    when,
  ]);
  return table(['code', 'type', 'HTTP', 'close', 'client', 'when'], rows);
}

function closeCodeTable(): string {
  const rows = closeCodes().map(({ close, advice, codes, when }) => [
    String(close),
    ADVICE[advice],
    codes.map((code) => `\`${code}\``).join(', ') || '–',
    codes.length === 0 ? when : 'after an `error` event with one of these codes',
  ]);
  return table(['close code', 'client', 'error codes', 'when'], rows);
}

function modelTable(): string {
  const rows = providers.flatMap(({ models }) =>
    models.map(({ id, modes, live_turns, languages, pricing, description }) => [
      `\`${id}\``,
      modes.map((mode) => modeText(mode, live_turns)).join(', '),
      languageText(languages),
      priceText(pricing.batch),
      priceText(pricing.live),
      description,
    ]),
  );
  return table(['model', 'modes', 'languages', 'batch, USD', 'live, USD', 'what it is'], rows);
}

/** Long lists are for `GET /v1/models`. */
function languageText(languages: readonly string[]): string {
  if (languages.includes('*')) return 'many';
  return languages.length > 10 ? `${languages.length} languages` : languages.join(', ');
}

function priceText(price: Price | undefined): string {
  if (price === undefined) return '–';
  if (price.free) return 'free';
  return `${price.amount} a ${price.unit}${price.metered === undefined ? '' : ' of connection'}`;
}
