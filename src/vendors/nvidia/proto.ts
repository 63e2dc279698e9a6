// The fields of nvidia.riva.asr that are used. https://github.com/nvidia-riva/common/blob/main/riva/proto/riva_asr.proto
import { flag, float, int, many, text } from '../kit/grpc/messages.ts';
import type { GrpcMethod } from '../kit/provider.ts';

export const PATH = '/nvidia.riva.asr.RivaSpeechRecognition/StreamingRecognize';

export const streamingRecognize: GrpcMethod = {
  request: 'StreamingRecognizeRequest',
  response: 'StreamingRecognizeResponse',
  audio: 'audioContent',
  types: {
    StreamingRecognizeRequest: {
      fields: { streamingConfig: { type: 'StreamingConfig', id: 1 }, audioContent: { type: 'bytes', id: 2 } },
    },
    StreamingConfig: { fields: { config: { type: 'Config', id: 1 }, interimResults: flag(2) } },
    Config: {
      fields: {
        encoding: { type: 'Encoding', id: 1 },
        sampleRateHertz: int(2),
        languageCode: text(3),
        maxAlternatives: int(4),
        profanityFilter: flag(5),
        speechContexts: many('SpeechContext', 6),
        audioChannelCount: int(7),
        enableWordTimeOffsets: flag(8),
        enableAutomaticPunctuation: flag(11),
        verbatimTranscripts: flag(14),
        diarizationConfig: { type: 'Diarization', id: 19 },
        customConfiguration: { type: 'string', id: 24, keyType: 'string' },
        endpointingConfig: { type: 'Endpointing', id: 25 },
      },
    },
    Encoding: { values: { ENCODING_UNSPECIFIED: 0, LINEAR_PCM: 1 } },
    SpeechContext: { fields: { phrases: many('string', 1), boost: float(4) } },
    Diarization: { fields: { enableSpeakerDiarization: flag(1), maxSpeakerCount: int(2) } },
    Endpointing: {
      fields: {
        startHistory: int(1),
        startThreshold: float(2),
        stopHistory: int(3),
        stopThreshold: float(4),
        stopHistoryEou: int(5),
        stopThresholdEou: float(6),
      },
    },
    StreamingRecognizeResponse: { fields: { results: many('Result', 1) } },
    Result: {
      fields: {
        alternatives: many('Alternative', 1),
        isFinal: flag(2),
        stability: float(3),
        channelTag: int(5),
        audioProcessed: float(6),
      },
    },
    Alternative: { fields: { transcript: text(1), confidence: float(2), words: many('Word', 3) } },
    Word: { fields: { startTime: int(1), endTime: int(2), word: text(3), confidence: float(4), speakerTag: int(5) } },
  },
};
