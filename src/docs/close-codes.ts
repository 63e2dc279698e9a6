// With which code a live session is closed, and what a client may do then: the catalogue's rows by their close code.
import { type Advice, ERROR_CATALOGUE, type ErrorCode } from '../api/error-catalogue.ts';
import { grouped } from './schemas/schemas.ts';

export interface CloseCode {
  close: number;
  advice: Advice | 'none';
  /** The codes of the `error` event that comes before; none where the session ended in order. */
  codes: readonly ErrorCode[];
  when: string;
}

const NORMAL: CloseCode = {
  close: 1000,
  advice: 'none',
  codes: [],
  when: 'The session ended normally: after `close`, everything was delivered.',
};

const TRY_LATER: CloseCode = {
  close: 1013,
  advice: 'back_off',
  codes: [],
  when: 'Too many messages wait for the session’s node. The session continues: reconnect with the resume token.',
};

const RESTART: CloseCode = {
  close: 1012,
  advice: 'reconnect',
  codes: [],
  when: 'The node that relays to the session’s node is shutting down. The session continues: reconnect with the resume token.',
};

/** In rising order. */
export function closeCodes(): readonly CloseCode[] {
  const rows = Object.entries(ERROR_CATALOGUE).map(([code, row]) => ({ code: code as ErrorCode, ...row }));
  const refused = [...grouped(rows, ({ close }) => close)].flatMap(([close, each]) =>
    close === null ? [] : [closeCode(close, each)],
  );
  return [NORMAL, RESTART, TRY_LATER, ...refused].sort((one, other) => one.close - other.close);
}

type Row = { code: ErrorCode; advice: Advice; when: string };

const closeCode = (close: number, rows: readonly Row[]): CloseCode => ({
  close,
  advice: rows[0]?.advice ?? 'none',
  codes: rows.map(({ code }) => code),
  when: rows.map(({ when }) => when).join(' '),
});

/** What a client should do, in words. */
export const ADVICE: Readonly<Record<CloseCode['advice'], string>> = {
  none: 'nothing',
  stop: 'do not retry unchanged',
  back_off: 'retry with back-off',
  reconnect: 'reconnect at once',
};
