// A carrier's end of a call: the messages of Twilio's Media Streams as they come on its socket, and speech as telephones carry it.
import { readFileSync } from 'node:fs';
import WebSocket from 'ws';
import { WavReader } from '../../../src/audio/containers/wav.ts';

const AUDIO = new URL('../../fixtures/audio/', import.meta.url);
/** Samples of one message: 20 ms. */
const PIECE = 160;

/** A sample of 16 bits as μ-law has it: sign, exponent and four bits, all inverted. */
function mulawOf(sample: number): number {
  const magnitude = Math.min(Math.abs(sample) + 132, 32_767);
  const exponent = Math.max(0, 31 - Math.clz32(magnitude) - 7);
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

/** A sample file of 8 or 16 kHz, as a telephone line carries it: μ-law at 8 kHz. */
export function spoken(file: string): Uint8Array {
  const reader = new WavReader();
  const samples = reader.push(readFileSync(new URL(file, AUDIO)));
  const step = (reader.format?.sampleRate ?? 8000) / 8000;
  const line = new Uint8Array(Math.floor(samples.length / step));
  for (let at = 0; at < line.length; at++) {
    let sum = 0;
    for (let part = 0; part < step; part++) sum += samples[at * step + part] as number;
    line[at] = mulawOf(Math.round(sum / step));
  }
  return line;
}

export const CALL = 'CA5d8e3c8b1f4a4b0b9b3e2a1c0d9e8f70';
export const STREAM = 'MZ18ad3ab5a668481ce02b83e7395059f0';

/**
 * What Twilio sends of a call: tracks are told in turn, each piece with its number and time, with a mark and a digit in between.
 *
 * @param tracks speech of each, as {@link spoken}
 */
export function* twilioCall(
  tracks: Readonly<Record<string, Uint8Array>>,
  customParameters: Readonly<Record<string, string>>,
): Iterable<object> {
  const names = Object.keys(tracks);
  let sequence = 0;
  const numbered = (event: string, more: object) => ({
    ...{ event, sequenceNumber: String(++sequence) },
    ...more,
    streamSid: STREAM,
  });
  const ids = { accountSid: 'AC3f0c1d2e3b4a5968778695a4b3c2d1e0', callSid: CALL };
  yield { event: 'connected', protocol: 'Call', version: '1.0.0' };
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  yield numbered('start', { start: { ...ids, streamSid: STREAM, tracks: names, mediaFormat, customParameters } });
  const pieces = Math.ceil(Math.max(...Object.values(tracks).map(({ length }) => length)) / PIECE);
  for (let piece = 0; piece < pieces; piece++) {
    if (piece === 20) yield numbered('mark', { mark: { name: 'greeting' } });
    if (piece === 30) yield numbered('dtmf', { dtmf: { track: 'inbound_track', digit: '1' } });
    for (const name of names) {
      const bytes = (tracks[name] as Uint8Array).subarray(piece * PIECE, (piece + 1) * PIECE);
      if (bytes.length === 0) continue;
      const payload = Buffer.from(bytes).toString('base64');
      const media = { track: name, chunk: String(piece + 1), timestamp: String(piece * 20), payload };
      yield numbered('media', { media });
    }
  }
  yield numbered('stop', { stop: ids });
}

/** Sends it all, as fast as the socket takes it, and hangs up behind it. */
export async function callBy(url: string, messages: Iterable<object>, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, { headers });
  const heard: string[] = [];
  socket.on('message', (data) => heard.push(String(data)));
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  for (const message of messages) socket.send(JSON.stringify(message));
  return { socket, heard, closed };
}
