// One streaming call of the simulated Google: a config, audio, and results until the requests end.
import { Type } from '@sinclair/typebox';
import { type JsonObject, objectIn } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, members, oneOf } from '../../kit/simulator/checks.ts';
import { SimulatedCall } from '../../kit/simulator/grpc-call.ts';
import type { HeardTurnText } from '../../kit/simulator/session.ts';
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';

export const RECOGNIZER = /^projects\/[^/]+\/locations\/[a-z0-9-]+\/recognizers\/[^/]+$/;
/** The limits of a call. */
const AUDIO_BYTES_MAX = 25_600;
const QUIET_MS = 10_000;
const CALL_MS = 305_000;
const SPEED_MAX = 2;

const flag = Type.Boolean();
const text = Type.String();
const Config = members(
  {
    model: oneOf('chirp_3', 'chirp_2', 'long', 'short', 'telephony'),
    languageCodes: Type.Array(text, { minItems: 1, maxItems: 4 }),
  },
  {
    explicitDecodingConfig: members(
      { encoding: Type.Literal('LINEAR16') },
      { sampleRateHertz: Type.Integer({ minimum: 8_000, maximum: 48_000 }), audioChannelCount: Type.Literal(1) },
    ),
    autoDecodingConfig: Type.Object({}),
    features: members(
      {},
      {
        profanityFilter: flag,
        enableWordTimeOffsets: flag,
        enableWordConfidence: flag,
        enableAutomaticPunctuation: flag,
        enableSpokenPunctuation: flag,
        enableSpokenEmojis: flag,
      },
    ),
    adaptation: Type.Object({
      phraseSets: Type.Array(
        Type.Object({
          inlinePhraseSet: members(
            { phrases: Type.Array(members({ value: text }, { boost: Type.Number() })) },
            { boost: Type.Number({ minimum: 0, maximum: 20 }) },
          ),
        }),
      ),
    }),
    denoiserConfig: members({}, { denoiseAudio: flag, snrThreshold: Type.Number({ minimum: 0, maximum: 1_000 }) }),
  },
);
const LANGUAGE = /^auto$|^[a-z]{2,3}(?:-[A-Z][a-z]{3})?-(?:[A-Z]{2}|\d{3})$/;

/** What is wrong with a config, in words. */
export function configFault(config: unknown): string | undefined {
  const fault = faultIn(Config, config);
  if (fault !== undefined) return `Invalid value at 'config.${fault.member}'.`;
  const { model, languageCodes, features } = config as JsonObject & { languageCodes: string[]; model: string };
  const unknown = languageCodes.find((code) => !LANGUAGE.test(code) || (code === 'auto' && !model.startsWith('chirp')));
  if (unknown !== undefined) return `The language "${unknown}" is not supported by the model "${model}".`;
  const times = objectIn(features).enableWordTimeOffsets === true;
  return times && model === 'chirp_3' ? 'The model "chirp_3" does not support word time offsets.' : undefined;
}

export const durationText = (seconds: number): string => `${Math.floor(seconds * 1e6 + 1e-3) / 1e6}s`;

export function alternativeOf(heard: HeardText, withWords: boolean) {
  const words = wordsOf(heard).map(({ word, start, end, confidence = 0.9 }) => ({
    ...{ word, startOffset: durationText(start), endOffset: durationText(end), confidence },
  }));
  return { transcript: heard.text, ...(withWords && words.length > 0 ? { words } : {}) };
}

const durationOf = (seconds: number) => {
  const micros = Math.floor(seconds * 1e6 + 1e-3);
  return { seconds: Math.floor(micros / 1e6), nanos: (micros % 1e6) * 1_000 };
};

export class StreamingCall extends SimulatedCall {
  readonly #recognizer: string;
  #features: JsonObject = {};
  #wanted: JsonObject = {};

  constructor(peer: SimulatedPeer, tools: SimulatorTools, recognizer: string) {
    super(peer, tools);
    this.#recognizer = recognizer;
    this.#expect();
    this.later(CALL_MS, () => this.fail(11, 'Exceeded maximum allowed stream duration of 305 seconds.'));
  }

  protected request({ recognizer, streamingConfig }: JsonObject): void {
    if (this.isListening) this.refuse('Malordered data received. Expected audio_content none was set.');
    else if (recognizer !== this.#recognizer) this.refuse('Invalid resource field value in the request.');
    else this.#begin(objectIn(streamingConfig));
  }

  #begin({ config, streamingFeatures }: JsonObject): void {
    const fault = this.has('invalid-config') ? 'Config is refused.' : configFault(config);
    const { explicitDecodingConfig, features } = objectIn(config);
    const { sampleRateHertz } = objectIn(explicitDecodingConfig);
    if (fault !== undefined) this.refuse(fault);
    else if (typeof sampleRateHertz !== 'number') this.refuse("Invalid value at 'config.explicit_decoding_config'.");
    else {
      this.#features = objectIn(features);
      this.#wanted = objectIn(streamingFeatures);
      this.listen({ sampleRate: sampleRateHertz, language: undefined, speedMax: SPEED_MAX });
    }
  }

  protected override audio(bytes: Uint8Array): void {
    if (!this.isListening) this.refuse('Malordered data received. Expected streaming_config none was set.');
    else if (bytes.byteLength > AUDIO_BYTES_MAX) this.refuse('Audio chunk can be of a maximum of 25600 bytes.');
    else {
      this.#expect();
      this.hear(bytes);
    }
  }

  protected override speechStarted(start: number): void {
    if (this.#wanted.enableVoiceActivityEvents !== true || this.has('no-voice-activity')) return;
    this.peer.send({ speechEventType: 'SPEECH_ACTIVITY_BEGIN', speechEventOffset: durationOf(start) });
  }

  /** What is stable and what is not, where there is more than a word. */
  protected interim(heard: HeardTurnText): void {
    if (this.#wanted.interimResults !== true) return;
    const words = heard.text.split(' ');
    const cut = Math.max(1, words.length - 1);
    const parts = [words.slice(0, cut).join(' '), words.slice(cut).join(' ')].filter((part) => part !== '');
    this.peer.send({
      results: parts.map((part, index) => ({
        alternatives: [{ transcript: index === 0 ? part : ` ${part}` }],
        stability: index === 0 ? 0.9 : 0.01,
        resultEndOffset: durationOf(heard.end),
        languageCode: 'en-us',
      })),
    });
  }

  protected final(heard: HeardTurnText): void {
    const withWords = this.#features.enableWordTimeOffsets === true && !this.has('no-words');
    const { transcript, words } = alternativeOf(heard, withWords);
    const timed = words?.map(({ startOffset, endOffset, ...word }) => ({
      ...{ ...word, startOffset: durationOf(Number.parseFloat(startOffset)) },
      endOffset: durationOf(Number.parseFloat(endOffset)),
    }));
    const alternative = {
      transcript: ` ${transcript}`,
      confidence: 0.9,
      ...(timed === undefined ? {} : { words: timed }),
    };
    const result = {
      alternatives: [alternative],
      isFinal: true,
      resultEndOffset: durationOf(heard.end),
      languageCode: 'en-us',
    };
    this.peer.send({ results: [result], metadata: { totalBilledDuration: durationOf(Math.ceil(heard.end)) } });
  }

  protected failed(): void {
    this.fail(13, 'Internal error encountered.');
  }

  #expect(): void {
    const reason = 'Stream timed out after receiving no more client requests.';
    this.expectMore(QUIET_MS, () => this.fail(10, reason));
  }
}
