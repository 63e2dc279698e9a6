// TLS in front of a simulator: AssemblyAI's SDK takes no URL but wss. The certificate is made here, and nobody vouches for it.
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';

export interface TlsFront {
  /** `wss://…` */
  url: string;
  close(): Promise<void>;
}

/** Listens, and passes every connection on to a port of this machine. */
export async function openTlsFront(port: number): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  const server = createServer(selfSigned(), (client) => {
    const behind = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `wss://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

/** A key and the smallest certificate there is (RFC 5280, version 1), signed with that key (RFC 8410). */
function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const algorithm = der(0x30, Buffer.from('06032b6570', 'hex'));
  const commonName = der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('simulator'))));
  const name = der(0x30, commonName);
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(0x30, der(0x02, Buffer.of(1)), algorithm, name, validity, name, subjectKey);
  const signature = der(0x03, Buffer.of(0), sign(null, body, privateKey));
  const cert = der(0x30, body, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** One ASN.1 value: its tag, its length and what is in it. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}
