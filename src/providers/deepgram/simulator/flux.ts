// One connection of a simulated `/v2/listen`: turns that the provider names, told anew with each quarter second of audio.

import { objectOf } from '../../refusals.ts';
import type { Ear, EarMessage, SimulatedConnection, SimulatedPeer, SimulatorTools } from '../../simulation.ts';
import { Intake } from './intake.ts';
import { delayMs } from './nova.ts';
import { THRESHOLDS } from './query.ts';
import { type HeardText, wireWords } from './words.ts';

type Query = URLSearchParams;
type Message = Readonly<Record<string, unknown>>;

const UPDATE_SECONDS = 0.25;
export class FluxConnection implements SimulatedConnection {
  readonly #tools: SimulatorTools;
  readonly #peer: SimulatedPeer;
  readonly #requestId: string;
  readonly #sampleRate: number;
  readonly #isMulti: boolean;
  readonly #hints: readonly string[];
  readonly #intake: Intake;
  readonly #ear: Ear;
  #sequence = 0;
  #consumedSamples = 0;
  #nextUpdateSeconds = UPDATE_SECONDS;
  #turn = 0;
  #turnStart = 0;
  /** What was heard of the open turn; undefined while none is open. */
  #open: HeardText | undefined;
  #forced = false;
  #closing = false;

  constructor(query: Query, tools: SimulatorTools, peer: SimulatedPeer) {
    this.#tools = tools;
    this.#peer = peer;
    this.#requestId = `request-${tools.newId()}`;
    this.#sampleRate = Number(query.get('sample_rate'));
    this.#isMulti = query.get('model') === 'flux-general-multi';
    this.#hints = query.getAll('language_hint');
    this.#intake = new Intake(tools.clock, this.#sampleRate, {
      audio: (bytes) => this.#consume(bytes),
      overflow: () => this.#fail('INTERNAL_SERVER_ERROR', 'More audio waits than is kept.'),
    });
    this.#ear = tools.openEar({ sampleRate: this.#sampleRate, language: undefined }, (message) => this.#heard(message));
    this.#say({ type: 'Connected' });
  }

  text(text: string): void {
    if (this.#closing) return;
    const message = objectOf(text);
    if (message.type === 'ForceEndTurn') this.#intake.message(() => this.#forceEnd());
    else if (message.type === 'Configure') this.#configure(message);
    else if (message.type === 'CloseStream') {
      this.#intake.message(() => {
        this.#closing = true;
        this.#ear.finish();
      });
      // There is no KeepAlive here, and nothing unknown is forgiven: the connection ends without a close code.
    } else this.#peer.close();
  }

  bytes(bytes: Uint8Array): void {
    if (!this.#closing) this.#intake.audio(bytes);
  }

  gone(): void {
    this.#intake.stop();
    this.#ear.close();
  }

  /** Time is audio time: reports come with it, in steps. */
  #consume(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.byteLength; ) {
      const untilUpdate = Math.round(this.#nextUpdateSeconds * this.#sampleRate) - this.#consumedSamples;
      const piece = bytes.subarray(at, at + 2 * untilUpdate);
      at += piece.byteLength;
      this.#consumedSamples += piece.byteLength / 2;
      this.#ear.audio(piece);
      if (piece.byteLength < 2 * untilUpdate) continue;
      this.#nextUpdateSeconds += UPDATE_SECONDS;
      this.#turnInfo('Update', this.#open ?? { text: '', start: this.#turnStart, end: this.#consumedSeconds });
    }
  }

  #forceEnd(): void {
    if (this.#tools.quirk('no-force-end-turn') !== undefined) {
      this.#fail('UNPARSABLE_CLIENT_MESSAGE', 'The message could not be read.');
      return;
    }
    // Without an open turn there is nothing to end.
    if (this.#open === undefined) return;
    this.#forced = true;
    this.#ear.finalize();
  }

  #configure({ thresholds = {} }: Message): void {
    const given = Object.entries(thresholds as Message);
    const isGood = given.every(([name, value]) => {
      const range = Object.hasOwn(THRESHOLDS, name) ? THRESHOLDS[name] : undefined;
      return range !== undefined && typeof value === 'number' && value >= range.low && value <= range.high;
    });
    this.#say(isGood ? { type: 'ConfigureSuccess', thresholds, keyterms: [] } : { type: 'ConfigureFailure' });
  }

  #heard(message: EarMessage): void {
    switch (message.type) {
      case 'interim':
        this.#partial(message);
        return;
      case 'final':
        this.#final(message);
        return;
      case 'no_match':
        if (this.#open !== undefined) this.#final({ text: '', start: message.start, end: message.end });
        return;
      case 'finished':
        this.#peer.close();
        return;
      case 'error':
        this.#fail('INTERNAL_SERVER_ERROR', message.code);
        return;
      case 'ready':
      case 'speech_started':
    }
  }

  #partial(heard: HeardText): void {
    const begins = this.#open === undefined;
    this.#open = heard;
    if (begins) this.#turnInfo('StartOfTurn', heard);
  }

  /** After CloseStream even the last words come as updates. */
  #final(heard: HeardText): void {
    if (this.#open === undefined) this.#partial(heard);
    if (this.#closing) {
      this.#turnInfo('Update', heard);
      return;
    }
    this.#turnInfo('EndOfTurn', heard, { trigger: this.#forced ? 'manual' : 'model' });
    this.#open = undefined;
    this.#forced = false;
    this.#turn++;
    this.#turnStart = heard.end;
  }

  get #consumedSeconds(): number {
    return this.#consumedSamples / this.#sampleRate;
  }

  #turnInfo(event: string, heard: HeardText, extras: Message = {}): void {
    this.#say({
      type: 'TurnInfo',
      event,
      turn_index: this.#turn,
      audio_window_start: this.#turnStart,
      audio_window_end: event === 'EndOfTurn' ? heard.end : this.#consumedSeconds,
      transcript: heard.text,
      words: wireWords(heard).map(({ word, confidence, start, end }) => ({ word, confidence, start, end })),
      end_of_turn_confidence: event === 'EndOfTurn' ? 0.9 : 0.1,
      ...(this.#isMulti && heard.text !== '' ? { languages: ['en'] } : {}),
      ...(this.#hints.length > 0 ? { languages_hinted: this.#hints } : {}),
      ...extras,
    });
  }

  #fail(code: string, description: string): void {
    this.#say({ type: 'Error', code, description });
    this.#peer.close();
  }

  #say(message: Message): void {
    const muteAfter = this.#tools.quirk('flux-mute');
    if (muteAfter !== undefined && this.#consumedSeconds > delayMs(muteAfter, 1)) return;
    this.#peer.send({ ...message, request_id: this.#requestId, sequence_id: this.#sequence });
    this.#sequence++;
  }
}
