// What a process meets, rows F73 to F85: what each promises, and the tests that prove it. They are elsewhere, beside what they
// test; here it is checked that each is still there under its name.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Row {
  id: string;
  /** What happens. */
  when: string;
  promise: string;
  /** A file below test/, and a part of the name of a test there. */
  proof: readonly (readonly [file: string, name: string])[];
}

const ROWS: readonly Row[] = [
  {
    id: 'F73',
    when: 'SIGTERM with live sessions',
    promise: 'readiness off, nobody new, every final, 4200, exit 0; a second signal waits for nobody',
    proof: [
      ['cli/slow/serve-ends.test.ts', 'sessions in mid-turn: nobody new, every final, 4200 for each, and 0'],
      ['cli/slow/serve-ends.test.ts', 'a second SIGTERM waits for nobody'],
      ['live/session-life.test.ts', 'delivers every final and closes with 4200 when its node drains'],
      ['client/reconnect.test.ts', 'a node that drains is left between two turns, and another goes on'],
    ],
  },
  {
    id: 'F74',
    when: 'SIGKILL',
    promise: 'clients see 1006 and come again; the ledger agrees, nothing is overbilled',
    proof: [
      ['cli/slow/serve-ends.test.ts', 'SIGKILL: clients see 1006 at once'],
      ['ledger/slow/kills.test.ts', 'the audit agrees, nothing is overbilled'],
      ['cluster/slow/edge-faults.test.ts', 'and started again bills each session at its last checkpoint'],
      ['client/reconnect.test.ts', 'a gateway that is stopped and started again on its port loses no word'],
    ],
  },
  {
    id: 'F75',
    when: 'an uncaught error in one session, or nowhere',
    promise: 'only that session ends; where nobody caught it, the process drains and ends with 1',
    proof: [
      ['session/faults.test.ts', 'ends with internal_error and 1011 when %s throws, and leaves nothing'],
      ['session/faults.test.ts', 'fails when %s throws, and the next one takes over'],
      ['cli/slow/serve-faults.test.ts', 'drains the process: the sessions that are there lose nothing'],
      ['cli/slow/serve-faults.test.ts', 'again and again stops the process'],
    ],
  },
  {
    id: 'F76',
    when: 'the event loop stands still for 3 s',
    promise: 'no sample lost; new sessions are refused above 200 ms of lag, and taken soon after',
    proof: [
      ['cli/slow/serve-faults.test.ts', 'loses no sample and no session; who comes right after is told to come again'],
      ['runtime/overload-monitor.test.ts', 'reports a lack of time after a standstill of 3 s, for half a second'],
    ],
  },
  {
    id: 'F77',
    when: 'memory near its limit',
    promise: 'from 90 % on nobody new; from 95 % on the newest are asked to go elsewhere, at a turn’s end',
    proof: [
      [
        'cli/slow/serve-faults.test.ts',
        'refuses new sessions from 90 % on, asks the newest to go elsewhere from 95 % on',
      ],
      [
        'runtime/overload-monitor.test.ts',
        'lacks memory from 90 %, requests room from 95 % once a second, and recovers',
      ],
    ],
  },
  {
    id: 'F78',
    when: 'no file handle is left',
    promise: 'sessions go on, and the process recovers by itself',
    proof: [['cli/slow/file-handles.test.ts', 'without file handles no session ends']],
  },
  {
    id: 'F79',
    when: 'the clock jumps',
    promise: 'durations are monotonic, tokens go by the wall clock',
    proof: [
      ['cli/slow/serve-faults.test.ts', 'a clock that jumps an hour ahead and two back ends no session'],
      ['telemetry/clock.test.ts', 'time only moves forward, in milliseconds'],
      ['auth/client-tokens.test.ts', 'is good until the millisecond it says, and then it is not'],
    ],
  },
  {
    id: 'F80',
    when: 'a configuration that cannot be used',
    promise: 'one sentence with the setting and its range, 78, no stack trace, no abort',
    proof: [
      ['cli/slow/bad-configurations.test.ts', 'of them end the start with 78 and one sentence each'],
      ['cli/commands.test.ts', 'says in one sentence that its port is taken, and ends'],
      ['config/config.test.ts', 'no refusal shows a secret'],
    ],
  },
  {
    id: 'F81',
    when: 'the vault’s key was changed or lost',
    promise: 'the start is refused; nothing is skipped in silence',
    proof: [
      ['cli/slow/bad-configurations.test.ts', 'a vault key that was changed, and the right one starts again'],
      ['vault/key-ring.test.ts', 'refuses another key, and a vault without any key of its own'],
    ],
  },
  {
    id: 'F82',
    when: 'a reverse proxy that is set up wrongly, or lies',
    promise: 'a clear answer; nobody’s word for an address counts unless configured; the proxies shown work',
    proof: [
      ['suites/door/heads.ts', 'in HTTP/1.0'],
      ['suites/door/handshakes.ts', 'reaches the handler as a GET of the same path without the upgrade'],
      ['edge/http/remote-address.test.ts', 'ignores forwarded addresses without trusted proxies'],
      ['deploy/proxy.suite.ts', 'limits count by the address of the client, whatever it claims to be'],
      ['deploy/nginx.test.ts', 'nothing of the file lets nginx believe, keep or log what it should not'],
    ],
  },
  {
    id: 'F83',
    when: 'two nodes of one name, two owners of one database, an old version beside a new one',
    promise: 'the second is refused with one sentence; what a newer version adds is passed over',
    proof: [
      ['cluster/membership.test.ts', 'is refused to a second node that runs beside the first one'],
      ['cluster/ownership.test.ts', 'of one database: whoever was overtaken without knowing it writes nothing more'],
      ['cluster/slow/start-faults.test.ts', 'ends, and says why'],
      ['cluster/slow/start-faults.test.ts', 'the one that came first writes nothing more, and ends'],
      ['failover/breakers/breaker-hints.test.ts', 'with members of a newer version is taken'],
      ['cluster/slow/versions.test.ts', 'sessions of both are whole on legs of either, and billed'],
    ],
  },
  {
    id: 'F84',
    when: 'the log’s disk is full, or its reader is gone',
    promise: 'no session notices, the process goes on and ends in order',
    proof: [
      ['cli/slow/serve-faults.test.ts', 'on both sides, under a flood of lines, ends no session'],
      ['cli/slow/serve-faults.test.ts', 'on a disk that is full ends no session'],
      ['telemetry/log.test.ts', 'a full disk lets a mebibyte wait, counts what is dropped, and ends with the process'],
    ],
  },
  {
    id: 'F85',
    when: 'a Node, a library or a system that does not fit',
    promise: 'one sentence before anything else; where only uWebSockets.js does not fit, the other door serves',
    proof: [
      ['preflight.test.ts', 'exits with 78 and one sentence, without loading anything'],
      ['store/sqlite/refused.test.ts', 'the library without its compiled part'],
      ['store/sqlite/refused.test.ts', 'an SQLite that can lose a commit'],
      ['edge/doors/open-door.test.ts', 'takes uWebSockets.js where it can be trusted, and says why where it cannot'],
    ],
  },
];

describe.each(ROWS)('$id, $when: $promise', ({ proof }) => {
  it.each(proof)('%s: %s', (file, name) => {
    expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toContain(name);
  });
});

it('every row has its proof', () => {
  expect(ROWS.map(({ id }) => id)).toEqual(Array.from({ length: 13 }, (_, index) => `F${73 + index}`));
  expect(ROWS.filter(({ proof }) => proof.length === 0)).toEqual([]);
});
