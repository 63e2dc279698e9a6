// What the charge of a file rests on, and every charge that was more than what was held for it, with the reason why it was
// made all the same. Both only grow. Of what was charged before, the reason is not known: `not_kept`.
import { onlyGrows } from './0004-ledger.ts';

const NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

export const charges = `
  CREATE TABLE file_charges (
    session      INTEGER PRIMARY KEY REFERENCES sessions (number),
    audio_ms     INTEGER NOT NULL CHECK (audio_ms >= 0),
    channels     INTEGER NOT NULL CHECK (channels >= 1),
    audio_ms_max INTEGER NOT NULL CHECK (audio_ms_max >= 0),
    claimed_ms   INTEGER CHECK (claimed_ms > audio_ms_max)
  ) STRICT;
  ${onlyGrows('file_charges')}

  CREATE TABLE charges_beyond_holds (
    number           INTEGER PRIMARY KEY,
    session          INTEGER NOT NULL REFERENCES sessions (number),
    organisation_id  TEXT NOT NULL REFERENCES balances (account),
    at               TEXT NOT NULL,
    held_micro_usd   INTEGER NOT NULL CHECK (held_micro_usd >= 0),
    posted_micro_usd INTEGER NOT NULL CHECK (posted_micro_usd > held_micro_usd),
    reason           TEXT NOT NULL CHECK (reason IN ('never_held', 'lease_over', 'on_trust', 'less_held', 'not_kept'))
  ) STRICT;
  CREATE INDEX charges_beyond_holds_by_session ON charges_beyond_holds (session);
  ${onlyGrows('charges_beyond_holds')}
  CREATE INDEX holds_by_session ON holds (session);

  INSERT INTO charges_beyond_holds (session, organisation_id, at, held_micro_usd, posted_micro_usd, reason)
    SELECT session, organisation_id, ${NOW}, micro_usd, posted_micro_usd, 'not_kept'
    FROM hold_ends JOIN holds ON number = hold WHERE posted_micro_usd > micro_usd;
  INSERT INTO charges_beyond_holds (session, organisation_id, at, held_micro_usd, posted_micro_usd, reason)
    SELECT session, debit, ${NOW}, 0, sum(micro_usd) - posted, 'not_kept'
    FROM (SELECT session, debit, micro_usd, (SELECT coalesce(sum(posted_micro_usd), 0)
        FROM holds JOIN hold_ends ON hold = holds.number WHERE holds.session = transfers.session) AS posted
      FROM transfers WHERE kind = 'usage')
    GROUP BY session HAVING sum(micro_usd) > posted;
`;
