// Open dictation that a package of the registry has in it: Moonshine tiny, English, on ONNX Runtime's WebAssembly. Nothing is
// downloaded; what the package wants for browsers alone is left out by the `overrides` of package.json.
// https://github.com/moonshine-ai/moonshine-js
import { readFile } from 'node:fs/promises';
import llamaTokenizer from 'llama-tokenizer-js';
import { env, InferenceSession, Tensor } from 'onnxruntime-web';

export const RATE = 16_000;
/** Of the model: attention heads, and the numbers of each. */
const PAST_SHAPE = [0, 8, 1, 36];
const [BEGIN, END] = [1, 2];
/** The model repeats itself where it is lost; nobody says more. */
const TOKENS_PER_SECOND_MAX = 6;

export class Moonshine {
  private readonly encoder: InferenceSession;
  private readonly decoder: InferenceSession;

  private constructor(encoder: InferenceSession, decoder: InferenceSession) {
    this.encoder = encoder;
    this.decoder = decoder;
  }

  static async load(): Promise<Moonshine> {
    // More threads take longer where others work as well.
    env.wasm.numThreads = 1;
    const main = import.meta.resolve('@moonshine-ai/moonshine-js');
    const open = async (name: string) =>
      InferenceSession.create(await readFile(new URL(`model/tiny/quantized/${name}.onnx`, main)));
    return new Moonshine(await open('encoder_model'), await open('decoder_model_merged'));
  }

  /** Greedily: the likeliest piece of a word each time. */
  async hear(samples: Float32Array): Promise<string> {
    const { last_hidden_state: encoded } = await this.encoder.run({
      input_values: new Tensor('float32', samples, [1, samples.length]),
    });
    const pasts = this.decoder.inputNames.filter((name) => name.startsWith('past_key_values'));
    const nothing: Tensor = new Tensor('float32', new Float32Array(), PAST_SHAPE);
    const past = Object.fromEntries(pasts.map((name) => [name, nothing]));
    const tokens = [BEGIN];
    const tokensMax = (samples.length / RATE) * TOKENS_PER_SECOND_MAX;
    while (tokens.length <= tokensMax) {
      const isFirst = tokens.length === 1;
      const heard = await this.decoder.run({
        input_ids: new Tensor('int64', [BigInt(tokens.at(-1) as number)], [1, 1]),
        encoder_hidden_states: encoded as Tensor,
        use_cache_branch: new Tensor('bool', [!isFirst], [1]),
        ...past,
      });
      const token = likeliest((heard.logits as Tensor).data as Float32Array);
      if (token === END) break;
      tokens.push(token);
      // What was made of the audio stays as it was.
      for (const name of pasts) {
        if (isFirst || name.includes('decoder'))
          past[name] = heard[name.replace('past_key_values', 'present')] as Tensor;
      }
    }
    return llamaTokenizer.decode(tokens).trim();
  }
}

function likeliest(logits: Float32Array): number {
  let best = 0;
  for (let token = 1; token < logits.length; token++) {
    if ((logits[token] as number) > (logits[best] as number)) best = token;
  }
  return best;
}
