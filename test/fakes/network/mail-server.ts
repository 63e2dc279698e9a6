// A mail server on a port of this machine that keeps what it is handed.
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

export interface KeptMail {
  to: string[];
  from: string;
  /** As it came over the wire. */
  text: string;
}

export interface TestMailServer {
  mails: readonly KeptMail[];
  passwords: readonly unknown[];
  port: number;
  url: string;
  /** The link of the newest mail to an address, once there are so many. */
  link(to: string, count?: number): Promise<string>;
  close(): Promise<void>;
}

/** @param port of its own choice when 0 */
export async function startMailServer({ port = 0, refuse = false } = {}): Promise<TestMailServer> {
  const mails: KeptMail[] = [];
  const passwords: unknown[] = [];
  const watchers = new Set<() => void>();
  const server = new SMTPServer({
    allowInsecureAuth: true,
    onAuth({ password }, _session, done) {
      passwords.push(password);
      done(null, { user: 'user' });
    },
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onRcptTo: (_address, _session, done) =>
      done(refuse ? Object.assign(new Error('No such mailbox'), { responseCode: 550 }) : null),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push({ from, to: rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() });
        done();
        for (const watch of [...watchers]) watch();
      });
    },
  });
  const listener = server.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  const { port: bound } = listener.address() as { port: number };
  return {
    mails,
    passwords,
    port: bound,
    url: `smtp://127.0.0.1:${bound}`,
    link: (to, count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const found = mails.filter((mail) => mail.to.includes(to));
          if (found.length < count) return;
          watchers.delete(look);
          resolve(linkIn(found.at(-1)!.text));
        };
        watchers.add(look);
        look();
      }),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function linkIn(text: string): string {
  const plain = text.replace(/=\r\n/g, '').replace(/=3D/g, '=');
  return /http\S+\?token=[\w-]{43}/.exec(plain)?.[0] ?? '';
}
