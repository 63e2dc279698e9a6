// docs/ends.md: every way that a session or a file can end, what is billed of it, and what its client is told.
import { ERROR_CATALOGUE } from '../src/api/error-catalogue.ts';
import { type CutCharge, SESSION_ENDS } from '../src/session/billing/end-charges.ts';
import { FILE_ENDS, LIVE_ENDS_ELSEWHERE } from '../src/session/billing/end-rows.ts';
import type { Generator } from './generator.ts';
import { table } from './table.ts';

export const ends: Generator = {
  name: 'ends',
  command: 'npx tsx scripts/generate.ts ends',
  files: async () => new Map([['docs/ends.md', text()]]),
};

const IN_ORDER = 'All audio, less what credit did not reach';
const CUT: Record<CutCharge, string> = {
  sent: 'what was sent to a leg that works, or was answered for',
  answered: 'what was answered for',
};

function text(): string {
  const live = SESSION_ENDS.map(({ when, reason, code, inOrder, cut }) => [
    when,
    `\`${reason}\``,
    [inOrder ? `${IN_ORDER}.` : '', cut === null ? '' : `Cut short: ${CUT[cut]}.`].join(' ').trim(),
    code === null ? '`session_ended`, 1000' : `\`error\` ${code}, \`session_ended\`, ${ERROR_CATALOGUE[code].close}`,
  ]);
  const others = (rows: typeof FILE_ENDS) =>
    rows.map(({ when, reason, billed, told }) => [when, reason === null ? '–' : `\`${reason}\``, billed, told]);
  return `<!-- Made by \`${ends.command}\` from src/session/billing/end-charges.ts and end-rows.ts. Do not edit by hand. -->
# What every end is billed

Whatever the client does, audio that a provider was sent and answered for is billed, and never more than was sent. *Answered
for* is audio that a final or an interim of some leg covers. An end is *in order* when all audio has its finals; any other one
cuts the session short, and a \`discontinuity\` names the audio without a final. \`session_ended\` tells the usage and the
cost exactly as they are settled. Audio is billed once, also where it was sent again to another leg.

Where a model's price is \`metered\` by the connection, the time that connections to it were open is billed instead, if that is
more than its audio: from the moment that a connection is ready until the gateway lets go of it, by the gateway's clock, whatever
the end. It is never more than what is held: a session whose money is out ends with \`credit\`, also without any audio.

## Live sessions

${table(['how it ends', '`reason`', 'billed', 'the client is told'], live)}

## Live sessions that do not end by themselves

${table(['how it ends', 'in the ledger', 'billed', 'the client is told'], others(LIVE_ENDS_ELSEWHERE))}

## Files

${table(['how it ends', 'in the ledger', 'billed', 'the client is told'], others(FILE_ENDS))}
`;
}
