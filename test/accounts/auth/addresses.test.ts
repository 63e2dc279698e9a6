// Limits of client addresses: guessing, and handshakes that wait for their verdict.
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { FailedAttempts, WaitingHandshakes } from '../../../src/accounts/auth/handshake-limits.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { networkOf } from '../../../src/runtime/network-addresses.ts';

function refused(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1:2:3::', '1:2:3:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.7', '1:2:3:4::/64'],
  ['1::3:4:5:6:192.0.2.7', '1:0:3:4::/64'],
  ['unknown', 'unknown'],
  ['', ''],
])('counts the network of %s as %s', (address, expected) => {
  expect(networkOf(address)).toBe(expected);
});

describe('failed attempts', () => {
  const failOne = async (failures: FailedAttempts, address: string) => (await failures.begin(address)).fail();
  const shutOut = async (failures: FailedAttempts, address: string): Promise<ApiError> => {
    const error = await failures.begin(address).catch((thrown: unknown) => thrown);
    if (error instanceof ApiError) return error;
    throw new Error('It was not refused.');
  };

  test('stop at 20 a minute from one address, with one more every 3 s', async () => {
    const clock = new SimulatedClock();
    const failures = new FailedAttempts({ perMinuteMax: 20, clock });
    for (let attempt = 0; attempt < 20; attempt++) await failOne(failures, '192.0.2.7');
    const refusal = await shutOut(failures, '192.0.2.7');
    expect(refusal).toMatchObject({ code: 'rate_limit_exceeded', status: 429, closeCode: 4100 });
    expect(refusal.extras).toMatchObject({
      retryAfterSeconds: 3,
      headers: { 'RateLimit-Limit': '20', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '60' },
    });
    await failOne(failures, '192.0.2.8');
    clock.increment(3_000);
    await failOne(failures, '192.0.2.7');
    await shutOut(failures, '192.0.2.7');
  });

  test('count together for one IPv6 network', async () => {
    const failures = new FailedAttempts({ perMinuteMax: 20, clock: new SimulatedClock() });
    for (let attempt = 0; attempt < 20; attempt++) await failOne(failures, `2001:db8:1:2::${attempt.toString(16)}`);
    await shutOut(failures, '2001:db8:1:2:ffff::1');
    await failOne(failures, '2001:db8:1:3::1');
  });

  test('stop counting when they are forgiven', async () => {
    const failures = new FailedAttempts({ perMinuteMax: 1, clock: new SimulatedClock() });
    for (let attempt = 0; attempt < 100; attempt++) (await failures.begin('192.0.2.7')).forgive();
    await failOne(failures, '192.0.2.7');
    await shutOut(failures, '192.0.2.7');
  });

  test('wait for the verdict on those before them: good ones make room, bad ones do not, and 256 wait at most', async () => {
    const failures = new FailedAttempts({ perMinuteMax: 2, clock: new SimulatedClock() });
    const [first, second] = [await failures.begin('192.0.2.7'), await failures.begin('192.0.2.7')];
    const outcomes: string[] = [];
    const waiting = Array.from({ length: 256 }, () =>
      failures.begin('192.0.2.7').then(
        (attempt) => {
          outcomes.push('judged');
          return attempt;
        },
        () => {
          outcomes.push('refused');
          return undefined;
        },
      ),
    );
    await shutOut(failures, '192.0.2.7');
    first.forgive();
    const third = await waiting[0]!;
    expect(outcomes).toEqual(['judged']);
    third!.fail();
    second.fail();
    await Promise.all(waiting);
    expect(outcomes).toEqual(['judged', ...Array.from({ length: 255 }, () => 'refused')]);
  });

  test('count for 10,000 addresses; the oldest is dropped, and counted', async () => {
    const failures = new FailedAttempts({ perMinuteMax: 1, clock: new SimulatedClock() });
    const address = (index: number) => `10.0.${index >> 8}.${index & 255}`;
    for (let index = 0; index < 10_000; index++) await failOne(failures, address(index));
    await shutOut(failures, address(0));
    expect(failures.forgottenAddresses).toBe(0);
    await failOne(failures, '192.0.2.7');
    expect(failures.forgottenAddresses).toBe(1);
    await failOne(failures, address(0));
    await shutOut(failures, address(9_999));
  });
});

describe('handshakes that wait', () => {
  test('stop at a limit per address, with a retry for one more', () => {
    const handshakes = new WaitingHandshakes({ handshakesMax: 100, perAddressMax: 20 });
    const leave = Array.from({ length: 20 }, () => handshakes.enter('192.0.2.7'));
    expect(refused(() => handshakes.enter('192.0.2.7'))).toMatchObject({
      code: 'rate_limit_exceeded',
      status: 429,
      extras: { retryAfterSeconds: 1 },
    });
    handshakes.enter('192.0.2.8');
    leave[0]!();
    handshakes.enter('192.0.2.7');
    expect(handshakes.size).toBe(21);
  });

  test('stop at a limit in total, with an overload error for one more', () => {
    const handshakes = new WaitingHandshakes({ handshakesMax: 1_000, perAddressMax: 20 });
    const leave = Array.from({ length: 1_000 }, (_, index) => handshakes.enter(`192.0.2.${index % 50}`));
    expect(refused(() => handshakes.enter('198.51.100.1'))).toMatchObject({
      code: 'overloaded',
      status: 503,
      extras: { retryAfterSeconds: 1 },
    });
    for (const each of leave) each();
    expect(handshakes.size).toBe(0);
    for (let index = 0; index < 20; index++) handshakes.enter('192.0.2.7');
    refused(() => handshakes.enter('192.0.2.7'));
  });
});
