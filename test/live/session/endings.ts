// Every way a session can end, for tests of what is left afterwards.
import { expect } from 'vitest';
import { type RigClient, type RigOptions, SessionRig } from '../../fakes/session-rig.ts';
import { expectNothingLeft, hum } from './support.ts';

/** Of each ending: more than 300 in all. */
const SESSIONS = 30;

export interface Ending {
  ending: string;
  options?: RigOptions;
  params?: Record<string, unknown>;
  end(rig: SessionRig, client: RigClient): void;
  /** Milliseconds until all is over. */
  withinMs: number;
  /** Close code, `session_ended.reason`, code of the error event. */
  told: [number | undefined, string | undefined, string | undefined];
}

export const endings: readonly Ending[] = [
  {
    ending: 'the client closes',
    end: (_, { session }) => session.control({ type: 'close' }),
    withinMs: 500,
    told: [1000, 'client_closed', undefined],
  },
  {
    ending: 'the client is gone',
    end: (_, client) => {
      client.closeCode = 1006;
      client.session.gone();
    },
    withinMs: 500,
    told: [1006, undefined, undefined],
  },
  { ending: 'it is idle', end: () => {}, withinMs: 31_000, told: [4008, 'idle', 'session_idle'] },
  {
    ending: 'it is too long',
    options: { settings: { longestMs: 5_000 } },
    end: () => {},
    withinMs: 6_000,
    told: [4008, 'too_long', 'session_too_long'],
  },
  {
    ending: 'it is aborted',
    end: (_, { session }) => session.abort('message_too_big', 'Too big.'),
    withinMs: 500,
    told: [1009, 'error', 'message_too_big'],
  },
  {
    ending: 'the provider refuses the request',
    params: { fail: { how: 'error', kind: 'caller', at_seconds: 1.4 } },
    end: (_, { session }) => session.audio(hum(1)),
    withinMs: 500,
    told: [4000, 'upstream', 'invalid_provider_params'],
  },
  {
    ending: 'every candidate failed',
    params: { fail: { how: 'close', at_seconds: 1.4 }, turns: [{ text: 'x', seconds: 600 }] },
    end: (_, { session }) => session.audio(hum(1)),
    withinMs: 3_000,
    told: [4101, 'upstream', 'upstream_exhausted'],
  },
  {
    ending: 'the node drains',
    options: { settings: { drainMs: 2_000 } },
    end: (rig) => void rig.sessions.drain(),
    // They are told in turn, and have two seconds each.
    withinMs: 6_000,
    told: [4200, 'draining', 'node_draining'],
  },
  {
    ending: 'the node stops',
    end: (rig) => rig.sessions.close(),
    withinMs: 500,
    told: [4200, 'draining', 'node_draining'],
  },
  {
    ending: 'its key is revoked',
    end: (rig) => rig.sessions.revoke('key_1'),
    withinMs: 500,
    told: [4001, 'error', 'key_revoked'],
  },
  {
    ending: 'the client does not read',
    options: { settings: { unreadBytesMax: 10, unreadEventsMax: 1 } },
    end: (_, client) => {
      client.stuck = true;
      client.session.audio(hum(9));
    },
    withinMs: 500,
    told: [4011, 'error', 'slow_consumer'],
  },
];

export async function run({ options, params, end, withinMs }: Ending, sessions = SESSIONS): Promise<RigClient[]> {
  const rig = new SessionRig(options);
  const clients: RigClient[] = [];
  for (let opened = 0; opened < sessions; opened++) {
    const client = await rig.open({ providerParams: { turns: [{ text: 'a b', seconds: 1 }], ...params } });
    client.session.audio(hum(1.2));
    clients.push(client);
  }
  for (const client of clients) end(rig, client);
  await rig.advance(withinMs, Math.min(withinMs, 500));
  for (const client of clients) if (client.summary === undefined) client.session.control({ type: 'close' });
  await rig.advance(500, 500);
  expect(rig.faults).toEqual([]);
  expect(clients.map(({ released }) => released)).toEqual(clients.map(() => 1));
  await expectNothingLeft(rig);
  return clients;
}
