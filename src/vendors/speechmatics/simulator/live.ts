// One session of the simulated realtime WebSocket: its order of messages, audio that is confirmed as it is read, turns in slices.
import { type TObject, Type } from '@sinclair/typebox';
import { type JsonObject, jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, members, oneOf, wrongIn } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';
import {
  CLOSE_CODES,
  endOfUtterance,
  errorMessage,
  type Results,
  recognitionStarted,
  resultsOf,
  transcriptMessage,
  warningMessage,
} from '../messages.ts';

/** It reads audio faster than it is spoken, and no faster than it can work on it. */
const READ_SPEED = 4;
/** Words of one settled slice. */
const SLICE_WORDS_MAX = 3;

const seconds = (minimum: number, maximum: number) => Type.Number({ minimum, maximum });

/** What may be changed in mid-session. */
const CHANGEABLE = {
  ...{ enable_partials: Type.Boolean(), max_delay: seconds(0.7, 4), max_delay_mode: oneOf('flexible', 'fixed') },
  conversation_config: members({}, { end_of_utterance_silence_trigger: seconds(0, 2) }),
  audio_filtering_config: members({}, { volume_threshold: seconds(0, 100) }),
};

const Start: TObject = members(
  {
    message: Type.Literal('StartRecognition'),
    audio_format: members(
      { type: Type.Literal('raw') },
      { encoding: Type.Literal('pcm_s16le'), sample_rate: Type.Integer({ minimum: 8_000, maximum: 48_000 }) },
    ),
    transcription_config: members(
      { language: Type.String({ pattern: '^[a-z]{2,3}(_[a-z]{2})*$' }) },
      {
        model: oneOf('standard', 'enhanced', 'melia-1'),
        ...CHANGEABLE,
        ...{ domain: Type.String(), output_locale: Type.String(), enable_entities: Type.Boolean() },
        diarization: oneOf('none', 'speaker', 'channel', 'channel_and_speaker'),
        speaker_diarization_config: members(
          {},
          {
            max_speakers: Type.Integer({ minimum: 2 }),
            speaker_sensitivity: seconds(0, 1),
            prefer_current_speaker: Type.Boolean(),
          },
        ),
        additional_vocab: Type.Array(Type.Unknown()),
        punctuation_overrides: members({}, { permitted_marks: Type.Array(Type.String()), sensitivity: seconds(0, 1) }),
        transcript_filtering_config: members(
          {},
          { remove_disfluencies: Type.Boolean(), replacements: Type.Array(Type.Unknown()) },
        ),
      },
    ),
  },
  { translation_config: Type.Unknown(), audio_events_config: Type.Unknown() },
);

/** What an account is told that may have no session: behind the upgrade, when it asks for one. */
const REFUSED: Readonly<Partial<Record<KeyFault, readonly [type: string, reason: string]>>> = {
  limited: ['quota_exceeded', 'Concurrent Quota Exceeded'],
  broke: ['timelimit_exceeded', 'The contract is used up.'],
};

export class Session extends SimulatedSession {
  readonly #keyFault: KeyFault | undefined;
  #config: JsonObject = {};
  #frames = 0;
  #settledSeconds = 0;
  /** Ends of turns that were requested and not told. */
  #forced = false;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, keyFault: KeyFault | undefined) {
    super(peer, tools);
    this.#keyFault = keyFault;
  }

  #fail(type: string, reason: string): void {
    this.peer.send(errorMessage(type, reason));
    this.close(CLOSE_CODES[type as keyof typeof CLOSE_CODES] ?? 1011, type);
  }

  protected message(text: string): void {
    const message = objectIn(jsonOf(text));
    switch (message.message) {
      case 'StartRecognition':
        this.#start(message);
        return;
      case 'ForceEndOfUtterance':
        if (!this.has('swallow-force')) this.inTurn(() => this.#force());
        return;
      case 'SetRecognitionConfig':
        this.#change(objectIn(message.transcription_config));
        return;
      case 'GetSpeakers':
        this.peer.send({ message: 'SpeakersResult', speakers: [] });
        return;
      case 'EndOfStream':
        if (typeof message.last_seq_no !== 'number') this.#fail('invalid_message', 'last_seq_no is required');
        else if (!this.closing) this.finish();
        return;
      default:
        this.#fail('invalid_message', `Unknown message: ${text.slice(0, 60)}`);
    }
  }

  #start(message: JsonObject): void {
    const fault = faultIn(Start, message);
    const refused = this.#keyFault && REFUSED[this.#keyFault];
    if (refused !== undefined) this.#fail(...refused);
    else if (this.isListening) this.#fail('protocol_error', 'StartRecognition was sent twice');
    else if (fault?.member === 'transcription_config.language') this.#fail('invalid_language', fault.message);
    else if (fault?.member === 'transcription_config.model') this.#fail('invalid_model', fault.message);
    else if (fault !== undefined) this.#fail('invalid_config', `${fault.member}: ${fault.message}`);
    else this.#begin(message);
  }

  #change(config: JsonObject): void {
    const language = Type.Literal(String(this.#config.language));
    const wrong = wrongIn(members({}, { language, ...CHANGEABLE }), config);
    if (wrong !== undefined) this.#fail('invalid_config', wrong);
    else this.#config = { ...this.#config, ...config };
  }

  #begin(message: JsonObject): void {
    this.#config = objectIn(message.transcription_config);
    const { sample_rate } = objectIn(message.audio_format);
    this.listen({
      sampleRate: sample_rate as number,
      language: String(this.#config.language),
      speedMax: this.has('read-speed') ? this.numberOf('read-speed', READ_SPEED) : READ_SPEED,
    });
    this.peer.send({ message: 'Info', type: 'recognition_quality', quality: 'broadcast', reason: 'Running at 16 kHz' });
    const type = this.tools.quirk('error-type');
    if (type !== undefined) this.#fail(type, `Refused as ${type}`);
    else
      this.later(this.numberOf('late-start', 0), () =>
        this.peer.send(recognitionStarted(`session-${this.tools.newId()}`, '1', ' ')),
      );
  }

  protected override audio(bytes: Uint8Array): void {
    if (!this.isListening) {
      this.#fail('protocol_error', 'Audio came before StartRecognition');
      return;
    }
    this.#frames++;
    const seq_no = this.#frames;
    this.hear(bytes);
    this.inTurn(() => {
      if (!this.over && !this.has('no-audio-added')) this.peer.send({ message: 'AudioAdded', seq_no });
    });
  }

  protected override progressed(): void {
    if (!this.isBehind('duration-limit')) return;
    this.peer.send({ ...warningMessage('duration_limit_exceeded', 'Used up'), duration_limit: 1 });
    this.end();
  }

  #force(): void {
    this.#forced = this.seconds > this.#settledSeconds;
    this.finalize();
  }

  protected interim(heard: HeardTurnText): void {
    if (this.has('settles')) this.#settle(heard.end - this.numberOf('settles', 1), this.#openResults(heard));
    if (this.#config.enable_partials !== true) return;
    const results = this.#openResults(heard);
    this.#transcript('AddPartialTranscript', results, { start: results[0]?.start_time ?? heard.start, end: heard.end });
  }

  /** A slice of an open turn is settled, up to there, once it is long enough. */
  #settle(untilSeconds: number, results: Results): void {
    const settled = results.filter(({ end_time }) => end_time <= untilSeconds);
    if (settled.length < SLICE_WORDS_MAX) return;
    const end = settled.at(-1)?.end_time ?? untilSeconds;
    this.#transcript('AddTranscript', settled, { start: this.#settledSeconds, end });
    this.#settledSeconds = end;
  }

  /** Results of the turn that are not settled. */
  #openResults(heard: HeardTurnText): Results {
    const results = this.#results(heard);
    return this.has('settles') ? results.filter(({ end_time }) => end_time > this.#settledSeconds) : results;
  }

  /** A turn is settled in several slices, with what is still open behind each; silence behind it ends it. */
  protected final(heard: HeardTurnText): void {
    if (this.has('empty-slices'))
      this.#transcript('AddTranscript', [], { start: this.#settledSeconds, end: heard.start });
    const results = this.#openResults(heard);
    const forced = this.#forced ? { forced: true } : {};
    this.#forced = false;
    let start = this.#settledSeconds;
    for (let at = 0; at === 0 || at < results.length; at += SLICE_WORDS_MAX) {
      const slice = results.slice(at, at + SLICE_WORDS_MAX);
      const rest = results.slice(at + SLICE_WORDS_MAX);
      const end = rest.length === 0 ? heard.end : (slice.at(-1)?.end_time ?? heard.end);
      this.#transcript('AddTranscript', slice, { start, end }, forced);
      if (this.#config.enable_partials === true)
        this.#transcript('AddPartialTranscript', rest, { start: end, end: heard.end });
      start = end;
    }
    this.#settledSeconds = heard.end;
    const { end_of_utterance_silence_trigger: trigger = 0 } = objectIn(this.#config.conversation_config);
    const ends = (trigger !== 0 || 'forced' in forced) && results.length > 0 && !this.isRest(heard.end);
    if (!ends) return;
    this.peer.send(endOfUtterance(heard.end, forced));
  }

  protected override finished(): void {
    this.peer.send({ message: 'EndOfTranscript' });
  }

  protected failed(code: string): void {
    this.#fail('internal_error', code);
  }

  #results(heard: HeardTurnText): Results {
    const isDiarized = String(this.#config.diarization).includes('speaker');
    return heardResults(heard, isDiarized ? heard.turn % 2 : undefined);
  }

  #transcript(message: string, results: Results, place: { start: number; end: number }, more: object = {}): void {
    this.peer.send(transcriptMessage(message, place, textOf(results), results, more));
  }
}

/** What was heard of a turn, live or in a file. */
export const heardResults = (heard: HeardText, speaker?: number): Results =>
  resultsOf(
    wordsOf(heard).map((word) => ({ confidence: 0.97, ...word, ...(speaker === undefined ? {} : { speaker }) })),
    'en',
  );

/** As `metadata.transcript` has it: with a space behind each word that nothing is attached to. */
export function textOf(results: Results): string {
  return results
    .map(({ type, alternatives }) => (type === 'punctuation' ? '' : ' ') + alternatives[0]?.content)
    .join('')
    .trim()
    .concat(results.length > 0 ? ' ' : '');
}
