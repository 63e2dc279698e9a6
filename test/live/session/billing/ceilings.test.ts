// A ceiling on spend as a live session meets it: warned at parts of it, ended after its last final, and held to a provider's after a failover.
import { expect, it } from 'vitest';
import { microUsdOf } from '../../../../src/config/prices/price.ts';
import type { HoldGrant, HoldRequest, SessionHead, SessionName, UsageLine } from '../../../../src/money/store/calls.ts';
import { StoreError } from '../../../../src/store/store-error.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { expectInOrder, expectNothingLeft, RATE, untilEnded } from '../support.ts';

const NUMBERED = 'loopback/numbered';
const minute = (amount: string) => ({ unit: 'minute' as const, amount });
const PRICES = { [NUMBERED]: { live: minute('0.6') } };

/** A ledger with one ceiling over all that is spent; it speaks of it as the store does. */
class BoundedLedger extends MemoryLedger {
  readonly limit: bigint;
  readonly asked: HoldRequest[] = [];

  constructor(limit: bigint) {
    super(limit);
    this.limit = limit;
  }

  override async openSession(head: SessionHead, hold: HoldRequest): Promise<HoldGrant> {
    try {
      return this.#bounded(await super.openSession(head, hold), hold);
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== 'insufficient_credit') throw error;
      throw new StoreError('spend_ceiling', 'The ceiling of 0.25 USD for the day 2026-11-21 of key_1 is reached.');
    }
  }

  override async renewHold(name: SessionName, lines: readonly UsageLine[], hold: HoldRequest): Promise<HoldGrant> {
    return this.#bounded(await super.renewHold(name, lines, hold), hold);
  }

  #bounded({ limitedBy, ...grant }: HoldGrant, hold: HoldRequest): HoldGrant {
    this.asked.push(hold);
    const used = this.limit - (this.available ?? 0n);
    const reached = used * 100n >= this.limit * 80n;
    return {
      ...grant,
      limitedBy: limitedBy === 'credit' ? 'ceiling' : null,
      providers: hold.providers ?? ['loopback'],
      ...(reached && {
        reached: [
          {
            ...({ scope: 'key_1', provider: '', period: 'day', span: '2026-11-21' } as const),
            ...({ organisationId: 'org_1', percent: 80 } as const),
            ...{ limitMicroUsd: this.limit, usedMicroUsd: used },
          },
        ],
      }),
    };
  }
}

async function talk(rig: SessionRig, client: RigClient, seconds: number): Promise<void> {
  for (let at = 0; at < seconds * 10 && client.closeCode === undefined; at++) {
    client.session.audio(numberedAudio((at * RATE) / 10, ((at + 1) * RATE) / 10));
    await rig.advance(100, 100);
  }
}

it('ends after the last final that the ceiling pays for, with warnings before', async () => {
  const ledger = new BoundedLedger(microUsdOf('0.25'));
  const rig = new SessionRig({ prices: PRICES, ledger });
  const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 4 } });
  await talk(rig, client, 60);
  await untilEnded(rig, client);
  expect([client.closeCode, client.of('session_ended')[0]?.reason]).toEqual([4100, 'credit']);
  expect(client.of('error').at(-1)?.error.code).toBe('spend_ceiling_reached');
  const codes = client.of('warning').map(({ code }) => code);
  expect(codes).toContain('spend_ceiling_low');
  expect(codes).toContain('spend_ceiling_near');
  expect(client.of('warning').find(({ code }) => code === 'spend_ceiling_near')?.message).toBe(
    '80 % of the spend ceiling of the key is used: 0.25 USD a day.',
  );
  expect(client.finals.at(-1)!.end).toBeGreaterThan(23);
  expect(ledger.leastAvailable).toBeGreaterThanOrEqual(0n);
  expectInOrder(client);
  await expectNothingLeft(rig);
});

it('is refused where the ceiling leaves less than a second, with the time until it is there again', async () => {
  const rig = new SessionRig({ prices: PRICES, ledger: new BoundedLedger(0n) });
  await expect(rig.open({ model: NUMBERED })).rejects.toMatchObject({
    code: 'spend_ceiling_reached',
    message: 'The spend ceiling of this key, 0.25 USD a day, is reached. Try again in the next day (UTC).',
    extras: { retryAfterSeconds: expect.any(Number) },
  });
});
