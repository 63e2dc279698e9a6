// All samples of an audio file at one rate, whatever the gateway can decode: for clients that send it live.
import { createReadStream, statSync } from 'node:fs';
import { Refusal } from '../../api/errors.ts';
import { FileDecodings } from '../../files/decoding/decoding.ts';
import { DECODED } from '../../files/failures.ts';
import { FileDecoder } from '../../files/file-decoder.ts';
import { FileSource } from '../../files/file-source.ts';
import { LegFailed } from '../../live/upstream/leg-failed.ts';
import { systemClock } from '../../runtime/telemetry/clock.ts';
import { CommandError } from '../shared/output.ts';

/** Throws a CommandError for a file that cannot be decoded. */
export async function samplesOf(file: string, sampleRate: number): Promise<Uint8Array> {
  const decodings = new FileDecodings({ clock: systemClock });
  const signal = new AbortController().signal;
  const pieces: Buffer[] = [];
  try {
    const source = await FileSource.open({
      bytes: statSync(file).isFile() ? statSync(file).size : undefined,
      rawSampleRate: undefined,
      read: () => createReadStream(file),
    });
    const decoder = await FileDecoder.open(source, (opened) => decodings.open(opened, 'cli', signal));
    for await (const piece of decoder.audio(sampleRate, null)) pieces.push(Buffer.from(piece));
  } catch (error) {
    if (error instanceof Refusal) throw new CommandError(error.message);
    if (!(error instanceof LegFailed)) throw error;
    if (error.failure.code !== 'unsupported_format') throw new CommandError(error.failure.message);
    throw new CommandError(
      `--live takes ${DECODED}, and ${file} is another kind. Leave --live out, or convert the file: ffmpeg -i ${file} speech.wav`,
    );
  } finally {
    decodings.close();
  }
  return Buffer.concat(pieces);
}
