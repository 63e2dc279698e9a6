// The schema's history, oldest first. A database at version n has had the first n of these; none is ever changed again.
import { organisationsAndKeys } from './0001-to-0010/0001-organisations-and-keys.ts';
import { auditAndOutbox } from './0001-to-0010/0002-audit-and-outbox.ts';
import { keySettings } from './0001-to-0010/0003-key-settings.ts';
import { ledger } from './0001-to-0010/0004-ledger.ts';
import { accounts } from './0001-to-0010/0005-accounts.ts';
import { vault } from './0001-to-0010/0006-vault.ts';
import { idempotency } from './0001-to-0010/0007-idempotency.ts';
import { ownership } from './0001-to-0010/0008-ownership.ts';
import { charges } from './0001-to-0010/0009-charges.ts';
import { ledgerIdentity } from './0001-to-0010/0010-ledger-identity.ts';
import { connectionTime } from './0011-connection-time.ts';
import { invitations } from './0012-invitations.ts';
import { teams } from './0013-teams.ts';
import { sessionEvents } from './0014-session-events.ts';
import { members } from './0015-members.ts';
import { places } from './0016-places.ts';
import { latency } from './0017-latency.ts';
import { aliases } from './0018-aliases.ts';
import { rates } from './0019-rates.ts';
import { showTranscripts } from './0020-show-transcripts.ts';

export const MIGRATIONS: readonly string[] = [
  organisationsAndKeys,
  auditAndOutbox,
  keySettings,
  ledger,
  accounts,
  vault,
  idempotency,
  ownership,
  charges,
  ledgerIdentity,
  connectionTime,
  invitations,
  teams,
  sessionEvents,
  members,
  places,
  latency,
  aliases,
  rates,
  showTranscripts,
];
