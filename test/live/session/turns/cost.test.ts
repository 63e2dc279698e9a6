// What an answer allocates on its way from the provider's socket to the client's: the message as text, the codec, the leg, the turn,
// the event and its text.
import { expect, it } from 'vitest';
import { GuardedSocket } from '../../../../src/http/guarded-socket.ts';
import { messageOf } from '../../../../src/live/upstream/wire/socket-wire.ts';
import type { Wire, WireListener } from '../../../../src/live/upstream/wire/wire.ts';
import { deepgram } from '../../../../src/vendors/deepgram/index.ts';
import type { LiveCodec, Provider } from '../../../../src/vendors/kit/provider.ts';
import { allocatedBytes, keptBytes, leastAllocatedBytes } from '../../../fakes/allocation.ts';
import { type RigClient, SessionRig, settle } from '../../../fakes/session-rig.ts';
import { silence } from '../support.ts';

const WARM_ROUNDS = 40;
const ROUNDS = 10;
const ANSWERS = 60;
/** Each of a second. */
const WORDS = 'this is what the provider has heard'.split(' ');

/** Takes all audio at once: the clock of the rig stands still. */
const unhurried: Provider = {
  ...deepgram,
  live: (model) => {
    const codec = deepgram.live?.(model) as LiveCodec;
    const timing: LiveCodec['timing'] = (request) => ({
      ...codec.timing(request),
      speedMax: Number.POSITIVE_INFINITY,
    });
    return { ...codec, timing };
  },
};

/** The socket of a client that reads everything at once. */
class ReadingSocket extends GuardedSocket {
  /** That it was sent. */
  transcripts = 0;

  protected override write(text: string): boolean {
    if (text.startsWith('{"type":"transcript"')) this.transcripts++;
    return true;
  }
  protected override writePing(): void {}
  protected override queuedBytes(): number {
    return 0;
  }
  protected override end(): void {}
  protected override cut(): void {}
}

interface Stage {
  client: RigClient;
  socket: ReadingSocket;
  /** What the provider says. */
  say(text: string): void;
}

async function stage(): Promise<Stage> {
  let listener: WireListener | undefined;
  const wire: Wire = { bufferedBytes: 0, send() {}, breakDown() {}, ping() {}, close() {}, terminate() {} };
  const rig = new SessionRig({
    providers: [unhurried],
    access: () => ({ baseUrl: 'ws://provider.test', credential: 'good-key' }),
    openSocket: (_, told) => {
      listener = told;
      queueMicrotask(() => told.opened());
      return wire;
    },
  });
  const client = await rig.open({ model: 'deepgram/nova-3' });
  await settle();
  const handlers = { open() {}, message() {}, pong() {}, drained() {}, closed() {} };
  const socket = new ReadingSocket(handlers, (error) => {
    throw error;
  });
  client.send = (text) => socket.send(text);
  return { client, socket, say: (text) => listener?.message(messageOf(text)) };
}

/** As Deepgram documents it. */
function results(second: number, start: number, isFinal: boolean): string {
  const length = (second + 1 - start) / WORDS.length;
  const words = WORDS.map((word, index) => ({
    word,
    start: start + index * length,
    end: start + (index + 1) * length,
    confidence: 0.98,
    punctuated_word: index === 0 ? `${word}${second}` : word,
  }));
  const transcript = words.map((word) => word.punctuated_word).join(' ');
  return JSON.stringify({
    type: 'Results',
    channel_index: [0, 1],
    duration: second + 1 - start,
    start,
    is_final: isFinal,
    speech_final: isFinal,
    channel: { alternatives: [{ transcript, confidence: 0.98, words }] },
    metadata: { request_id: 'b62bd3f1', model_info: { name: 'nova-3', version: '2026-01-01', arch: 'nova-3' } },
    from_finalize: false,
  });
}

interface Speech {
  said: readonly string[];
  hear(text: string): void;
  isShown(): void;
}

/** All interims are of one turn; each final ends one, and is shown as an interim first. */
async function speech(isFinal: boolean, answers = ANSWERS): Promise<Speech> {
  const { client, socket, say } = await stage();
  const second = silence(1);
  return {
    said: Array.from({ length: answers }, (_, at) => results(at, isFinal ? at : 0, isFinal)),
    hear(text) {
      client.session.audio(second);
      say(text);
    },
    isShown: () => expect(socket.transcripts).toBe(isFinal ? 2 * answers : answers),
  };
}

/** Of one answer, with the second of audio that it covers. */
async function bytesOf(isFinal: boolean): Promise<number> {
  const { said, hear, isShown } = await speech(isFinal);
  const bytes = await allocatedBytes(() => said.forEach(hear));
  isShown();
  return bytes / ANSWERS;
}

it.each([
  ['an interim', 32_000, false],
  ['a final', 56_000, true],
])('delivers %s with its audio, below %d bytes', async (_, bytesMax, isFinal) => {
  for (let done = 0; done < WARM_ROUNDS; done++) {
    const { said, hear } = await speech(isFinal);
    said.forEach(hear);
  }
  expect(await leastAllocatedBytes(ROUNDS, () => bytesOf(isFinal))).toBeLessThan(bytesMax);
});

it('keeps below 100 bytes of a final of six words while its session lasts', async () => {
  // What the compiler and the session itself keep is more than that of hundreds of finals, and the same for thousands.
  const round = async (answers: number) => {
    const { said, hear, isShown } = await speech(true, ANSWERS + answers);
    said.slice(0, ANSWERS).forEach(hear);
    const bytes = keptBytes(() => said.slice(ANSWERS).forEach(hear));
    isShown();
    return bytes / answers;
  };
  for (let warm = 0; warm < 3; warm++) await round(20 * ANSWERS);
  expect(await leastAllocatedBytes(3, () => round(50 * ANSWERS))).toBeLessThan(100);
});
