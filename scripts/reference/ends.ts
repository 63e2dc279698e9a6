// Every way that a session or a file can end, what is billed of it, and what its client is told.
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import { type CutCharge, SESSION_ENDS } from '../../src/session/billing/end-charges.ts';
import { FILE_ENDS, LIVE_ENDS_ELSEWHERE } from '../../src/session/billing/end-rows.ts';
import { page } from './page.ts';

const IN_ORDER = 'All audio, less what credit did not reach';
const CUT: Record<CutCharge, string> = {
  sent: 'what was sent to a leg that works, or was answered for',
  answered: 'what was answered for',
};

const HEAD = ['how it ends', 'in the ledger', 'billed', 'the client is told'];

export function endPage(): string {
  const live = SESSION_ENDS.map(({ when, reason, code, inOrder, cut }) => [
    when,
    `\`${reason}\``,
    [inOrder ? `${IN_ORDER}.` : '', cut === null ? '' : `Cut short: ${CUT[cut]}.`].join(' ').trim(),
    code === null ? '`session_ended`, 1000' : `\`error\` ${code}, \`session_ended\`, ${ERROR_CATALOGUE[code].close}`,
  ]);
  const others = (rows: typeof FILE_ENDS) =>
    rows.map(({ when, reason, billed, told }) => [when, reason === null ? '–' : `\`${reason}\``, billed, told]);
  return page('What every end is billed', 'src/session/billing/end-charges.ts and end-rows.ts', [
    `Whatever the client does, audio that a provider was sent and answered for is billed, and never more than was sent. *Answered
for* is audio that a final or an interim of some leg covers. An end is *in order* when all audio has its finals; any other one
cuts the session short, and a \`discontinuity\` names the audio without a final. \`session_ended\` tells the usage and the
cost exactly as they are settled. Audio is billed once, also where it was sent again to another leg.

Where a model's price is \`metered\` by the connection, the time that connections to it were open is billed instead, if that is
more than its audio: from the moment that a connection is ready until the gateway lets go of it, by the gateway's clock, whatever
the end. It is never more than what is held: a session whose money is out ends with \`credit\`, also without any audio.`,
    '## Live sessions',
    { head: ['how it ends', '`reason`', 'billed', 'the client is told'], rows: live },
    '## Live sessions that do not end by themselves',
    { head: HEAD, rows: others(LIVE_ENDS_ELSEWHERE) },
    '## Files',
    { head: HEAD, rows: others(FILE_ENDS) },
  ]);
}
