// One good conversation of each door: what its handshake asks for, and every message that its clients send.

export interface Example {
  query: string;
  headers?: Readonly<Record<string, string>>;
  /** In their order; sent in any by who mutates them. */
  messages: readonly string[];
}

const texts = (...messages: readonly object[]): string[] => messages.map((message) => JSON.stringify(message));

/** By dialect and path. */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
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
};
