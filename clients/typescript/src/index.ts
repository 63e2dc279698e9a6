// `@voxgate/client`: the client for browsers and Node. In a browser it has no dependency and needs no bundler. What only Node can
// do is `@voxgate/client/node`.

export { type MintOptions, type UsageOptions, Voxgate } from './client.ts';
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
export type { Reconnected, Reconnecting, ServerEvent, SessionEvent } from './events.ts';
export type { Answer } from './http/answer.ts';
export type { AudioAddress, AudioInput, FileInput, FilePart, FileSource } from './http/file-body.ts';
export type { CallOptions, Metadata } from './http/http.ts';
export type {
  CreateJobOptions,
  JobResultOptions,
  JobSettings,
  Jobs,
  ListJobsOptions,
  WaitForJobOptions,
} from './http/jobs.ts';
export type { TranscribeOptions, TranscriptionOf, TranscriptionSettings } from './http/transcribe.ts';
export type { ConfigureOptions } from './live/configure-options.ts';
export type { ListenOptions } from './live/listen-options.ts';
export type { AudioData, AudioSource, LiveSession, PipeOptions } from './live/live-session.ts';
export type { ReconnectOptions } from './live/reconnection/reconnect.ts';
export type { SessionSummary } from './live/summary.ts';
export type { WebSocketConstructor, WebSocketLike } from './live/web-socket.ts';
export type { Microphone, MicrophoneOptions } from './microphone/microphone.ts';
export type { Fallback, LooseParams, ModelSlug, ParamsOf, SpeechGate } from './params.ts';
export type { TokenGrant, VoxgateOptions } from './settings.ts';
export type { Tags } from './tags.ts';
export type * from './types/answers.ts';
export type * from './types/events.ts';
export type * from './types/models.ts';
export type * from './types/transcriptions.ts';
export type { Replacement } from './vocabulary.ts';
