// One good conversation of each endpoint: what its handshake asks for, and every message that its clients send.

export interface Example {
  query: string;
  headers?: Readonly<Record<string, string>>;
  /** In their order; sent in any by who mutates them. */
  messages: readonly string[];
}

const texts = (...messages: readonly object[]): string[] => messages.map((message) => JSON.stringify(message));

/** By dialect and path. */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  twilio: {
    '/media': {
      query: '',
      messages: texts(
        { event: 'connected', protocol: 'Call', version: '1.0.0' },
        {
          event: 'start',
          start: {
            ...{ callSid: 'CA1', streamSid: 'MZ1', tracks: ['inbound', 'outbound'] },
            mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
            customParameters: { model: 'loopback/numbered', label: 'support', events_url: 'https://example.com/' },
          },
        },
        { event: 'media', media: { track: 'inbound', chunk: '1', timestamp: '0', payload: 'fn5+fg==' } },
        { event: 'media', media: { track: 'outbound', chunk: '1', timestamp: '0', payload: 'fn5+fg==' } },
        { event: 'mark', mark: { name: 'greeting' } },
        { event: 'stop', stop: { callSid: 'CA1' } },
      ),
    },
  },
  telnyx: {
    '/media': {
      query: 'model=loopback/numbered',
      messages: texts(
        {
          event: 'start',
          stream_id: 'st-1',
          start: {
            ...{ call_control_id: 'v3:abc', custom_parameters: { tracks: 'both_tracks', language: 'en' } },
            media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 },
          },
        },
        { event: 'media', media: { track: 'inbound', chunk: '2', payload: 'fn5+fg==' } },
        { event: 'stop' },
      ),
    },
  },
  vonage: {
    '/media': {
      query: 'model=loopback/numbered',
      messages: texts(
        { event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000', label: 'support' },
        { event: 'websocket:dtmf', digit: '1', duration: 260 },
      ),
    },
  },
  audiohook: {
    '/media': {
      query: 'model=loopback/numbered',
      messages: texts(
        {
          ...{ version: '2', type: 'open', seq: 1, id: '9aba9a07-8dd5-4654-974a-44075c3d2ba5' },
          parameters: {
            conversationId: '2f0f0e3a-7b0a-4b0c-9b1e-000000000001',
            media: [{ type: 'audio', format: 'PCMU', channels: ['external', 'internal'], rate: 8000 }],
            ...{ language: 'en-US', customConfig: { interim_results: 'true' } },
          },
        },
        { version: '2', type: 'ping', seq: 2, id: '9aba9a07-8dd5-4654-974a-44075c3d2ba5', parameters: {} },
        { version: '2', type: 'close', seq: 3, id: '9aba9a07-8dd5-4654-974a-44075c3d2ba5', parameters: {} },
      ),
    },
  },
  assemblyai: {
    '/v3/ws': {
      query:
        'speech_model=universal-streaming-english&sample_rate=16000&encoding=pcm_s16le&format_turns=true&keyterms_prompt=%5B%22voxgate%22%5D&end_of_turn_confidence_threshold=0.5&min_turn_silence=300&speaker_labels=true&language_codes=%5B%22en%22%2C%22es%22%5D&redact_pii=true',
      messages: texts(
        { type: 'UpdateConfiguration', min_turn_silence: 200 },
        { type: 'ForceEndpoint' },
        { type: 'KeepAlive' },
        { type: 'Terminate' },
      ),
    },
  },
  elevenlabs: {
    '/v1/speech-to-text/realtime': {
      query:
        'model_id=scribe_v2_realtime&audio_format=pcm_16000&commit_strategy=vad&vad_silence_threshold_secs=1.5&language_code=eng&include_timestamps=true&keyterms=voxgate&keyterms=gate&secondary_languages=es&no_verbatim=true',
      messages: texts(
        { message_type: 'input_audio_chunk', audio_base_64: 'AAAA', commit: false, sample_rate: 16_000 },
        { message_type: 'input_audio_chunk', audio_base_64: '', commit: true, sample_rate: 16_000 },
      ),
    },
  },
  deepgram: {
    '/v1/listen': {
      query:
        'model=nova-3&encoding=linear16&sample_rate=16000&channels=1&interim_results=true&smart_format=true&punctuate=true&language=en-US&vad_events=true&utterance_end_ms=1000&endpointing=300&keyterm=voxgate&keyterm=gate&redact=pci&diarize=true&tag=test',
      messages: texts({ type: 'KeepAlive' }, { type: 'Finalize', channel: 0 }, { type: 'CloseStream' }),
    },
    '/v2/listen': {
      query:
        'model=flux-general-en&encoding=linear16&sample_rate=16000&eot_threshold=0.7&eager_eot_threshold=0.5&eot_timeout_ms=5000&keyterm=voxgate&language_hint=en',
      messages: texts(
        { type: 'Configure', thresholds: { eot_threshold: 0.8 }, keyterms: ['gate'] },
        { type: 'ForceEndTurn' },
        { type: 'CloseStream' },
      ),
    },
  },
  openai: {
    '/v1/realtime': {
      query: 'intent=transcription&model=gpt-4o-transcribe&sample_rate=16000&fallbacks=deepgram/nova-3',
      messages: texts(
        {
          ...{ type: 'session.update', event_id: 'update-1' },
          session: {
            type: 'transcription',
            audio: {
              input: {
                format: { type: 'audio/pcm', rate: 24_000 },
                transcription: { model: 'gpt-4o-transcribe', language: 'en', prompt: 'gate', keywords: ['voxgate'] },
                turn_detection: { type: 'server_vad', threshold: 0.4, silence_duration_ms: 300 },
                noise_reduction: { type: 'near_field' },
              },
            },
            include: ['item.input_audio_transcription.logprobs'],
          },
        },
        {
          type: 'transcription_session.update',
          session: {
            input_audio_format: 'g711_ulaw',
            input_audio_transcription: { model: 'whisper-1', language: 'de' },
            turn_detection: null,
            input_audio_noise_reduction: null,
          },
        },
        { type: 'input_audio_buffer.append', audio: 'AAAA'.repeat(2_000) },
        { type: 'input_audio_buffer.commit', event_id: 'commit-1' },
        { type: 'input_audio_buffer.clear' },
        { type: 'response.create' },
      ),
    },
  },
  vercel: {
    '/v4/ai/transcription-model': {
      query: 'ai-model-id=deepgram%2Fnova-3',
      messages: texts(
        {
          ...{ type: 'transcription-stream.start', inputAudioFormat: { type: 'audio/pcm', rate: 16_000 } },
          providerOptions: {
            deepgram: { keyterm: ['voxgate'], smartFormat: true, diarize: true, language: 'en' },
            gateway: { models: ['assemblyai/universal-streaming-english'] },
            voxgate: { languages: ['en', 'de'], region: 'eu', prompt: 'gate' },
          },
        },
        { type: 'transcription-stream.audio-done' },
      ),
    },
  },
  livekit: {
    '/v1/stt': {
      query: 'model=deepgram%2Fnova-3',
      messages: texts(
        {
          ...{ type: 'session.create', model: 'deepgram/nova-3', connection: { timeout: 10, retries: 3 } },
          settings: {
            ...{ sample_rate: '16000', encoding: 'pcm_s16le', language: 'en' },
            extra: {
              keyterm: ['voxgate'],
              keywords: [['gate', 2]],
              numerals: true,
              diarize: true,
              interim_results: false,
            },
          },
          fallback: { models: [{ model: 'assemblyai/universal-streaming', extra: { speaker_labels: true } }] },
        },
        { type: 'input_audio', audio: 'AAAA' },
        { type: 'session.update', settings: { model: 'xai/stt-1', language: 'multi', extra: { keyterm: ['vox'] } } },
        { type: 'session.finalize' },
        { type: 'session.close' },
      ),
    },
  },
  soniox: {
    '/transcribe-websocket': {
      query: 'fallbacks=deepgram/nova-3&region=eu',
      messages: texts(
        {
          ...{
            api_key: 'sk_vox_none',
            model: 'stt-rt-v5',
            audio_format: 'pcm_f32le',
            sample_rate: 16_000,
            num_channels: 1,
          },
          ...{ language_hints: ['en', 'es'], language_hints_strict: true, enable_speaker_diarization: true },
          ...{ enable_language_identification: true, enable_endpoint_detection: true, max_endpoint_delay_ms: 1_000 },
          context: { general: [{ key: 'topic', value: 'gates' }], text: 'A gate.', terms: ['voxgate'] },
          ...{ translation: null, client_reference_id: 'test' },
        },
        { type: 'finalize', trailing_silence_ms: 200 },
        { type: 'keepalive' },
      ),
    },
  },
  speechmatics: {
    '/v2': {
      query: 'jwt=sk_vox_none&model=speechmatics/enhanced&fallbacks=deepgram/nova-3&sm-app=test',
      messages: texts(
        {
          message: 'StartRecognition',
          audio_format: { type: 'raw', encoding: 'pcm_f32le', sample_rate: 16_000 },
          transcription_config: {
            ...{ language: 'cmn_en', operating_point: 'enhanced', output_locale: 'en-GB', enable_partials: true },
            ...{ max_delay: 1, max_delay_mode: 'flexible', diarization: 'speaker' },
            additional_vocab: ['voxgate', { content: 'gate', sounds_like: ['gait'] }],
            conversation_config: { end_of_utterance_silence_trigger: 0.5 },
            transcript_filtering_config: { remove_disfluencies: true, replacements: [{ from: 'a', to: 'b' }] },
          },
          translation_config: { target_languages: ['de'] },
        },
        { message: 'SetRecognitionConfig', transcription_config: { language: 'en', max_delay: 2 } },
        { message: 'ForceEndOfUtterance', timestamp: 1.5 },
        { message: 'GetSpeakers', final: true },
        { message: 'EndOfStream', last_seq_no: 3 },
      ),
    },
  },
  gladia: {
    '/v2/live': {
      query: `id=req_1&created_at=2026-01-01T00:00:00.000Z&region=eu-west&token=st_none&configuration=${Buffer.from(
        JSON.stringify({
          ...{ encoding: 'wav/pcm', bit_depth: 16, sample_rate: 16_000, channels: 1, model: 'solaria-1' },
          ...{ endpointing: 0.3, maximum_duration_without_endpointing: 30 },
          language_config: { languages: ['en', 'de'], code_switching: true },
          realtime_processing: { custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['voxgate'] } },
          messages_config: { receive_partial_transcripts: true, receive_post_processing_events: true },
        }),
      ).toString('base64url')}`,
      messages: texts(
        { type: 'audio_chunk', data: { chunk: 'AAAA' } },
        { type: 'audio_chunk', data: { chunk: '' } },
        { type: 'stop_recording' },
      ),
    },
  },
};
