// Mails on their way through a real SMTP server: one that takes them, one that is away for a while, one that refuses.
import { describe, expect, test } from 'vitest';
import { createSmtpTransport, MailError } from '../../../src/accounts/people/mailer.ts';
import { startMailServer } from '../../fakes/network/mail-server.ts';
import { closers, idle, startSender } from './mail-rig.ts';

describe('an SMTP server', () => {
  /** Closed after the test. */
  async function smtp(options?: Parameters<typeof startMailServer>[0]) {
    const server = await startMailServer(options);
    closers.push(server.close);
    return server;
  }
  const transportTo = (url: string) => createSmtpTransport({ url, from: 'Voxgate <accounts@voxgate.example>' });

  test('receives the mail with a complete link', async () => {
    const server = await smtp();
    const rig = startSender(transportTo(server.url));
    expect(await rig.event()).toMatchObject({ type: 'sent', attempt: 1 });
    expect(server.mails).toMatchObject([{ from: 'accounts@voxgate.example', to: ['ada@example.com'] }]);
    const [, body = ''] = server.mails[0]!.text.split('\r\n\r\n', 2);
    const plain = server.mails[0]!.text.replace(/=\r\n/g, '').replace(/=3D/g, '=');
    expect(plain).toContain(`https://voxgate.example/verify?token=${rig.token}`);
    expect(server.mails[0]!.text).toMatch(/^From: Voxgate <accounts@voxgate\.example>/m);
    expect(server.mails[0]!.text).toMatch(/^Auto-Submitted: auto-generated/im);
    expect(body).not.toBe('');
  });

  test('receives the mail when it is available again', async () => {
    const first = await smtp();
    await first.close();
    const rig = startSender(transportTo(first.url));
    expect(await rig.event()).toMatchObject({ type: 'failed', attempt: 1, code: 'ESOCKET' });
    await idle();
    rig.pass(2000);
    expect(await rig.event()).toMatchObject({ type: 'failed', attempt: 2 });
    const second = await smtp({ port: first.port });
    await idle();
    rig.pass(4000);
    expect(await rig.event()).toMatchObject({ type: 'sent', attempt: 3 });
    expect(second.mails).toHaveLength(1);
  });

  test('gets no second attempt when it has no such mailbox', async () => {
    const server = await smtp({ refuse: true });
    const rig = startSender(transportTo(server.url));
    expect(await rig.event()).toEqual({
      type: 'given_up',
      mail: 'mail.verification',
      attempt: 1,
      code: 'EENVELOPE 550',
    });
  });

  test('receives the password without TLS on this machine only', async () => {
    const server = await smtp();
    const send = async (host: string) => {
      const transport = transportTo(`smtp://user:canary-password@${host}:${server.port}`);
      closers.push(() => transport.close());
      await transport.send({ to: 'ada@example.com', subject: 's', text: 't' }, AbortSignal.timeout(10_000));
    };
    await send('127.0.0.1');
    expect([server.passwords, server.mails.length]).toEqual([['canary-password'], 1]);
    // The same server, by an address that is not known to stay on this machine.
    const failure: unknown = await send('0.0.0.0').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MailError);
    expect([server.passwords.length, server.mails.length]).toEqual([1, 1]);
    expect(JSON.stringify(failure) + String(failure)).not.toContain('canary');
  });
});
