// One connection of a simulated `/v2/listen`: turns that the provider names, told again with each quarter second of audio.

import { type JsonObject, objectOf } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn } from '../../kit/simulator/checks.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import type { HeardText } from '../../kit/simulator/words.ts';
import { numbered, turnInfo } from '../messages.ts';
import { heardWords, SPEED_MAX } from './nova.ts';
import { Configure } from './query.ts';

const UPDATE_SECONDS = 0.25;
const CONFIDENCE: Readonly<Record<string, number>> = { EagerEndOfTurn: 0.6, EndOfTurn: 0.9 };
/** Words reach into those behind them. */
const OVERLAP_SECONDS = 0.04;

export class FluxSession extends SimulatedSession {
  readonly #requestId: string;
  readonly #extras: JsonObject;
  readonly #isMulti: boolean;
  #sequence = 0;
  #turn = 0;
  #turnStart = 0;
  /** What was heard of the open turn; undefined while none is open. */
  #open: HeardText | undefined;
  #forced = false;
  /** Early ends are told where they were requested: with words that have not changed from one step to the next. */
  readonly #isEager: boolean;
  #stepText = '';
  #keyterms: readonly string[] = [];
  #eager = false;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, query: URLSearchParams) {
    super(peer, tools);
    const hints = query.getAll('language_hint');
    this.#requestId = `request-${tools.newId()}`;
    this.#isEager = query.has('eager_eot_threshold');
    this.#isMulti = query.get('model') === 'flux-general-multi';
    this.#extras = hints.length > 0 ? { languages_hinted: hints } : {};
    const sampleRate = Number(query.get('sample_rate'));
    this.listen({ sampleRate, language: undefined, speedMax: SPEED_MAX, stepSeconds: UPDATE_SECONDS });
    this.#say({ type: 'Connected' });
  }

  protected message(text: string): void {
    if (this.closing) return;
    const message = objectOf(text);
    const { type } = message;
    if (type === 'ForceEndTurn') this.inTurn(() => this.#forceEnd());
    else if (type === 'Configure') this.#configure(message);
    else if (type === 'CloseStream') this.finish();
    // There is no KeepAlive here, and nothing unknown is forgiven: the connection ends without a close code.
    else this.close();
  }

  /** Time is audio time: reports come with it, in steps. */
  protected override progressed(): void {
    const open = this.#open;
    const isEager =
      this.#isEager && !this.#eager && open !== undefined && open.text !== '' && open.text === this.#stepText;
    this.#stepText = open?.text ?? '';
    this.#eager ||= isEager;
    const heard = open ?? { text: '', start: this.#turnStart, end: this.seconds };
    this.#turnInfo(isEager ? 'EagerEndOfTurn' : 'Update', heard);
  }

  /** Other words than those of the early end are told behind its revocation. */
  #resume(heard: HeardText): void {
    if (!this.#eager || heard.text === this.#stepText) return;
    this.#eager = false;
    this.#turnInfo('TurnResumed', heard);
  }

  #forceEnd(): void {
    if (this.has('no-force-end-turn')) {
      this.#fail('UNPARSABLE_CLIENT_MESSAGE', 'The message could not be read.');
      return;
    }
    // Without an open turn there is nothing to end.
    if (this.#open === undefined) {
      this.#say({ type: 'Warning', code: 'FORCE_END_TURN_NO_ACTIVE_TURN', description: 'No turn is active.' });
      return;
    }
    this.#forced = true;
    this.finalize();
  }

  /** No reason is given of a failure; what is in force is told of a success. */
  #configure(message: JsonObject): void {
    const { thresholds = {}, keyterms = this.#keyterms, language_hints: hints } = message;
    const isGood = !this.has('no-configure') && faultIn(Configure, message) === undefined;
    if (isGood) this.#keyterms = keyterms as string[];
    const told = { thresholds, keyterms, ...(hints === undefined ? {} : { language_hints: hints }) };
    this.#say(isGood ? { type: 'ConfigureSuccess', ...told } : { type: 'ConfigureFailure' });
  }

  protected interim(heard: HeardText): void {
    const begins = this.#open === undefined;
    this.#open = heard;
    // Words come a moment before the start of their turn.
    this.#resume(heard);
    if (begins) for (const event of ['Update', 'StartOfTurn']) this.#turnInfo(event, heard);
  }

  /** After CloseStream even the last words come as updates. */
  protected final(heard: HeardText): void {
    if (this.#open === undefined) this.interim(heard);
    if (this.ended) {
      this.#turnInfo('Update', heard);
      return;
    }
    this.#resume(heard);
    this.#eager = false;
    this.#turnInfo('EndOfTurn', heard, { trigger: this.#forced ? 'manual' : 'model' });
    this.#open = undefined;
    this.#forced = false;
    this.#turn++;
    this.#turnStart = heard.end;
  }

  protected override noMatch(heard: HeardTurnText): void {
    if (this.#open !== undefined) this.final(heard);
  }

  protected override finished(): void {
    this.close();
  }

  protected failed(code: string): void {
    this.#fail('INTERNAL_SERVER_ERROR', code);
  }

  #turnInfo(event: string, heard: HeardText, extras: JsonObject = {}): void {
    const words = heardWords(heard).map((word) => ({ ...word, end: Math.min(heard.end, word.end + OVERLAP_SECONDS) }));
    const window = { start: this.#turnStart, end: event === 'EndOfTurn' ? heard.end : this.seconds };
    const languages = this.#isMulti && heard.text !== '' ? { languages: ['en'] } : {};
    const more = { ...languages, ...this.#extras, ...extras };
    const told = { transcript: heard.text, words };
    this.#say(turnInfo(event, this.#turn, window, told, CONFIDENCE[event] ?? 0.1, more));
  }

  #fail(code: string, description: string): void {
    this.#say({ type: 'Error', code, description });
    this.close();
  }

  #say(message: JsonObject): void {
    if (this.has('flux-mute') && this.seconds > this.numberOf('flux-mute', 1)) return;
    this.peer.send(numbered(message, this.#requestId, this.#sequence++));
  }
}
