// The catalogue of errors, and the close codes of live sessions.
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import { ADVICE, closeCodes } from '../../src/docs/asyncapi.ts';
import { page } from './page.ts';

const errorRows = () =>
  Object.entries(ERROR_CATALOGUE).map(([code, { type, status, close, advice, when }]) => [
    `\`${code}\``,
    `\`${type}\``,
    String(status ?? '–'),
    String(close ?? '–'),
    ADVICE[advice],
    when,
  ]);

const closeCodeRows = () =>
  closeCodes().map(({ close, advice, codes, when }) => [
    `\`${close}\``,
    ADVICE[advice],
    codes.map((code) => `\`${code}\``).join(', ') || '–',
    codes.length === 0 ? when : 'after an `error` event with one of these codes',
  ]);

export const errorPage = (): string =>
  page('Errors and close codes', 'src/api/error-catalogue.ts', [
    `Every refusal is \`{"error": {"type", "code", "message", "param", "request_id"}}\`: the body over HTTP, an \`error\` event before the
close on a WebSocket. \`param\` names the wrong field. The message says what was wrong, what is accepted and what to do.`,
    '## Error codes',
    { head: ['code', 'type', 'HTTP', 'close', 'client', 'when'], rows: errorRows() },
    '## Close codes',
    'The range says what to do: **40xx** do not retry unchanged, **41xx** retry with back-off, **42xx** reconnect at once.',
    { head: ['close code', 'client', 'error codes', 'when'], rows: closeCodeRows() },
  ]);
