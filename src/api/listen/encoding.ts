// What a live client's bytes are: samples, each by itself, or Opus and containers, which are decoded as they come.
import { type Static, Type } from '@sinclair/typebox';

/** Samples of one channel. */
const RAW = ['linear16', 'mulaw', 'alaw'] as const;
/** Opus: a packet in each message, or a container that is cut into messages anywhere. `auto`: the first bytes name the container. */
export const CODED_ENCODINGS = ['opus', 'ogg-opus', 'webm-opus', 'auto'] as const;

export type RawEncoding = (typeof RAW)[number];
export type CodedEncoding = (typeof CODED_ENCODINGS)[number];

export const ENCODINGS: readonly (RawEncoding | CodedEncoding)[] = [...RAW, ...CODED_ENCODINGS];

export const Encoding = Type.Unsafe<RawEncoding | CodedEncoding>(
  Type.Union(
    ENCODINGS.map((encoding) => Type.Literal(encoding)),
    {
      description:
        '`linear16` (little-endian), `mulaw` and `alaw` are samples; several `channels` are interleaved. `opus` is one Opus packet in each binary message. `ogg-opus` is an Ogg stream with Opus, and `webm-opus` a WebM or Matroska stream, such as the output of a browser’s recorder. Send both from their beginning, cut into messages anywhere. `auto` is WebM or Ogg with Opus, or WAV, recognised by its first bytes. Two channels of these are mixed to one.',
    },
  ),
);
export type Encoding = Static<typeof Encoding>;

/** Hertz that Opus and containers are decoded to. */
export const DECODED_RATES: readonly number[] = [8_000, 12_000, 16_000, 24_000, 48_000];

export const isCoded = (encoding: Encoding): encoding is CodedEncoding =>
  (CODED_ENCODINGS as readonly string[]).includes(encoding);
