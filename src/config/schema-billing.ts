// The part of the declaration that is about money: what things cost, and how long usage may go unwritten.
import { Type } from '@sinclair/typebox';
import { integer, optionalText } from './schema-types.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const Billing = Type.Object({
  pricesFile: optionalText(Type.String({ minLength: 1, pattern: '^[^\\0]*$' }), {
    env: 'VOXGATE_PRICES_FILE',
    accepts: 'the path of a readable JSON file',
    description:
      'Prices in USD that replace those of the catalogue, by model and mode: ' +
      '`{"deepgram/nova-3": {"live": {"unit": "minute", "amount": "0.006", "minimum": "0.01"}, "batch": null}}`; ' +
      'null removes a price: the model can then not be used in that mode.',
  }),
  marginPercent: Type.String({
    pattern: '^(\\d{1,3}(\\.\\d{1,4})?|1000(\\.0{1,4})?)$',
    default: '0',
    env: 'VOXGATE_MARGIN_PERCENT',
    accepts: 'a decimal text from 0 to 1000 with at most four places',
    description:
      'Added to every price that is not free, including your own prices; rounded half-up to whole micro-USD.',
  }),
  usageJournalSyncMs: integer(
    'VOXGATE_USAGE_JOURNAL_SYNC_MS',
    100,
    5 * SECOND,
    4 * SECOND,
    'How often usage of live sessions is written to disk. A killed process loses unwritten usage, which is not billed.',
  ),
  ledgerGraceMs: integer(
    'VOXGATE_LEDGER_GRACE_MS',
    0,
    4 * HOUR,
    10 * MINUTE,
    'Audio that a live session may send while the ledger does not answer.',
  ),
  untakenFilesFree: integer(
    'VOXGATE_UNTAKEN_FILES_FREE',
    0,
    1_000,
    3,
    'Files per day, organisation and process that are free if the client disconnects before the answer. Further ones are completed and charged.',
  ),
  usageHistoryDays: integer(
    'VOXGATE_USAGE_HISTORY_DAYS',
    0,
    366,
    14,
    'How long the usage of settled sessions is kept outside the ledger, for a ledger that is restored from a backup.',
  ),
});
