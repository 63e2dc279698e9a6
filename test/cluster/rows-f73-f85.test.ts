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
      [
        'cli/slow/serve-ends.test.ts',
        'drains ${SESSIONS} sessions on SIGTERM: no new ones, every final, 4200 for each, and 0',
      ],
      ['cli/slow/serve-ends.test.ts', 'closes sessions at once on a second SIGTERM, with exit code 0'],
      ['gateway/session-life.test.ts', 'delivers every final and closes with 4200 when its node drains'],
      ['client/reconnect.test.ts', 'leaves a draining node between two turns, and continues on another'],
    ],
  },
  {
    id: 'F74',
    when: 'SIGKILL',
    promise: 'clients see 1006 and come again; the ledger agrees, nothing is overbilled',
    proof: [
      ['cli/slow/serve-ends.test.ts', 'SIGKILL: clients see 1006 at once'],
      ['money/ledger/slow/kills.test.ts', 'the audit agrees, nothing is overbilled'],
      ['cluster/slow/edge-faults.test.ts', 'bills each session at its last checkpoint when started again'],
      ['client/reconnect.test.ts', 'loses no word when a gateway restarts on its port'],
    ],
  },
  {
    id: 'F75',
    when: 'an uncaught error in one session, or nowhere',
    promise: 'only that session ends; where nobody caught it, the process drains and ends with 1',
    proof: [
      ['live/session/faults.test.ts', 'ends with internal_error and 1011 when %s throws, and leaves nothing'],
      ['live/session/faults.test.ts', 'fails when %s throws, and the next one takes over'],
      ['cli/slow/serve-faults.test.ts', 'drains the process: the sessions that are there lose nothing'],
      ['cli/slow/serve-faults.test.ts', 'again and again stops the process'],
    ],
  },
  {
    id: 'F76',
    when: 'the event loop stands still for 3 s',
    promise: 'no sample lost; new sessions are refused above 200 ms of lag, and taken soon after',
    proof: [
      ['cli/slow/serve-faults.test.ts', 'loses no sample and no session; new clients get a retry, and room soon after'],
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
    proof: [
      ['cli/slow/file-handles.test.ts', 'keeps sessions without file handles, and serves new ones when some are free'],
    ],
  },
  {
    id: 'F79',
    when: 'the clock jumps',
    promise: 'durations are monotonic, tokens go by the wall clock',
    proof: [
      [
        'cli/slow/serve-faults.test.ts',
        'keeps sessions and token lifetimes when the clock jumps an hour ahead and two back',
      ],
      ['runtime/telemetry/clock.test.ts', 'time only moves forward, in milliseconds'],
      ['accounts/auth/client-tokens.test.ts', 'works for %d s to the millisecond of its expiry'],
    ],
  },
  {
    id: 'F80',
    when: 'a configuration that cannot be used',
    promise: 'one sentence with the setting and its range, 78, no stack trace, no abort',
    proof: [
      ['cli/slow/bad-configurations.test.ts', 'of them end the start with 78 and one sentence each'],
      ['cli/commands.test.ts', 'says in one sentence that its port is taken, and ends'],
      ['config/config.test.ts', 'hide every secret'],
    ],
  },
  {
    id: 'F81',
    when: 'the vault’s key was changed or lost',
    promise: 'the start is refused; nothing is skipped in silence',
    proof: [
      ['cli/slow/bad-configurations.test.ts', 'ends the start for a changed vault key, and the right one starts again'],
      ['accounts/vault/key-ring.test.ts', 'rejects another key, and a vault without any key'],
    ],
  },
  {
    id: 'F82',
    when: 'a reverse proxy that is set up wrongly, or lies',
    promise: 'a clear answer; nobody’s word for an address counts unless configured; the proxies shown work',
    proof: [
      ['suites/server-adapter/heads.ts', 'in HTTP/1.0'],
      ['suites/server-adapter/handshakes.ts', 'reaches the handler as a GET of the same path without the upgrade'],
      ['http/http/remote-address.test.ts', 'ignores forwarded addresses without trusted proxies'],
      ['deploy/proxy.suite.ts', 'limits by the client’s address, not by its claims'],
      ['deploy/nginx.test.ts', 'keeps nginx from trusting, storing or logging what it should not'],
    ],
  },
  {
    id: 'F83',
    when: 'two nodes of one name, two owners of one database, an old version beside a new one',
    promise: 'the second is refused with one sentence; what a newer version adds is passed over',
    proof: [
      ['cluster/membership.test.ts', 'stays with the first node for a second one, refused after 20 s in one sentence'],
      ['cluster/ownership.test.ts', 'writes nothing more to a shared database once it was overtaken unknowingly'],
      ['cluster/slow/start-faults.test.ts', 'ends, and says why'],
      [
        'cluster/slow/start-faults.test.ts',
        'stops the first of two gateways on one data directory, which writes nothing more',
      ],
      ['live/failover/breakers/breaker-hints.test.ts', 'with members of a newer version is taken'],
      [
        'cluster/slow/versions.test.ts',
        'transcribes on legs of both versions, $keeper keeping the accounts, and bills',
      ],
    ],
  },
  {
    id: 'F84',
    when: 'the log’s disk is full, or its reader is gone',
    promise: 'no session notices, the process goes on and ends in order',
    proof: [
      [
        'cli/slow/serve-faults.test.ts',
        'ends no session on both sides, under a flood of lines, and lets the process exit',
      ],
      ['cli/slow/serve-faults.test.ts', 'ends no session on a full disk, and the process exits in order'],
      [
        'runtime/telemetry/log.test.ts',
        'buffers a mebibyte on a full disk, counts dropped lines, and exits with the process',
      ],
    ],
  },
  {
    id: 'F85',
    when: 'a Node, a library or a system that does not fit',
    promise: 'one sentence before anything else; where only uWebSockets.js does not fit, the other adapter serves',
    proof: [
      ['preflight.test.ts', 'exits with 78 and one sentence, without loading anything'],
      ['node/store/refused.test.ts', 'names a library without its compiled part'],
      ['node/store/refused.test.ts', 'an SQLite that can lose a commit'],
      [
        'http/adapters/open-server.test.ts',
        'takes uWebSockets.js where it can be trusted, and says why where it cannot',
      ],
    ],
  },
];

describe.each(ROWS)('$id, $when: $promise', ({ proof }) => {
  it.each(proof)('%s: %s', (file, name) => {
    expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toContain(name);
  });
});

it('gives every row its proof', () => {
  expect(ROWS.map(({ id }) => id)).toEqual(Array.from({ length: 13 }, (_, index) => `F${73 + index}`));
  expect(ROWS.filter(({ proof }) => proof.length === 0)).toEqual([]);
});
