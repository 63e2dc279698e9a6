// One connection of the simulated `/stt/websocket`: text is settled piece by piece, and turns end when they are asked to.
import { Type } from '@sinclair/typebox';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { RequestedEnds } from '../../kit/simulator/requested-ends.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { wordsOf } from '../../kit/simulator/words.ts';

/** The shorter of the two that are told of. */
const IDLE_MS = 20_000;

const Query = members(
  {
    model: oneOf('ink-2', 'ink-whisper'),
    encoding: Type.Literal('pcm_s16le'),
    sample_rate: Type.Integer({ minimum: 1 }),
  },
  {
    language: Type.String({ pattern: '^[a-z]{2,3}$' }),
    keyterm: Type.Array(Type.String(), { maxItems: 100 }),
    cartesia_version: Type.String(),
    access_token: Type.String(),
  },
  'ignored',
);
const KEYTERM_CHARACTERS_MAX = 1_200;

const TITLES: Readonly<Record<number, readonly [code: string | null, title: string]>> = {
  400: [null, 'Bad request'],
  401: [null, 'Invalid API key'],
  402: ['quota_exceeded', 'Out of credits'],
  404: [null, 'Not found'],
  429: ['concurrency_limited', 'Too many concurrent requests'],
};

export function errorOf(status_code: number, message = 'The request was refused.') {
  const [error_code, title] = TITLES[status_code] ?? [null, 'Internal error'];
  return { type: 'error', status_code, error_code, title, message, request_id: 'request' };
}

/** What is wrong with the query of a session. */
export function sessionFault(query: URLSearchParams): string | undefined {
  const isLong = query.getAll('keyterm').join('').length > KEYTERM_CHARACTERS_MAX;
  return isLong ? 'keyterm: too long.' : wrongIn(Query, valuesOf(query, Query));
}

export class InkSession extends SimulatedSession {
  readonly #ends = new RequestedEnds(
    (delayMs, work) => this.later(delayMs, work),
    () => this.#ended(),
  );
  #hasText = false;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, query: URLSearchParams) {
    super(peer, tools);
    this.listen({ sampleRate: Number(query.get('sample_rate')), language: query.get('language') ?? undefined });
    this.#expect();
  }

  protected message(text: string): void {
    this.#expect();
    if (text === 'finalize' && !this.closing) {
      this.finalize();
      this.#ends.ask(this.seconds);
    } else if (text === 'close' || text === 'done') {
      this.finish();
    } else {
      this.#fail(400, 'Unknown command.');
    }
  }

  protected override audio(bytes: Uint8Array): void {
    this.#expect();
    this.hear(bytes);
  }

  #expect(): void {
    this.expectMore(IDLE_MS, () => this.close(1000, 'idle'));
  }

  protected override speechStarted(): void {
    this.#ends.hearing();
  }

  protected interim(heard: HeardTurnText): void {
    this.#ends.hearing();
    this.#transcript(heard, false);
  }

  protected final(heard: HeardTurnText): void {
    if (this.has('mark-first')) {
      this.#ends.heard(heard);
      this.#transcript(heard, true);
    } else {
      this.#transcript(heard, true);
      this.#ends.heard(heard);
    }
  }

  #transcript(heard: HeardTurnText, is_final: boolean): void {
    if (heard.text === '') return;
    const words = wordsOf(heard).map(({ word, start, end }) => ({ word, start, end }));
    this.#say('transcript', {
      ...{ text: this.#hasText ? ` ${heard.text}` : heard.text, is_final, duration: this.seconds, language: 'en' },
      ...(this.has('no-words') ? {} : { words }),
    });
    this.#hasText ||= is_final;
  }

  #ended(): void {
    if (!(this.closing && this.has('no-mark'))) this.#say('flush_done', {});
  }

  protected override finished(): void {
    this.#say('done', {});
    this.close(1000);
  }

  protected failed(): void {
    this.#fail(500, 'Internal error.');
  }

  #fail(status: number, message: string): void {
    this.peer.send(errorOf(status, message));
    this.close(1011);
  }

  #say(type: string, more: object): void {
    this.peer.send({ type, ...more, request_id: 'request' });
  }
}
