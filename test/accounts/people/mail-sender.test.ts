// The sender of mails, against a transport that can fail: what is sent again, what is given up, and what nobody hears.
import { describe, expect, test } from 'vitest';
import { newToken, TokenSeal } from '../../../src/accounts/people/mail-tokens.ts';
import {
  createDevelopmentOutbox,
  type Mail,
  MailError,
  type MailTransport,
} from '../../../src/accounts/people/mailer.ts';
import { ledgerRig } from '../../fakes/store/ledger.ts';
import { idle, startSender } from './mail-rig.ts';

const MINUTE_MS = 60_000;

/** Fails as often as it is told to, then takes mails. */
function failing(times: number, error: () => Error = () => new MailError('ECONNECTION', false)) {
  const mails: Mail[] = [];
  let left = times;
  const transport: MailTransport = {
    kind: 'smtp',
    async send(mail) {
      if (left-- > 0) throw error();
      mails.push(mail);
    },
    close: () => {},
  };
  return { transport, mails };
}

describe('a mail', () => {
  test('leaves with its link, and is then forgotten', async () => {
    const { transport, mails } = failing(0);
    const rig = startSender(transport);
    expect(await rig.event()).toEqual({ type: 'sent', mail: 'mail.verification', attempt: 1 });
    await idle();
    expect(mails).toHaveLength(1);
    expect(mails[0]!.to).toBe('ada@example.com');
    expect(mails[0]!.text).toContain(`\nhttps://voxgate.example/verify?token=${rig.token}\n`);
    expect(rig.waiting()).toBe(0);
    // What the log gets.
    expect(JSON.stringify(rig.events)).not.toMatch(new RegExp(`${rig.token}|ada@|http`));
  });

  test.each([
    ['mail.verification', '/verify?token='],
    ['mail.account-exists', '/reset-password?token='],
    ['mail.password-reset', '/reset-password?token='],
    ['mail.address-change', '/verify?token='],
    ['mail.address-changed', 'tell whoever runs the service'],
    ['mail.webhook-disabled', 'enable the webhook'],
  ])('%s says what it has to', async (mail, part) => {
    const { transport, mails } = failing(0);
    await startSender(transport, { mail }).event();
    expect(mails[0]!.text).toContain(part);
    expect(mails[0]!.subject).toMatch(/Voxgate/);
  });

  test('retries after 2 s, 4 s, … up to 15 minutes', async () => {
    const { transport, mails } = failing(14);
    const rig = startSender(transport);
    const waits: number[] = [];
    while (mails.length === 0) {
      await rig.event();
      await idle();
      const due = rig.ledger.nextOutboxDueMs();
      if (due === undefined) break;
      const waitMs = due - rig.clock.nowMs;
      waits.push(waitMs / 1000);
      rig.pass(waitMs - 1);
      await idle();
      expect(rig.events).toHaveLength(waits.length);
      rig.pass(1);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900, 900]);
    expect(mails).toHaveLength(1);
  });

  test('gives up after twenty attempts, with an entry in the audit log', async () => {
    const { transport } = failing(1000);
    const rig = startSender(transport);
    for (let attempt = 1; attempt < 20; attempt++) {
      expect(await rig.event()).toMatchObject({ type: 'failed', attempt, code: 'ECONNECTION' });
      await idle();
      rig.pass(15 * MINUTE_MS);
    }
    expect(await rig.event()).toMatchObject({ type: 'given_up', attempt: 20 });
    await idle();
    expect(rig.waiting()).toBe(0);
    expect(rig.ledger.listAudit(null, 1)).toMatchObject([
      { action: 'mail.given-up', detail: { mail: 'mail.verification', to: 'ada@example.com', attempts: 20 } },
    ]);
  });

  test.each([
    { story: 'whose mailbox is refused', mail: 'mail.verification', failures: 1000 },
    { story: 'of an unknown kind', mail: 'mail.nonsense', failures: 0 },
  ])('$story is given up at once', async ({ mail, failures }) => {
    const rig = startSender(failing(failures, () => new MailError('EENVELOPE 550', true)).transport, { mail });
    expect(await rig.event()).toMatchObject({ type: 'given_up', attempt: 1 });
    await idle();
    expect(rig.waiting()).toBe(0);
  });

  test('gives up at once when it was sealed with another secret', async () => {
    const { transport, mails } = failing(0);
    const rig = ledgerRig();
    const sealed = new TokenSeal(new TextEncoder().encode('another secret')).seal(newToken());
    rig.database
      .prepare('INSERT INTO outbox (type, params, due_at_ms) VALUES (?, ?, 0)')
      .run('mail.verification', JSON.stringify({ to: 'ada@example.com', sealed }));
    expect(await startSender(transport, { rig, mail: '' }).event()).toMatchObject({
      type: 'given_up',
      code: 'unreadable',
    });
    expect(mails).toEqual([]);
  });

  test('aborts when it takes too long, and retries', async () => {
    let signals = 0;
    const transport: MailTransport = {
      kind: 'smtp',
      send: (_mail, signal) =>
        new Promise((_resolve, reject) => {
          signals += 1;
          signal.addEventListener('abort', () => reject(new MailError('EABORT', false)), { once: true });
        }),
      close: () => {},
    };
    const rig = startSender(transport);
    await idle();
    rig.pass(30_000);
    expect(await rig.event()).toMatchObject({ type: 'failed', attempt: 1, code: 'EABORT' });
    await idle();
    rig.pass(2000);
    await idle();
    expect(signals).toBe(2);
    // And what is on its way when the sender closes is due again for the next one.
    await rig.sender.close();
    expect(rig.ledger.nextOutboxDueMs()).toBe(rig.clock.nowMs);
  });

  test('leaves when the lease of a dead sender is over, without a call', async () => {
    const rig = ledgerRig();
    rig.database
      .prepare('INSERT INTO outbox (type, params, due_at_ms) VALUES (?, ?, ?)')
      .run('mail.address-changed', JSON.stringify({ to: 'ada@example.com' }), rig.clock.nowMs);
    rig.ledger.takeOutbox(1, MINUTE_MS);
    const { transport, mails } = failing(0);
    const next = startSender(transport, { rig, mail: '' });
    await idle();
    next.pass(MINUTE_MS - 1);
    await idle();
    expect(mails).toEqual([]);
    next.pass(1);
    expect(await next.event()).toMatchObject({ type: 'sent', attempt: 2 });
  });
});

test('asks a failing store again after five seconds, and sends the mail', async () => {
  const { transport, mails } = failing(0);
  const rig = startSender(transport, { failures: 2 });
  expect(await rig.event()).toMatchObject({ type: 'store_failed' });
  await idle();
  rig.pass(4999);
  await idle();
  expect(rig.events).toHaveLength(1);
  rig.pass(1);
  expect(await rig.event()).toMatchObject({ type: 'store_failed' });
  await idle();
  rig.pass(5000);
  expect(await rig.event()).toMatchObject({ type: 'sent', attempt: 1 });
  expect(mails).toHaveLength(1);
});

test('sends a mail written while another is on its way', async () => {
  let arrived = () => {};
  const mails: Mail[] = [];
  const transport: MailTransport = {
    kind: 'smtp',
    async send(mail) {
      mails.push(mail);
      if (mails.length === 1) await new Promise<void>((resolve) => (arrived = resolve));
    },
    close: () => {},
  };
  const rig = startSender(transport);
  await idle();
  rig.add('mail.address-changed', { to: 'bob@example.com' });
  await rig.store.findPerson('per_x');
  arrived();
  await rig.event();
  expect(await rig.event()).toMatchObject({ type: 'sent', mail: 'mail.address-changed' });
  expect(mails.map(({ to }) => to)).toEqual(['ada@example.com', 'bob@example.com']);
});

test('many mails go four at a time, and all of them go', async () => {
  const rig = ledgerRig();
  const add = rig.database.prepare('INSERT INTO outbox (type, params, due_at_ms) VALUES (?, ?, 0)');
  for (let number = 0; number < 30; number++) {
    add.run('mail.address-changed', JSON.stringify({ to: `person${number}@example.com` }));
  }
  let open = 0;
  let most = 0;
  const sent: string[] = [];
  const transport: MailTransport = {
    kind: 'smtp',
    async send({ to }) {
      most = Math.max(most, ++open);
      await idle();
      open -= 1;
      sent.push(to);
    },
    close: () => {},
  };
  const started = startSender(transport, { rig, mail: '' });
  for (let number = 0; number < 30; number++) await started.event();
  expect([most, new Set(sent).size, sent.length]).toEqual([4, 30, 30]);
});

test('keeps the last hundred mails in the development outbox', async () => {
  const outbox = createDevelopmentOutbox(() => 0);
  const signal = new AbortController().signal;
  for (let number = 0; number < 130; number++) await outbox.send({ to: `${number}`, subject: '', text: '' }, signal);
  expect(outbox.mails.map(({ to }) => to)).toEqual(Array.from({ length: 100 }, (_, number) => `${129 - number}`));
});
