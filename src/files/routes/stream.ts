// The streamed answer of a transcription: what was heard goes out while the work goes on. The answer begins with the first text,
// so that everything before it is refused as ever; and its bytes are a beginning of the whole answer, which is kept for those
// who ask again under the same key.
import type { Utterance } from '../../../machines/events.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import type { Reply, WholeReply } from '../../http/door.ts';
import { EVENT_STREAM, Pieces } from '../../http/pieces.ts';
import { refusalOf } from '../../http/router.ts';
import type { Degradation } from '../../live/failover/chain.ts';
import type { EarlyAnswer } from '../early-answer.ts';
import { errorEvent, TranscriptEvents } from './events.ts';
import { warningHeader } from './warnings.ts';

export const streamHeaders = (warnings: readonly Degradation[]): Record<string, string> => ({
  ...warningHeader(warnings),
  ...EVENT_STREAM,
});

export class AnswerStream implements EarlyAnswer {
  readonly #requestId: string;
  readonly #ownWarnings: () => readonly Degradation[];
  readonly #pieces = new Pieces();
  #events: TranscriptEvents | undefined;
  #sent = '';
  #warnings: readonly Degradation[] = [];
  #open: (reply: Reply) => void = () => {};
  readonly #opened = new Promise<Reply>((resolve) => {
    this.#open = resolve;
  });

  /** @param ownWarnings what else was not honoured, known with the first utterance */
  constructor(requestId: string, ownWarnings: () => readonly Degradation[] = () => []) {
    this.#requestId = requestId;
    this.#ownWarnings = ownWarnings;
  }

  /** An utterance that stays as it is, and what is known by then of things that were not honoured. */
  heard(utterance: Utterance, request: TranscriptionRequest, warnings: () => readonly Degradation[]): void {
    if (this.#events === undefined) {
      this.#events = new TranscriptEvents(request);
      this.#warnings = [...this.#ownWarnings(), ...warnings()];
    }
    const text = this.#events.utterance(utterance);
    this.#sent += text;
    this.#pieces.add(text);
    if (this.#sent !== '') this.#open({ status: 200, headers: streamHeaders(this.#warnings), body: this.#pieces });
  }

  /** Whether something of the answer is on its way to the client. */
  get isBegun(): boolean {
    return this.#sent !== '';
  }

  /** The answer: as soon as there is something of it, or as the work ended before that. Rejects as the work does until then. */
  answer(work: Promise<WholeReply>): Promise<Reply> {
    work.then(
      (reply) => this.#finish(reply),
      (error: unknown) => this.#fail(error),
    );
    return Promise.race([this.#opened, work]);
  }

  #finish({ body }: WholeReply): void {
    const whole = String(body);
    if (!whole.startsWith(this.#sent)) {
      this.#fail(new Error('A streamed answer is not a beginning of the whole one.'));
      return;
    }
    this.#pieces.add(whole.slice(this.#sent.length));
    this.#pieces.end();
  }

  #fail(error: unknown): void {
    this.#pieces.add(errorEvent(refusalOf(error).body(this.#requestId)));
    this.#pieces.fail(error);
  }
}
