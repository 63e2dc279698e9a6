// How the clients of each vendor change a session while it goes on, and what they are told of it.
export type Message = Readonly<Record<string, unknown>>;

export interface VendorClient {
  vendor: string;
  path: string;
  /** What is said behind the handshake, and the message that the client waits for then. */
  first: readonly object[];
  opened(message: Message): boolean;
  audio(bytes: Uint8Array): Uint8Array | object;
  /** Ends the turn. */
  finalize: object;
  /** Ends the session; where nothing does, it is over when as many finals are there as turns were ended. */
  close: object | undefined;
  /** The text of a final. */
  final(message: Message): string | undefined;
  /** A change that all models can be asked for, what it is answered with, and what Deepgram's Nova is asked for then. */
  change(language: string): object;
  answer?(language: string): (message: Message) => boolean;
  asked(language: string): Readonly<Record<string, string>>;
  /** Nobody else's, as is seen by what the model is asked for. */
  languages: readonly [string, string];
  /** One that is refused, and what it is answered with. */
  bad: object;
  refusal: Message;
}

const query = (parameters: Record<string, string>): string => String(new URLSearchParams(parameters));
const MODEL = 'deepgram/nova-3';
const RATE = 16_000;

const sessionUpdate = (input: object) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input } },
});

export const VENDORS: readonly VendorClient[] = [
  {
    vendor: 'deepgram',
    path: `/compat/deepgram/v2/listen?${query({ model: MODEL, encoding: 'linear16', sample_rate: String(RATE) })}`,
    first: [],
    opened: ({ type }) => type === 'Connected',
    audio: (bytes) => bytes,
    finalize: { type: 'ForceEndTurn' },
    close: { type: 'CloseStream' },
    final: ({ event, transcript }) => (event === 'EndOfTurn' ? String(transcript) : undefined),
    change: (language) => ({ type: 'Configure', keyterms: [language], numerals: true }),
    answer:
      (language) =>
      ({ type, keyterms }) =>
        type === 'ConfigureSuccess' && String(keyterms) === language,
    asked: (language) => ({ keyterm: language, numerals: 'true' }),
    languages: ['Voxgate', 'Gate'],
    bad: { type: 'Configure', language_hints: ['no language'] },
    refusal: { type: 'ConfigureFailure', code: 'INVALID_REQUEST' },
  },
  {
    vendor: 'assemblyai',
    path: `/compat/assemblyai/v3/ws?${query({ speech_model: MODEL, sample_rate: String(RATE) })}`,
    first: [],
    opened: ({ type }) => type === 'Begin',
    audio: (bytes) => bytes,
    finalize: { type: 'ForceEndpoint' },
    close: { type: 'Terminate' },
    final: ({ end_of_turn, transcript }) => (end_of_turn === true ? String(transcript) : undefined),
    change: (language) => ({ type: 'UpdateConfiguration', keyterms_prompt: ['Vox'], language_codes: [language] }),
    asked: (language) => ({ keyterm: 'Vox', language }),
    languages: ['de', 'fr'],
    bad: { type: 'UpdateConfiguration', language_codes: ['no language'] },
    refusal: { type: 'Warning', warning_code: 3006 },
  },
  {
    vendor: 'speechmatics',
    path: `/compat/speechmatics/v2?${query({ model: MODEL })}`,
    first: [
      {
        message: 'StartRecognition',
        audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: RATE },
        transcription_config: { language: 'en' },
      },
    ],
    opened: ({ message }) => message === 'RecognitionStarted',
    audio: (bytes) => bytes,
    finalize: { message: 'ForceEndOfUtterance' },
    close: { message: 'EndOfStream', last_seq_no: 0 },
    final: ({ message, metadata }) =>
      message === 'AddTranscript' ? (metadata as { transcript: string }).transcript.trim() : undefined,
    change: (language) => ({ message: 'SetRecognitionConfig', transcription_config: { language } }),
    asked: (language) => ({ language }),
    languages: ['es', 'it'],
    bad: { message: 'SetRecognitionConfig', transcription_config: { language: 'no language' } },
    refusal: { message: 'Warning', type: 'unsupported_config' },
  },
  {
    vendor: 'openai',
    path: `/compat/openai/v1/realtime?${query({ intent: 'transcription', sample_rate: String(RATE) })}`,
    first: [sessionUpdate({ transcription: { model: MODEL }, turn_detection: null })],
    opened: ({ type }) => type === 'session.updated',
    audio: (bytes) => ({ type: 'input_audio_buffer.append', audio: Buffer.from(bytes).toString('base64') }),
    finalize: { type: 'input_audio_buffer.commit' },
    close: undefined,
    final: ({ type, transcript }) =>
      type === 'conversation.item.input_audio_transcription.completed' ? String(transcript) : undefined,
    change: (language) => sessionUpdate({ transcription: { language } }),
    answer: (language) => (message) =>
      message.type === 'session.updated' && JSON.stringify(message).includes(`"language":"${language}"`),
    asked: (language) => ({ language }),
    languages: ['nl', 'pt'],
    bad: sessionUpdate({ transcription: { language: 'no language' } }),
    refusal: { type: 'error' },
  },
];
