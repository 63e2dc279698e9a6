// The models, and whose options they take. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

import type { AssemblyaiParams, AwsParams, AzureParams, CartesiaParams } from './params/a-c.ts';
import type {
  DeepgramFluxGeneralEnParams,
  DeepgramParams,
  ElevenlabsParams,
  ElevenlabsScribeV2Params,
  FireworksParams,
} from './params/d-f.ts';
import type { GladiaParams, GoogleParams, GroqParams } from './params/g-i.ts';
import type {
  KyutaiParams,
  LocalAlignEnParams,
  LocalCommandsEnParams,
  LocalParams,
  LoopbackNumberedParams,
  LoopbackParams,
} from './params/j-l.ts';
import type {
  MistralParams,
  MistralVoxtralMini2602Params,
  MistralVoxtralMiniTranscribeRealtime2602Params,
  NvidiaParams,
  OpenaiParams,
} from './params/m-o.ts';
import type { RevaiParams } from './params/p-r.ts';
import type { SonioxParams, SpeachesParams, SpeechmaticsParams } from './params/s-u.ts';
import type { VllmParams, VoskParams, WhispercppParams, XaiParams } from './params/v-x.ts';

/** The type of `providerParams`, by model. */
export interface ModelParams {
  'local/dictation-en': LocalParams;
  'local/commands-en': LocalCommandsEnParams;
  'local/digits-en': LocalCommandsEnParams;
  'local/align-en': LocalAlignEnParams;
  'local/commands-fr': LocalCommandsEnParams;
  'local/align-fr': LocalAlignEnParams;
  'deepgram/nova-3': DeepgramParams;
  'deepgram/nova-2': DeepgramParams;
  'deepgram/nova-2-meeting': DeepgramParams;
  'deepgram/nova-2-phonecall': DeepgramParams;
  'deepgram/nova-2-finance': DeepgramParams;
  'deepgram/nova-2-conversationalai': DeepgramParams;
  'deepgram/nova-2-voicemail': DeepgramParams;
  'deepgram/nova-2-video': DeepgramParams;
  'deepgram/nova-2-medical': DeepgramParams;
  'deepgram/nova-2-drivethru': DeepgramParams;
  'deepgram/nova-2-automotive': DeepgramParams;
  'deepgram/flux-general-en': DeepgramFluxGeneralEnParams;
  'deepgram/flux-general-multi': DeepgramFluxGeneralEnParams;
  'assemblyai/universal-streaming-english': AssemblyaiParams;
  'assemblyai/universal-streaming-multilingual': AssemblyaiParams;
  'assemblyai/u3-rt-pro': AssemblyaiParams;
  'assemblyai/universal-3-5-pro': AssemblyaiParams;
  'assemblyai/universal-3-6-pro': AssemblyaiParams;
  'assemblyai/whisper-rt': AssemblyaiParams;
  'assemblyai/universal-2': AssemblyaiParams;
  'openai/gpt-live-transcribe': OpenaiParams;
  'openai/gpt-realtime-whisper': OpenaiParams;
  'openai/gpt-transcribe': OpenaiParams;
  'openai/gpt-4o-transcribe': OpenaiParams;
  'openai/gpt-4o-mini-transcribe': OpenaiParams;
  'openai/gpt-4o-transcribe-diarize': OpenaiParams;
  'openai/whisper-1': OpenaiParams;
  'speechmatics/enhanced': SpeechmaticsParams;
  'speechmatics/standard': SpeechmaticsParams;
  'gladia/solaria-1': GladiaParams;
  'revai/machine': RevaiParams;
  'soniox/stt-rt-v5': SonioxParams;
  'soniox/stt-async-v5': SonioxParams;
  'elevenlabs/scribe_v2_realtime': ElevenlabsParams;
  'elevenlabs/scribe_v2': ElevenlabsScribeV2Params;
  'cartesia/ink-2': CartesiaParams;
  'cartesia/ink-whisper': CartesiaParams;
  'mistral/voxtral-mini-transcribe-realtime-3': MistralParams;
  'mistral/voxtral-mini-transcribe-realtime-2602': MistralVoxtralMiniTranscribeRealtime2602Params;
  'mistral/voxtral-mini-2602': MistralVoxtralMini2602Params;
  'mistral/voxtral-mini-transcribe-3': MistralVoxtralMini2602Params;
  'mistral/voxtral-small-transcribe-3': MistralVoxtralMini2602Params;
  'groq/whisper-large-v3': GroqParams;
  'groq/whisper-large-v3-turbo': GroqParams;
  'speaches/faster-whisper-large-v3': SpeachesParams;
  'speaches/faster-whisper-large-v3-turbo': SpeachesParams;
  'speaches/faster-whisper-large-v2': SpeachesParams;
  'speaches/faster-whisper-medium': SpeachesParams;
  'speaches/faster-whisper-small': SpeachesParams;
  'speaches/faster-whisper-base': SpeachesParams;
  'speaches/faster-whisper-tiny': SpeachesParams;
  'speaches/faster-whisper-medium.en': SpeachesParams;
  'speaches/faster-whisper-small.en': SpeachesParams;
  'speaches/faster-whisper-base.en': SpeachesParams;
  'speaches/faster-whisper-tiny.en': SpeachesParams;
  'speaches/faster-distil-whisper-large-v3': SpeachesParams;
  'speaches/faster-distil-whisper-medium.en': SpeachesParams;
  'speaches/faster-distil-whisper-small.en': SpeachesParams;
  'vllm/voxtral-mini-4b-realtime-2602': VllmParams;
  'vllm/voxtral-mini-3b-2507': VllmParams;
  'vllm/voxtral-small-24b-2507': VllmParams;
  'vllm/qwen3-asr-0.6b': VllmParams;
  'vllm/qwen3-asr-1.7b': VllmParams;
  'vllm/whisper-large-v3': VllmParams;
  'vllm/whisper-large-v3-turbo': VllmParams;
  'vllm/whisper-small': VllmParams;
  'vllm/cohere-transcribe-03-2026': VllmParams;
  'vllm/granite-4.0-1b-speech': VllmParams;
  'whispercpp/whisper': WhispercppParams;
  'xai/grok-voice-transcribe-2.0': XaiParams;
  'fireworks/whisper-v3-turbo': FireworksParams;
  'vosk/small-en-us-0.15': VoskParams;
  'vosk/en-us-0.22': VoskParams;
  'vosk/small-de-0.15': VoskParams;
  'vosk/de-0.21': VoskParams;
  'vosk/small-fr-0.22': VoskParams;
  'vosk/fr-0.22': VoskParams;
  'vosk/small-es-0.42': VoskParams;
  'vosk/es-0.42': VoskParams;
  'vosk/small-it-0.22': VoskParams;
  'vosk/small-pt-0.3': VoskParams;
  'azure/speech': AzureParams;
  'google/chirp_3': GoogleParams;
  'google/chirp_2': GoogleParams;
  'google/long': GoogleParams;
  'google/short': GoogleParams;
  'google/telephony': GoogleParams;
  'aws/transcribe': AwsParams;
  'kyutai/stt-1b-en_fr': KyutaiParams;
  'nvidia/parakeet-ctc-1.1b': NvidiaParams;
  'nvidia/parakeet-rnnt-1.1b-multilingual': NvidiaParams;
  'nvidia/nemotron-asr-streaming': NvidiaParams;
  'loopback/script': LoopbackParams;
  'loopback/numbered': LoopbackNumberedParams;
}

/** The same by provider, for models that are not listed. */
export interface ProviderParams {
  local: LocalParams | LocalCommandsEnParams | LocalAlignEnParams;
  deepgram: DeepgramParams | DeepgramFluxGeneralEnParams;
  assemblyai: AssemblyaiParams;
  openai: OpenaiParams;
  speechmatics: SpeechmaticsParams;
  gladia: GladiaParams;
  revai: RevaiParams;
  soniox: SonioxParams;
  elevenlabs: ElevenlabsParams | ElevenlabsScribeV2Params;
  cartesia: CartesiaParams;
  mistral: MistralParams | MistralVoxtralMiniTranscribeRealtime2602Params | MistralVoxtralMini2602Params;
  groq: GroqParams;
  speaches: SpeachesParams;
  vllm: VllmParams;
  whispercpp: WhispercppParams;
  xai: XaiParams;
  fireworks: FireworksParams;
  vosk: VoskParams;
  azure: AzureParams;
  google: GoogleParams;
  aws: AwsParams;
  kyutai: KyutaiParams;
  nvidia: NvidiaParams;
  loopback: LoopbackParams | LoopbackNumberedParams;
}
