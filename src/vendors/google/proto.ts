// The fields of google.cloud.speech.v2 that are used. https://github.com/googleapis/googleapis/blob/master/google/cloud/speech/v2/cloud_speech.proto
import { flag, float, int, many, text } from '../kit/grpc/messages.ts';
import type { GrpcMethod } from '../kit/provider.ts';

export const PATH = '/google.cloud.speech.v2.Speech/StreamingRecognize';

const duration = (id: number) => ({ type: 'Duration', id });

export const streamingRecognize: GrpcMethod = {
  request: 'StreamingRecognizeRequest',
  response: 'StreamingRecognizeResponse',
  audio: 'audio',
  types: {
    Duration: { fields: { seconds: { type: 'int64', id: 1 }, nanos: int(2) } },
    StreamingRecognizeRequest: {
      fields: {
        recognizer: text(3),
        audio: { type: 'bytes', id: 5 },
        streamingConfig: { type: 'StreamingConfig', id: 6 },
      },
    },
    StreamingConfig: {
      fields: { config: { type: 'Config', id: 1 }, streamingFeatures: { type: 'StreamingFeatures', id: 2 } },
    },
    Config: {
      fields: {
        features: { type: 'Features', id: 2 },
        adaptation: { type: 'Adaptation', id: 6 },
        explicitDecodingConfig: { type: 'Decoding', id: 8 },
        model: text(9),
        languageCodes: many('string', 10),
        denoiserConfig: { type: 'Denoiser', id: 16 },
      },
    },
    Features: {
      fields: {
        profanityFilter: flag(1),
        enableWordTimeOffsets: flag(2),
        enableWordConfidence: flag(3),
        enableAutomaticPunctuation: flag(4),
        enableSpokenPunctuation: flag(14),
        enableSpokenEmojis: flag(15),
      },
    },
    Adaptation: { fields: { phraseSets: many('AdaptationPhraseSet', 1) } },
    AdaptationPhraseSet: { fields: { inlinePhraseSet: { type: 'PhraseSet', id: 2 } } },
    PhraseSet: { fields: { phrases: many('Phrase', 3), boost: float(4) } },
    Phrase: { fields: { value: text(1), boost: float(2) } },
    Decoding: { fields: { encoding: { type: 'Encoding', id: 1 }, sampleRateHertz: int(2), audioChannelCount: int(3) } },
    Encoding: { values: { AUDIO_ENCODING_UNSPECIFIED: 0, LINEAR16: 1, MULAW: 2, ALAW: 3 } },
    Denoiser: { fields: { denoiseAudio: flag(1), snrThreshold: float(2) } },
    StreamingFeatures: {
      fields: {
        enableVoiceActivityEvents: flag(1),
        interimResults: flag(2),
        endpointingSensitivity: { type: 'Sensitivity', id: 8 },
      },
    },
    Sensitivity: {
      values: {
        ENDPOINTING_SENSITIVITY_UNSPECIFIED: 0,
        ENDPOINTING_SENSITIVITY_STANDARD: 1,
        ENDPOINTING_SENSITIVITY_SUPERSHORT: 2,
        ENDPOINTING_SENSITIVITY_SHORT: 3,
      },
    },
    StreamingRecognizeResponse: {
      fields: {
        speechEventType: { type: 'SpeechEvent', id: 3 },
        metadata: { type: 'Metadata', id: 5 },
        results: many('Result', 6),
        speechEventOffset: duration(7),
      },
    },
    SpeechEvent: {
      values: {
        SPEECH_EVENT_TYPE_UNSPECIFIED: 0,
        END_OF_SINGLE_UTTERANCE: 1,
        SPEECH_ACTIVITY_BEGIN: 2,
        SPEECH_ACTIVITY_END: 3,
      },
    },
    Metadata: { fields: { totalBilledDuration: duration(6) } },
    Result: {
      fields: {
        alternatives: many('Alternative', 1),
        isFinal: flag(2),
        stability: float(3),
        resultEndOffset: duration(4),
        channelTag: int(5),
        languageCode: text(6),
      },
    },
    Alternative: { fields: { transcript: text(1), confidence: float(2), words: many('Word', 3) } },
    Word: {
      fields: {
        startOffset: duration(1),
        endOffset: duration(2),
        word: text(3),
        confidence: float(4),
        speakerLabel: text(6),
      },
    },
  },
};
