// What the documents show as examples. Tests hold each against the schema of its place.
import type { Static } from '@sinclair/typebox';
import type { JobAnswer } from '../../api/jobs.ts';
import type { SessionEnded, SessionStarted, Transcript } from '../../api/listen-events.ts';
import type { Model } from '../../api/models.ts';
import type { StartMessage } from '../../api/request-parameters.ts';
import type { TokenResponse } from '../../api/tokens.ts';
import type { VerboseTranscription } from '../../api/transcriptions.ts';
import type { BalanceAnswer, BillAnswer, SessionAnswer, UsageList } from '../../api/usage.ts';
import type { NewWebhookAnswer, WebhookAnswer, WebhookDelivery } from '../../api/webhooks.ts';

const REQUEST_ID = 'req_019aa5b0-7c1e-7d3a-9f55-2f8e4b7c6d10';
const SESSION_ID = 'ses_k3p9xq019aa5b07c1e7d3a9f552f8e4b7c6d10';
const TEXT = 'set the temperature to twenty one degrees';
const words = [
  { word: 'set', start: 0.31, end: 0.52 },
  { word: 'the', start: 0.52, end: 0.61 },
];

export const model: Model = {
  id: 'local/commands-en',
  object: 'model',
  created: 1_767_225_600,
  owned_by: 'local',
  name: 'Commands, English',
  description: 'The embedded recogniser with a grammar of everyday commands.',
  modes: ['batch', 'live'],
  languages: ['en'],
  capabilities: {
    diarization: false,
    word_timestamps: true,
    interim_results: true,
    formatting: false,
    redaction: false,
    language_detection: false,
  },
  processing: [
    {
      region: 'self',
      retention: 'none',
      source: { url: 'this project: it runs on your own machine', date: '2026-11-23' },
    },
  ],
  audio: { sample_rates: [16_000], encodings: ['linear16'], max_file_bytes: null, max_seconds: null },
  pricing: {
    currency: 'USD',
    batch: { unit: 'minute', amount: '0', byok: '0.00', free: true },
    live: { unit: 'minute', amount: '0', byok: '0.00', free: true },
  },
  provider_params: { type: 'object', properties: {}, additionalProperties: false },
  available: true,
  status: 'up',
};

export const token: TokenResponse = {
  token: 'st_eyJqdGkiOiIwMTlhYTViMCJ9.c2lnbmF0dXJl',
  expires_at: '2026-11-21T12:01:00.000Z',
  ttl_seconds: 60,
};

export const verbose: VerboseTranscription = {
  text: TEXT,
  task: 'transcribe',
  language: 'english',
  duration: 3.1,
  model: 'local/commands-en',
  segments: [
    {
      id: 0,
      seek: 0,
      start: 0.31,
      end: 2.78,
      text: TEXT,
      tokens: [],
      temperature: 0,
      avg_logprob: 0,
      compression_ratio: 1,
      no_speech_prob: 0,
    },
  ],
  words,
  request_id: REQUEST_ID,
  usage: { type: 'duration', seconds: 3.1, cost_usd: '0.00', byok: false },
};

export const job: JobAnswer = {
  object: 'job',
  id: '5f0c1f9e-4a76-4a0b-8f0e-6c1f0d8a7b35',
  status: 'completed',
  model: 'local/commands-en',
  file: { name: 'speech.wav', bytes: 99_244 },
  response_format: 'json',
  attempts: 1,
  created_at: '2026-11-21T12:00:00.000Z',
  ended_at: '2026-11-21T12:00:01.204Z',
  expires_at: '2026-11-22T12:00:01.204Z',
  result: verbose,
};

export const usage: UsageList = {
  object: 'list',
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-21T12:00:00.000Z',
  group_by: 'model',
  data: [{ group: 'deepgram/nova-3', byok: false, sessions: 3, audio_seconds: 190.5, cost_usd: '0.024447' }],
  total: { audio_seconds: 190.5, cost_usd: '0.024447' },
};

export const usageCsv =
  'model,byok,sessions,audio_seconds,connection_seconds,cost_usd\r\ndeepgram/nova-3,false,3,190.5,,0.024447\r\n';

export const balance: BalanceAnswer = {
  object: 'balance',
  currency: 'USD',
  balance_usd: '1.975553',
  held_usd: '0.0077',
  available_usd: '1.967853',
  credit_limit_usd: '0.00',
};

export const session: SessionAnswer = {
  object: 'session',
  id: SESSION_ID,
  mode: 'live',
  state: 'ended',
  model: 'deepgram/nova-3',
  key_id: 'key_019aa5b0',
  opened_at: '2026-11-21T12:00:00.000Z',
  ended_at: '2026-11-21T12:01:03.500Z',
  reason: 'client_closed',
  code: null,
  audio_seconds: 63.5,
  usage: [{ model: 'deepgram/nova-3', seconds: 63.5, cost_usd: '0.008149', byok: false }],
  cost_usd: '0.008149',
  held_usd: '0.00',
};

export const bill: BillAnswer = {
  object: 'bill',
  month: '2026-11',
  final: false,
  currency: 'USD',
  organisation: { id: 'org_019aa5b0', name: 'Example Ltd' },
  opening_balance_usd: '0.00',
  credits: [{ at: '2026-11-03T09:12:44.120Z', kind: 'welcome', amount_usd: '2.00', note: '' }],
  usage: [
    { model: 'deepgram/nova-3', mode: 'live', byok: false, sessions: 3, audio_seconds: 190.5, cost_usd: '0.024447' },
  ],
  total_usd: '0.024447',
  closing_balance_usd: '1.975553',
};

export const billCsv =
  'type,date,item,mode,byok,sessions,audio_seconds,amount_usd,note\r\nopening_balance,2026-11,,,,,,0.00,\r\n';

const stamp = (seq: number, at: string) => ({ session_id: SESSION_ID, seq, at });

export const webhook: WebhookAnswer = {
  object: 'webhook',
  id: 'we_019aa5b0-7c1e-7d3a-9f55-2f8e4b7c6d10',
  url: 'https://example.com/voxgate',
  events: ['session.ended'],
  format: 'standard',
  description: '',
  balance_low_usd: '5.00',
  transcripts: false,
  state: 'enabled',
  disabled_reason: null,
  failing_since: null,
  previous_secret_until: null,
  dropped: 0,
  created_at: '2026-11-21T12:00:00.000Z',
};

export const newWebhook: NewWebhookAnswer = {
  ...webhook,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
};

export const webhookDelivery: WebhookDelivery = {
  object: 'webhook_delivery',
  id: 'msg_019aa5b0-7c1e-7d3a-9f55-2f8e4b7c6d11',
  event: 'session.ended',
  state: 'pending',
  attempts: 1,
  latest_attempts: [{ at: '2026-11-21T12:01:04.000Z', status: 503, error: null, duration_ms: 41 }],
  next_attempt_at: '2026-11-21T12:01:09.000Z',
  created_at: '2026-11-21T12:01:04.000Z',
  ended_at: null,
};

export const startMessage: Static<typeof StartMessage> = {
  type: 'start',
  model: 'deepgram/nova-3',
  language: 'en',
  fallbacks: ['assemblyai/universal-streaming-english'],
  keyterms: ['Voxgate', 'failover'],
  provider_params: { mip_opt_out: true },
};

export const sessionStarted: Static<typeof SessionStarted> = {
  type: 'session_started',
  ...stamp(1, '2026-11-21T12:00:00.000Z'),
  request_id: REQUEST_ID,
  model: 'local/commands-en',
  sample_rate: 16_000,
  encoding: 'linear16',
  fallbacks: [],
  chain: [{ model: 'local/commands-en', honoured: ['language'], mapped: [], dropped: [] }],
  resume_token: null,
  limits: {
    idle_seconds: 600,
    suspend_seconds: 20,
    session_seconds: 14_400,
    binary_frame_bytes: 67_108_864,
    text_frame_bytes: 65_536,
  },
};

export const transcript: Static<typeof Transcript> = {
  type: 'transcript',
  ...stamp(7, '2026-11-21T12:00:03.120Z'),
  text: TEXT,
  is_final: true,
  turn: 0,
  start: 0.31,
  end: 2.78,
  model: 'local/commands-en',
  words,
};

export const sessionEnded: Static<typeof SessionEnded> = {
  type: 'session_ended',
  ...stamp(8, '2026-11-21T12:00:03.200Z'),
  reason: 'client_closed',
  audio_seconds: 3.1,
  usage: [{ model: 'local/commands-en', seconds: 3.1, cost_usd: '0.00', byok: false }],
  cost_usd: '0.00',
};
