// Every way that a session or a file can end, what is billed of it, and what its client is told.
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import {
  type CutCharge,
  FILE_ENDS,
  LIVE_ENDS_ELSEWHERE,
  SESSION_ENDS,
} from '../../src/live/session/billing/end-charges.ts';
import { page } from './page.ts';

const IN_ORDER = 'All audio that the credit covered';
const CUT: Record<CutCharge, string> = {
  sent: 'audio that was sent to a working leg, or answered for',
  answered: 'audio that was answered for',
  finals: 'audio with a final',
};

const HEAD = ['how it ends', 'in the ledger', 'billed', 'what the client receives'];

export function endPage(): string {
  const live = SESSION_ENDS.map(({ when, reason, code, inOrder, cut }) => [
    when,
    `\`${reason}\``,
    [inOrder ? `${IN_ORDER}.` : '', cut === null ? '' : `Cut short: ${CUT[cut]}.`].join(' ').trim(),
    code === null ? '`session_ended`, 1000' : `\`error\` ${code}, \`session_ended\`, ${ERROR_CATALOGUE[code].close}`,
  ]);
  const others = (rows: typeof FILE_ENDS) =>
    rows.map(({ when, reason, billed, told }) => [when, reason === null ? '–' : `\`${reason}\``, billed, told]);
  return page('What every end is billed', 'src/live/session/billing/end-charges.ts', [
    `You pay for audio that a provider received and answered for, and never for more than you sent. *Answered for* means that a final or
an interim of some leg covers the audio. If a provider or the gateway causes the end, you pay only for audio with a final. A leg is one connection to a provider. An end is *in order* when all audio has its finals.
Any other end cuts the session short, and a \`discontinuity\` names the audio without a final. \`session_ended\` contains the usage
and the cost exactly as they are settled. Audio is billed once, even if it was replayed to another leg.

If a model's price is \`metered\` by the connection, you pay for the time that connections to it were open, if that is more than its
audio. The time runs from when a connection is ready until the gateway closes it, by the gateway's clock, for every kind of end. It
is never more than the hold: a session without money ends with \`credit\`, even without any audio.`,
    '## Live sessions',
    { head: ['how it ends', '`reason`', 'billed', 'what the client receives'], rows: live },
    '## Live sessions with other ends',
    { head: HEAD, rows: others(LIVE_ENDS_ELSEWHERE) },
    '## Files',
    { head: HEAD, rows: others(FILE_ENDS) },
  ]);
}
