// A socket whose client says its key in a message: what it holds until then, and every way in which it is refused.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { apiError } from '../../src/api/errors.ts';
import { answerDialect } from '../../src/compat/live.ts';
import type { ServerSocket, SocketHandlers, SocketPace } from '../../src/http/server.ts';
import { UnauthenticatedSockets } from '../../src/live/socket/open-sockets.ts';
import type { Conversation, DeferredAuthEndpoint, Dialect } from '../../src/vendors/compat/dialect.ts';
import { callerOf } from '../fakes/api-keys.ts';
import { listenRig, request } from '../live/socket/listen-rig.ts';
import { vendorDependencies } from './vendor-dependencies.ts';

/** A key is said as `key …`, the session is asked for as `model …`; `finalize` is the one other text with a meaning. */
const endpoint: DeferredAuthEndpoint = {
  open: (): Conversation => ({
    *text(text) {
      const [word, named] = text.split(' ');
      if (word === 'model') yield { type: 'start', request: { model: named, parameters: new Map(), own: {} } };
      else if (word === 'finalize') yield { type: 'tell', message: { type: 'finalize' } };
    },
    *binary(bytes) {
      yield { type: 'audio', bytes };
    },
    encode: () => [],
    close: (code, reason) => ({ code, reason }),
    refused: ({ code }) => ({ messages: [`conversation ${code}`], code: 4999, reason: code }),
  }),
  refused: ({ code }) => ({ messages: [`endpoint ${code}`], code: 4998, reason: code }),
  late: (text) => (text.startsWith('key') ? { credential: text.slice(4) } : undefined),
};
const dialect: Dialect = {
  ...{ name: 'late', title: 'Late', provider: 'loopback', model: 'script', names: {}, files: {} },
  live: { '/late': endpoint },
  credential: ({ headers }) => ({ credential: headers.get('authorization') }),
  refusal: ({ status, code }) => ({ status, headers: {}, body: code }),
};

/** A connection, and what it was told. */
async function connected(altered: Parameters<typeof listenRig>[0] = {}) {
  const rig = listenRig(altered);
  const told: string[] = [];
  const socket = {
    ping: () => {},
    send: (text: string) => told.push(text),
    close: (code: number, reason: string) => told.push(`close ${code} ${reason}`),
  } as unknown as ServerSocket;
  const connect = async (remoteAddress = '192.0.2.7', headers = new Map<string, string>()) => {
    const asked = { ...request, path: '/compat/late/late', headers, remoteAddress };
    const answer = await answerDialect(dialect, '/late', asked, 'req_1', vendorDependencies(rig.dependencies));
    if (!('accept' in answer)) throw new Error('The handshake was refused.');
    const accept: SocketHandlers & { pace?: SocketPace } = answer.accept;
    return { ...rig, told, socket, accept, pace: answer.pace as SocketPace };
  };
  const client = await connect();
  client.accept.open(socket);
  return {
    ...client,
    connect,
    say: (text: string) => client.accept.message(socket, Buffer.from(text), false),
    send: (bytes: number) => client.accept.message(socket, new Uint8Array(bytes), true),
    leave: () => client.accept.closed(socket, 1006, ''),
    held: () => [rig.dependencies.late.size, rig.dependencies.late.bytes, rig.dependencies.paces.size],
  };
}
const NOTHING_HELD = [0, 0, 0];
/** What is judged is judged in a few turns of promises. */
const judged = () => turn();

/** A verdict that the test gives. */
function pending() {
  let answer: (caller: ReturnType<typeof callerOf>) => void = () => {};
  let refused: (error: unknown) => void = () => {};
  const verdict = new Promise<ReturnType<typeof callerOf>>((resolve, reject) => {
    answer = resolve;
    refused = reject;
  });
  return { judge: () => verdict, good: () => answer(callerOf()), bad: (error: unknown) => refused(error) };
}

describe('a socket without a key', () => {
  it('authenticates by a message, then replays everything received meanwhile in order', async () => {
    const asked: unknown[] = [];
    const verdict = pending();
    const judge = (...of: unknown[]) => {
      asked.push(of);
      return verdict.judge();
    };
    const { say, send, heard, held } = await connected({ judge: judge as never });
    say('hello');
    say('key one');
    say('model loopback/script');
    send(640);
    say('finalize');
    send(320);
    expect(held()).toEqual([1, 4 * 1024 + 5 + 7 + 21 + 8 + 960 + 2 * 1024, 1]);
    verdict.good();
    await judged();
    await judged();
    expect(asked).toEqual([['one', '192.0.2.7', undefined]]);
    expect(heard).toEqual(['open', 'audio 640', 'finalize', 'audio 320']);
    expect(held().slice(0, 2)).toEqual([0, 0]);
    send(100);
    expect(heard.at(-1)).toBe('audio 100');
  });

  it('authenticates at its handshake where that has the key', async () => {
    const { connect, dependencies } = await connected();
    const { accept } = await connect('192.0.2.8', new Map([['authorization', 'one']]));
    expect(dependencies.late.size).toBe(1);
    accept.closed({} as ServerSocket, 1006, '');
  });

  it('ends with its session once it has one', async () => {
    const { say, leave, heard, held } = await connected();
    say('key one');
    await judged();
    say('model loopback/script');
    await judged();
    leave();
    expect(heard).toEqual(['open', 'gone']);
    expect(held()).toEqual(NOTHING_HELD);
  });
});

describe('a refusal in the vendor’s words, after which nothing is held', () => {
  type Client = Awaited<ReturnType<typeof connected>>;
  it.each<[string, string, (client: Client) => void]>([
    ['for audio before the key', 'missing_credential', ({ send }) => send(2)],
    ['for a text of more than 64 KiB before the key', 'message_too_big', ({ say }) => say('x'.repeat(65_536))],
    [
      'for many texts before the key',
      'message_too_big',
      ({ say }) => {
        for (let count = 0; count < 64; count++) say('');
        say('');
      },
    ],
    [
      'for a large message that begins before the key',
      'message_too_big',
      ({ accept, socket }) => accept.arriving?.(socket, 2_000_000, false),
    ],
    [
      'for a large message that begins while the key is judged',
      'message_too_big',
      ({ say, accept, socket }) => {
        say('key one');
        accept.arriving?.(socket, 2_000_000, true);
      },
    ],
    [
      'for more than 1 MiB while the key is judged',
      'message_too_big',
      ({ say, send }) => {
        say('key one');
        send(1_048_576);
      },
    ],
    ['when no key comes in time', 'request_timeout', ({ clock }) => clock.increment(10_000)],
    [
      'for more messages than a socket may send',
      'rate_limit_exceeded',
      ({ pace }) => {
        while (pace.take(1, false, false) !== Number.POSITIVE_INFINITY);
        pace.exceeded();
      },
    ],
  ])('comes %s', async (_, code, act) => {
    const client = await connected();
    act(client);
    client.say('key one');
    await judged();
    expect(client.told).toEqual([`endpoint ${code}`, `close 4998 ${code}`]);
    expect(client.heard.filter((each) => each !== 'release')).toEqual([`refused ${code}`]);
    client.clock.increment(60_000);
    client.leave();
    expect(client.told).toHaveLength(2);
    expect(client.held().slice(0, 2)).toEqual([0, 0]);
  });

  it('comes after an invalid key', async () => {
    const verdict = pending();
    const { say, told, held, leave } = await connected({ judge: verdict.judge });
    say('key one');
    verdict.bad(apiError('invalid_api_key', 'It is unknown.'));
    await judged();
    expect(told).toEqual(['endpoint invalid_api_key', 'close 4998 invalid_api_key']);
    leave();
    expect(held()).toEqual(NOTHING_HELD);
  });

  it('comes after an unexpected error', async () => {
    const verdict = pending();
    const { say, told } = await connected({ judge: verdict.judge });
    say('key one');
    verdict.bad(new Error('A fault.'));
    await judged();
    expect(told).toEqual(['endpoint internal_error', 'close 4998 internal_error']);
  });

  it('comes in the conversation’s words when the session cannot be opened', async () => {
    const { say, told } = await connected();
    say('key one');
    await judged();
    say('model none/such');
    await judged();
    expect(told).toEqual(['conversation model_not_found', 'close 4999 model_not_found']);
  });

  it('comes when too much waits on all sockets together', async () => {
    const late = new UnauthenticatedSockets({ handshakesMax: 10, handshakesPerAddressMax: 10 }, 4_096);
    const { say, send, told, held } = await connected({ late, judge: pending().judge });
    say('key one');
    send(4_000);
    expect(told).toEqual(['endpoint overloaded', 'close 4998 overloaded']);
    expect(held().slice(0, 2)).toEqual([0, 0]);
  });

  it('comes when too many from its address wait already', async () => {
    const late = new UnauthenticatedSockets({ handshakesMax: 10, handshakesPerAddressMax: 1 });
    const { connect, socket, told, leave } = await connected({ late });
    (await connect('192.0.2.7')).accept.open(socket);
    expect(told).toEqual(['endpoint rate_limit_exceeded', 'close 4998 rate_limit_exceeded']);
    leave();
    (await connect('192.0.2.7')).accept.open(socket);
    expect(told).toHaveLength(2);
  });

  it('comes when sockets that have sent a key take all slots', async () => {
    const late = new UnauthenticatedSockets({ handshakesMax: 1, handshakesPerAddressMax: 10 });
    const { connect, socket, told, say } = await connected({ late, judge: pending().judge });
    say('key one');
    (await connect('192.0.2.8')).accept.open(socket);
    expect(told).toEqual(['endpoint overloaded', 'close 4998 overloaded']);
  });
});

describe('a full set of places', () => {
  const bounds = { handshakesMax: 2, handshakesPerAddressMax: 10 };
  /** Of another client. */
  const other = () => {
    const told: string[] = [];
    return {
      told,
      send: (text: string) => told.push(text),
      close: () => told.push('close'),
    } as unknown as ServerSocket & {
      told: string[];
    };
  };

  it('closes the oldest that is silent, so that silent ones block no other client', async () => {
    const { connect, told, say, leave, dependencies } = await connected({ late: new UnauthenticatedSockets(bounds) });
    const [second, third] = [other(), other()];
    (await connect('192.0.2.8')).accept.open(second);
    const { accept } = await connect('192.0.2.9');
    accept.open(third);
    expect([told, second.told, third.told]).toEqual([['endpoint overloaded', 'close 4998 overloaded'], [], []]);
    expect(dependencies.late.size).toBe(2);
    say('key one');
    leave();
    expect(dependencies.late.size).toBe(2);
    accept.message(third, Buffer.from('key one'), false);
    await judged();
    expect(third.told).toEqual([]);
  });

  it('closes it also before its socket is open, which is notified then', async () => {
    const { connect, told, leave } = await connected({ late: new UnauthenticatedSockets(bounds) });
    const second = await connect('192.0.2.8');
    leave();
    await connect('192.0.2.9');
    await connect('192.0.2.10');
    const early = other();
    second.accept.open(early);
    expect([told, early.told]).toEqual([[], ['endpoint overloaded', 'close']]);
  });
});

describe('a client that is gone', () => {
  it('leaves nothing behind before it has sent a key', async () => {
    const { say, leave, held, clock, told } = await connected();
    say('hello');
    leave();
    clock.increment(60_000);
    expect(held()).toEqual(NOTHING_HELD);
    expect(told).toEqual([]);
  });

  it('leaves nothing behind before its socket is open', async () => {
    const { connect, leave, held } = await connected();
    const { accept } = await connect();
    accept.closed({} as ServerSocket, 1006, '');
    leave();
    expect(held()).toEqual(NOTHING_HELD);
  });

  it.each(['good', 'bad'] as const)('takes no slot while a %s key is judged', async (which) => {
    const verdict = pending();
    const { say, leave, held, heard, told } = await connected({ judge: verdict.judge });
    say('key one');
    say('model loopback/script');
    leave();
    verdict[which](apiError('invalid_api_key', 'It is unknown.'));
    await judged();
    expect(heard).toEqual(which === 'good' ? ['release'] : []);
    expect(told).toEqual([]);
    expect(held()).toEqual(NOTHING_HELD);
  });
});

describe('the pace of its socket', () => {
  it('continues in its session, which takes no large messages where the server said so', async () => {
    const { say, pace, accept, socket, told, heard } = await connected();
    expect(pace.mayBeLarge()).toBe(false);
    say('key one');
    await judged();
    say('model loopback/script');
    await judged();
    accept.message(socket, new Uint8Array(1_048_577), true);
    expect(told).toEqual([]);
    expect(heard).toEqual(['open', 'abort message_too_big']);
    expect(pace.take(10, true, true)).toBe(0);
    expect([pace.fragments(1), pace.owedMs()]).toEqual([0, 0]);
  });

  it('lets large messages wait for their places', async () => {
    const { say, pace, leave, held } = await connected();
    say('key one');
    await judged();
    expect(pace.enter(() => {})).toBe(true);
    pace.leave();
    leave();
    expect(held()).toEqual(NOTHING_HELD);
  });
});
