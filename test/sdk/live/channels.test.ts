// Channels of one client through a whole gateway, by every shape of protocol: each sample of each channel once.
import { describe, expect, it } from 'vitest';
import { interleavedNumbers, numbersOfChannel } from '../../fakes/audio/interleaved.ts';
import { FULL, PROTOCOLS, rateOf } from '../../live/failover/protocols.ts';
import { gapsIn } from '../../simulation/whole.ts';
import { startDialectRig } from '../../vendors/compat/rig.ts';
import { deepgramClient } from '../drivers/deepgram.ts';

const BROKEN = 'soniox';
const BROKEN_MODEL = PROTOCOLS.find(({ provider }) => provider === BROKEN)?.slug as string;
const FALLBACK = 'assemblyai/universal-streaming-english';
/** Of interleaved bytes: fits no frame. */
const PIECE_BYTES = 4_799;

const rig = startDialectRig({ [BROKEN]: ['close-after=900ms'] });

function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

interface Final {
  channel?: number;
  text: string;
  end: number;
  turn: number;
}

function wrongIn(
  finals: readonly Final[],
  channels: number,
  frames: number,
  models: readonly string[],
  sampleRate = rateOf(models) ?? 24_000,
): string[] {
  return Array.from({ length: channels }, (_, channel) => {
    const own = finals.filter((each) => each.channel === channel);
    const placed = own.map((each) => ({ ...each, text: numbersOfChannel(each.text, channel) }));
    return gapsIn(placed, frames, sampleRate, models).map((problem) => `channel ${channel}: ${problem}`);
  }).flat();
}

async function spoken(models: readonly string[], channels: number, frames: number) {
  const sampleRate = String(rateOf(models) ?? 24_000);
  const [model = '', ...fallbacks] = models;
  const query = { model, fallbacks: fallbacks.join(','), sample_rate: sampleRate, channels: String(channels) };
  const client = rig.gateway.connect(query);
  await client.opened();
  for (const piece of piecesOf(interleavedNumbers(channels, frames))) client.send(piece);
  client.send({ type: 'close' });
  expect(await client.close()).toMatchObject({ code: 1000 });
  return client;
}

describe('channels', () => {
  it.concurrent.each(FULL.flatMap(({ slug }) => [2, 8].map((channels) => ({ slug, channels }))))(
    'arrive complete, $channels of them, from $slug, billed as their sum',
    async ({ slug, channels }) => {
      const frames = 1.9 * (rateOf([slug]) ?? 24_000);
      const client = await spoken([slug], channels, frames);
      expect(wrongIn(client.finals, channels, frames, [slug])).toEqual([]);
      const [started] = client.of('session_started');
      expect(started?.channel_sessions).toHaveLength(channels);
      const [ended] = client.of('session_ended');
      expect(ended).toMatchObject({ audio_seconds: 1.9, usage: [{ model: slug }] });
      expect(ended?.usage[0]?.seconds).toBeCloseTo(1.9 * channels, 3);
    },
  );

  it('fail over separately', async () => {
    const models = [BROKEN_MODEL, FALLBACK];
    const frames = 1.9 * (rateOf(models) ?? 24_000);
    const client = await spoken(models, 3, frames);
    expect(wrongIn(client.finals, 3, frames, models)).toEqual([]);
    const lost = [...client.of('failover'), ...client.of('warning')].map(({ channel }) => channel);
    expect(new Set(lost)).toEqual(new Set([0, 1, 2]));
  });
});

describe('a client of Deepgram', () => {
  it('gets each of several channels by its index', async () => {
    const frames = 1.9 * 16_000;
    const socket = await deepgramClient({ url: rig.gateway.url, key: rig.key }).listen.v1.connect({
      ...{ model: 'deepgram/nova-3', encoding: 'linear16', sample_rate: 16_000, channels: 2, multichannel: 'true' },
      ...{ reconnectAttempts: 0 },
    } as never);
    const heard: Final[] = [];
    socket.on('message', (message) => {
      if (message.type !== 'Results' || message.is_final !== true) return;
      const [channel = 0] = message.channel_index ?? [];
      const { transcript: text = '' } = message.channel.alternatives[0] ?? {};
      heard.push({
        channel,
        text,
        end: message.start + message.duration,
        turn: heard.length,
      });
    });
    const closed = new Promise<unknown>((resolve) => socket.on('close', resolve));
    socket.connect();
    await socket.waitForOpen();
    for (const piece of piecesOf(interleavedNumbers(2, frames))) socket.sendMedia(piece);
    socket.sendCloseStream({ type: 'CloseStream' });
    await closed;
    expect(wrongIn(heard, 2, frames, ['deepgram/nova-3'], 16_000)).toEqual([]);
  });
});
