// Events of Amazon's event stream, one in each binary frame. https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html
import { EventStreamCodec } from '@smithy/core/event-streams';
import { type JsonObject, objectIn, objectOf } from '../kit/json.ts';

const codec = new EventStreamCodec(
  (bytes) =>
    typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
  (text) => Buffer.from(text),
);

const AUDIO_HEADERS = {
  ':content-type': { type: 'string', value: 'application/octet-stream' },
  ':event-type': { type: 'string', value: 'AudioEvent' },
  ':message-type': { type: 'string', value: 'event' },
} as const;

/** Audio for the service; without any, its end. */
export const audioEvent = (audio: Uint8Array): Uint8Array => codec.encode({ headers: AUDIO_HEADERS, body: audio });

/** An event of the service, or an exception; undefined for bytes that are neither. */
export function eventIn(bytes: Uint8Array): { type: string; isException: boolean; body: JsonObject } | undefined {
  try {
    const { headers, body } = codec.decode(bytes);
    const textOf = (name: string): string => String(headers[name]?.value ?? '');
    const isException = textOf(':message-type') !== 'event';
    const type = isException ? textOf(':exception-type') || textOf(':error-code') : textOf(':event-type');
    return { type, isException, body: objectIn(objectOf(Buffer.from(body).toString())) };
  } catch {
    return undefined;
  }
}
