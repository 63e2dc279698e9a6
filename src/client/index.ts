// `voxgate/client`: the client for browsers and Node. In a browser it has no dependency and needs no bundler. What only Node can
// do is `voxgate/client/node`.
export type { Answer } from './answer.ts';
export { type UsageOptions, Voxgate } from './client.ts';
export {
  AuthenticationError,
  type ClientErrorCode,
  ConnectionError,
  InsufficientCreditError,
  InvalidRequestError,
  MicrophoneError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UpstreamError,
  VoxgateError,
} from './errors.ts';
export type { Reconnected, ServerEvent, SessionEvent } from './events.ts';
export type { FileInput, FileSource } from './file-body.ts';
export type { CallOptions, Metadata } from './http.ts';
export type { ListenOptions } from './listen-options.ts';
export type { AudioData, AudioSource, LiveSession, PipeOptions } from './live-session.ts';
export type { Microphone, MicrophoneOptions } from './microphone.ts';
export type { Fallback, LooseParams, ModelSlug, ParamsOf } from './params.ts';
export type { ReconnectOptions } from './reconnect.ts';
export type { TokenGrant, VoxgateOptions } from './settings.ts';
export type { SessionSummary } from './summary.ts';
export type { TranscribeOptions, TranscriptionOf } from './transcribe.ts';
export type * from './types/answers.ts';
export type * from './types/events.ts';
export type * from './types/models.ts';
export type * from './types/transcriptions.ts';
export type { WebSocketConstructor, WebSocketLike } from './web-socket.ts';
