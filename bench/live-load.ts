// A load of live sessions in a process of its own: each sends 20 ms frames in real time, in a phase of its own, and checks
// the finals it gets. Prints one JSON line when all have ended.
import WebSocket from 'ws';

interface LoadOptions {
  url: string;
  key: string;
  sessions: number;
  seconds: number;
  frameMs: number;
}

const options = JSON.parse(process.argv[2] as string) as LoadOptions;
const RATE = 16_000;
const TURN_MS = 2_000;
const frame = Buffer.alloc((RATE * 2 * options.frameMs) / 1000, 1);
const framesEach = Math.round((options.seconds * 1000) / options.frameMs);
const query = new URLSearchParams({
  model: 'loopback/script',
  provider_params: JSON.stringify({ turns: [{ text: 'a turn of the load', seconds: 2 }], interim_seconds: 0.3 }),
});

interface Client {
  socket: WebSocket;
  sent: number;
  finals: number;
  closeCode: number | undefined;
  /** Milliseconds from a final's last frame to the final. */
  lateMs: number[];
  endsAt: number[];
}

const clients: Client[] = [];
let late = 0;

/** Opens sessions one after the other, a few at a time, so that the load is the sessions and not their opening. */
async function openAll(): Promise<void> {
  for (let n = 0; n < options.sessions; n += 20) {
    await Promise.all(Array.from({ length: Math.min(20, options.sessions - n) }, open));
  }
}

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${options.url.replace('http', 'ws')}/v1/listen?${query}`, {
      headers: { authorization: `Bearer ${options.key}` },
      perMessageDeflate: false,
    });
    const client: Client = { socket, sent: 0, finals: 0, closeCode: undefined, lateMs: [], endsAt: [] };
    clients.push(client);
    socket.on('message', (data: Buffer) => {
      if (!data.includes('"is_final":true')) return;
      client.finals++;
      const sentAt = client.endsAt.shift();
      if (sentAt !== undefined) client.lateMs.push(performance.now() - sentAt);
    });
    socket.on('open', resolve);
    socket.on('error', reject);
    socket.on('close', (code) => {
      client.closeCode = code;
    });
  });
}

/** Each client begins at a moment of its own within one turn, so that the load is even, as that of strangers is. */
function stream(): Promise<void> {
  const startedAt = performance.now();
  const framesPerTurn = TURN_MS / options.frameMs;
  return new Promise((resolve) => {
    const tick = (): void => {
      const now = performance.now() - startedAt;
      let busy = false;
      for (const [index, client] of clients.entries()) {
        const phase = (index / clients.length) * TURN_MS;
        const due = Math.min(framesEach, Math.floor((now - phase) / options.frameMs));
        if (due - client.sent > 5) late++;
        for (; client.sent < due; client.sent++) {
          client.socket.send(frame);
          if ((client.sent + 1) % framesPerTurn === 0) client.endsAt.push(performance.now());
        }
        if (client.sent < framesEach) busy = true;
      }
      if (busy) setTimeout(tick, 1);
      else resolve();
    };
    tick();
  });
}

async function closeAll(): Promise<void> {
  await Promise.all(
    clients.map(
      ({ socket }) =>
        new Promise<void>((resolve) => {
          socket.once('close', () => resolve());
          socket.send('{"type":"close"}');
        }),
    ),
  );
}

await openAll();
process.send?.('open');
await stream();
process.send?.('streamed');
await closeAll();
const delays = clients.flatMap((client) => client.lateMs).sort((a, b) => a - b);
const at = (part: number): number =>
  Math.round((delays[Math.min(delays.length - 1, Math.floor(delays.length * part))] ?? 0) * 100) / 100;
console.log(
  JSON.stringify({
    sessions: clients.length,
    finals: clients.reduce((sum, client) => sum + client.finals, 0),
    finalsExpected: clients.length * Math.ceil((options.seconds * 1000) / TURN_MS),
    closedInOrder: clients.filter((client) => client.closeCode === 1000).length,
    finalDelayMs: { p50: at(0.5), p99: at(0.99) },
    lateTicks: late,
  }),
);
process.disconnect?.();
