// Amazon Transcribe: what its service says and what that must become, for the suite of every provider. The signatures here are those that
// Amazon's own signer makes of the same.
import { crc32 } from 'node:zlib';
import type { Endpoint, ProviderAccess } from '../../../src/vendors/kit/provider.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { stories } from './sessions.ts';

const LIVE = { live: ['transcribe'] };
const ASKED =
  'language-code=en-US&media-encoding=pcm&sample-rate=16000&session-id=01234567-89ab-cdef-0123-456789abcdef';
const DATED = 'X-Amz-Date=20261123T120000Z&X-Amz-Expires=300';
const signedAt = (region: string, key: string, signature: string, token = ''): Endpoint => ({
  kind: 'websocket',
  url: `wss://transcribestreaming.${region}.amazonaws.com:8443/stream-transcription-websocket?${ASKED}&${DATED}${token}&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${key}%2F20261123%2F${region}%2Ftranscribe%2Faws4_request&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`,
  headers: {},
  secrets: [signature],
});
const SIGNED = 'a6d575b5b86e54fc6d615230bdeeceedbe9fba1b18c9f3537f4469302c32490a';
const SIGNED_OWN = '0e7ab5a7141cbeb5484c3fc590cf366f4003eb9c5ba781b433939964afb9b8c9';
const OWN: ProviderAccess = {
  ...{ baseUrl: undefined, credential: undefined },
  fields: {
    ...{ access_key_id: 'AKIDEXAMPLE00000', secret_access_key: 'own/secret+', session_token: 'token/=' },
    region: 'eu-west-1',
  },
};

/** The query without the signature, by the names of options. */
function asked(endpoint: Endpoint): Record<string, unknown> {
  if (endpoint.kind !== 'websocket') throw new Error('It has no WebSocket.');
  const query = [...new URL(endpoint.url).searchParams].filter(([name]) => !name.startsWith('X-Amz'));
  const named: Record<string, string> = Object.fromEntries(
    query.map(([name, text]) => [name.replaceAll('-', '_'), text]),
  );
  return {
    model: /%2F(transcribe)%2F/.exec(endpoint.url)?.[1],
    ...named,
    content_redaction: String(named.content_redaction_type === 'PII'),
    pii_entity_types: named.pii_entity_types?.split(','),
    language_options: named.language_options?.split(','),
  };
}

/** What the service's own codec writes before four bytes of audio. */
const EVENT_HEAD =
  '0000006c000000585c509ce30d3a636f6e74656e742d747970650700186170706c69636174696f6e2f6f637465742d73747265616d' +
  '0b3a6576656e742d7479706507000a417564696f4576656e740d3a6d6573736167652d747970650700056576656e74';
const FOUND = { language_code: undefined, identify_language: 'true' };
const BRITISH = { language_options: ['en-GB', 'it-IT'] };
const KINDS = { pii_entity_types: ['NAME', 'ADDRESS'] };

testProvider({
  provider: 'aws',
  options: {
    rows: {
      vocabulary_name: { takes: ['names'], refuses: [7], ...LIVE },
      vocabulary_filter_name: { takes: ['words'], refuses: [7], ...LIVE },
      vocabulary_filter_method: { takes: ['remove', 'mask', 'tag'], refuses: ['hide'], ...LIVE },
      language_model_name: { takes: ['own'], refuses: [7], ...LIVE },
      partial_results_stability: { takes: ['low', 'medium', 'high'], refuses: ['highest'], ...LIVE },
      content_redaction: { takes: [true, false], refuses: ['PII'], ...LIVE },
      pii_entity_types: { takes: [['NAME', 'ADDRESS']], refuses: ['NAME', []], ...LIVE },
      language_options: { takes: [['en-US', 'de-DE']], refuses: [['en-US'], 'en-US'], ...LIVE },
    },
  },
  live: {
    model: 'transcribe',
    sampleRate: 16_000,
    openings: [
      [{}, signedAt('us-east-1', 'key-of-the-suite', SIGNED)],
      [{ access: OWN }, signedAt('eu-west-1', 'AKIDEXAMPLE00000', SIGNED_OWN, '&X-Amz-Security-Token=token%2F%3D')],
    ],
    asked,
    written: (value) => (Array.isArray(value) ? value : String(value)),
    audio: (frame) => {
      const event = Buffer.concat([Buffer.from(EVENT_HEAD, 'hex'), frame]);
      const check = Buffer.alloc(4);
      check.writeUInt32BE(crc32(event));
      return new Uint8Array(Buffer.concat([event, check]));
    },
    requests: [
      [{ language: 'auto' }, { ...FOUND, language_options: ['en-US', 'es-US', 'fr-FR', 'de-DE', 'pt-BR'] }],
      [
        { language: 'auto', params: BRITISH },
        { ...FOUND, ...BRITISH },
      ],
      [{ language: 'nb', params: BRITISH }, { language_code: 'no-NO' }],
      [{ language: 'en-gb' }, { language_code: 'en-GB' }],
      [{ language: 'tlh' }, { language_code: 'tlh' }],
      [{ diarization: true }, { show_speaker_label: 'true' }],
      [
        { params: { partial_results_stability: 'high', unheard_of: 1 } },
        { enable_partial_results_stabilization: 'true', partial_results_stability: 'high' },
      ],
      [{ params: KINDS }, { content_redaction_type: 'PII', content_redaction: 'true', ...KINDS }],
    ],
    timings: [[{}, { speedMax: 1.5, keepAliveMs: 8_000, sessionMaxMs: 14_400_000, turnPauseMs: 1_000 }]],
    stories,
  },
  refusals: [
    [403, { message: 'Signature expired' }, 'account http_403'],
    [400, { Message: 'Bad value for language-code' }, 'caller http_400', { message: /language-code/ }],
    [429, { message: 'Rate exceeded' }, 'next http_429'],
  ],
  simulated: {
    whole: [['transcribe', [], { partial_results_stability: 'high', content_redaction: true }, 3]],
    ends: [
      ['transcribe', ['exception'], 1, 'retry InternalFailureException'],
      ['transcribe', ['exception=LimitExceededException'], 1, 'next LimitExceededException'],
    ],
  },
});
