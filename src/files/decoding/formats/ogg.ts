// Ogg with Opus, Vorbis or FLAC in it; recordings that were put one behind the other are decoded one after the other.
import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import CodecParser, { type OggPage, type OpusHeader } from 'codec-parser';
import { FlacFrameDecoder } from './flac.ts';
import { opusPackets, requireChannels, type Sound } from './sound.ts';

/** The sound of one page after the other. */
type DecodePage = (page: OggPage) => AsyncGenerator<Sound>;

export async function* oggSound(bytes: AsyncIterable<Uint8Array>, onDamage: () => void): AsyncGenerator<Sound> {
  const parser = new CodecParser<OggPage>('audio/ogg', { enableFrameCRC32: false });
  let decode: DecodePage | undefined;
  let isWhole = true;
  const decoded = async function* (pages: Iterator<OggPage>) {
    for (const page of { [Symbol.iterator]: () => pages }) {
      if (page.isFirstPage) decode = undefined;
      decode ??= DECODERS[parser.codec]?.();
      isWhole = page.isLastPage;
      const [first] = page.codecFrames ?? [];
      if (first !== undefined) requireChannels(first.header.channels);
      if (decode !== undefined) yield* decode(page);
    }
  };
  for await (const block of bytes) yield* decoded(parser.parseChunk(block));
  yield* decoded(parser.flush());
  if (!isWhole) onDamage();
}

const DECODERS: Readonly<Record<string, () => DecodePage>> = { opus: opusPages, vorbis: vorbisPages, flac: flacPages };

function opusPages(): DecodePage {
  let packets: ((packet: Uint8Array) => Sound) | undefined;
  return async function* ({ codecFrames }) {
    for (const { header, data } of codecFrames) {
      // Of a page that is cut off, packets without a byte are left: the decoder would make sound of them.
      if (data.length === 0) continue;
      packets ??= await opusPackets(header as OpusHeader);
      yield packets(data);
    }
  };
}

function vorbisPages(): DecodePage {
  const decoder = new OggVorbisDecoder();
  return async function* (page) {
    await decoder.ready;
    yield await decoder.decodeOggPages([page]);
  };
}

function flacPages(): DecodePage {
  const decoder = new FlacFrameDecoder();
  return async function* ({ codecFrames }) {
    await decoder.ready;
    for (const { data } of codecFrames) yield await decoder.decode(data);
  };
}
