// The pages that are tables: errors and close codes, models, configuration.
import { ERROR_CATALOGUE } from '../../api/error-catalogue.ts';
import { configFields } from '../../config/fields.ts';
import { CONFIG_FILE_VARIABLE } from '../../config/load.ts';
import type { ModelCard, Provider } from '../../providers/provider.ts';
import { ADVICE, closeCodes } from '../close-codes.ts';
import { escaped, heading, inline, prose, table } from './html.ts';

const quoted = (text: string): string => `<code>${escaped(text)}</code>`;
const anchored = (id: string, text: string): string => `<code id="${escaped(id)}">${escaped(text)}</code>`;

export function errorsPage(): string {
  const rows = Object.entries(ERROR_CATALOGUE).map(([code, { type, status, close, advice, when }]) => [
    anchored(code, code),
    quoted(type),
    String(status ?? '–'),
    String(close ?? '–'),
    escaped(ADVICE[advice]),
    inline(when),
  ]);
  return [
    prose(
      'Every refusal is `{"error": {"type", "code", "message", "param", "request_id"}}`: the body over HTTP, an `error` event before the close on a WebSocket. `param` names the field at fault; the message says what was wrong, what is accepted and what to do.',
    ),
    heading(2, 'codes', 'Error codes'),
    table(['code', 'type', 'HTTP', 'close', 'client', 'when'], rows),
    heading(2, 'close-codes', 'Close codes'),
    closeCodeTable(),
  ].join('\n');
}

export function closeCodeTable(): string {
  const rows = closeCodes().map(({ close, advice, codes, when }) => [
    anchored(`close-${close}`, String(close)),
    escaped(ADVICE[advice]),
    codes.map(quoted).join(' '),
    inline(when),
  ]);
  return table(['close code', 'client', 'error codes', 'when'], rows);
}

/** Prices and availability depend on the operator and the caller: they are told to whoever has a key. */
export function modelsPage(providers: readonly Provider[]): string {
  const sections = providers.map(
    ({ name, title, models }) =>
      `${heading(2, name, title)}\n${table(
        ['model', 'modes', 'languages', 'can', 'what it is'],
        models.map((card) => [
          anchored(card.id, card.id),
          escaped(card.modes.join(', ')),
          escaped(languageText(card)),
          escaped(abilityText(card)),
          inline(card.description),
        ]),
      )}`,
  );
  return [
    prose(
      'The models that this gateway knows. What they cost here, and whether you can use them, [GET /v1/models](/docs/rest#listModels) says to whoever has a key, with the schema of `provider_params` for each; those are also among the [schemas](/docs/rest#schemas).',
    ),
    ...sections,
  ].join('\n');
}

const languageText = ({ languages }: ModelCard): string => (languages.includes('*') ? 'many' : languages.join(', '));

const abilityText = ({ capabilities }: ModelCard): string =>
  Object.entries(capabilities)
    .filter(([, can]) => can)
    .map(([name]) => name.replaceAll('_', ' '))
    .join(', ');

export function configurationPage(): string {
  const rows = configFields(['<provider>']).map(({ env, path, accepts, defaultText, description }) => [
    anchored(env, env),
    quoted(path.join('.')),
    inline(accepts),
    inline(defaultText),
    inline(description),
  ]);
  return [
    prose(
      `For whoever runs the gateway. Later sources win: the defaults, then the JSON file that \`${CONFIG_FILE_VARIABLE}\` names, then the environment. An empty variable counts as absent; unknown variables and members are refused.`,
    ),
    table(['variable', 'in the file', 'accepted', 'default', 'meaning'], rows),
  ].join('\n');
}
