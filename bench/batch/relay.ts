// A hop that does nothing but pass bytes on: what any gateway costs at least on the machine of the bench.
import { type AddressInfo, connect, createServer } from 'node:net';

const { hostname, port } = new URL(process.argv[2] ?? '');

const server = createServer((client) => {
  const provider = connect(Number(port), hostname);
  client.pipe(provider).pipe(client);
  client.on('error', () => provider.destroy());
  provider.on('error', () => client.destroy());
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.once('disconnect', () => process.exit());
