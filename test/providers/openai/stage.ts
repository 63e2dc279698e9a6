// A leg of the OpenAI codec without a connection: acts in, and what it made of them as short lines.
import { live } from '../../../src/providers/openai/live.ts';
import type { LegRequest, Outgoing, Step } from '../../../src/providers/provider.ts';

export const RATE = 24_000;
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

export const legRequest = (over: Partial<LegRequest> = {}): LegRequest => ({
  model: 'gpt-live-transcribe',
  sampleRate: RATE,
  language: undefined,
  interimResults: true,
  diarization: false,
  params: {},
  access: { baseUrl: undefined, credential: 'sk-secret' },
  ...over,
});

/** What OpenAI says. */
export const said = {
  created: { type: 'session.created', session: {} },
  updated: { type: 'session.updated', session: {} },
  started: (id: string, ms: number) => ({
    type: 'input_audio_buffer.speech_started',
    item_id: id,
    audio_start_ms: ms,
  }),
  stopped: (id: string, ms: number) => ({ type: 'input_audio_buffer.speech_stopped', item_id: id, audio_end_ms: ms }),
  timeout: (id: string, startMs: number, endMs: number) => ({
    type: 'input_audio_buffer.timeout_triggered',
    item_id: id,
    audio_start_ms: startMs,
    audio_end_ms: endMs,
  }),
  committed: (id: string, previous: string | null = null) => ({
    type: 'input_audio_buffer.committed',
    item_id: id,
    previous_item_id: previous,
  }),
  delta: (id: string, delta: string) => ({ type: `${TRANSCRIPTION}.delta`, item_id: id, content_index: 0, delta }),
  completed: (id: string, transcript: string, more: object = {}) => ({
    type: `${TRANSCRIPTION}.completed`,
    item_id: id,
    content_index: 0,
    transcript,
    ...more,
  }),
  failed: (id: string, error: object = {}) => ({ type: `${TRANSCRIPTION}.failed`, item_id: id, error }),
  error: (type: string, code: string | null = null, more: object = {}) => ({
    type: 'error',
    error: { type, code, message: 'words', param: null, event_id: null, ...more },
  }),
};

export type Act = { audio: number } | { say: unknown } | 'finalize' | 'finish';

/** Seconds of audio. */
export const audio = (seconds: number): Act => ({ audio: seconds });
export const say = (message: unknown): Act => ({ say: message });
/** The session is set up. */
export const begun: Act[] = [say(said.created), say(said.updated)];

/** Plays acts on a fresh leg. */
export function play(over: Partial<LegRequest>, acts: readonly Act[]): string[] {
  const { state } = live.open(legRequest(over));
  return acts.flatMap((act) => {
    if (act === 'finalize') return live.finalize(state).map(lineOf);
    if (act === 'finish') return live.finish(state).map(lineOf);
    if ('say' in act) return live.read(state, { json: act.say }).map(lineOf);
    live.audio(state, new Uint8Array(Math.round(act.audio * RATE) * 2));
    return [];
  });
}

function lineOf(step: Step): string {
  switch (step.type) {
    case 'send':
      return frameLine(step.frame);
    case 'partial':
    case 'turn.ended': {
      const { text, start, end, language } = step.utterance ?? { text: 'none', start: 0, end: 0 };
      const name = step.type === 'partial' ? 'partial' : 'ended';
      return `${name} ${step.turnId} ${start}-${end} "${text}"${language === undefined ? '' : ` ${language}`}`;
    }
    case 'speech.started':
      return `speech ${step.start}`;
    case 'failed':
      return `failed ${step.failure.kind} ${step.failure.code}`;
    default:
      return step.type;
  }
}

function frameLine(frame: Outgoing): string {
  const { type, audio: base64 } = (typeof frame === 'string' ? JSON.parse(frame) : frame) as {
    type: string;
    audio?: string;
  };
  const name = type.replace('input_audio_buffer.', '');
  return base64 === undefined ? name : `${name} ${Buffer.from(base64, 'base64').length / 2}`;
}
