// The items of one leg: which audio each of them covers, and in which order their finals are given. Services shaped like OpenAI
// commit audio as items and complete these in any order; a session wants one turn after the other, each with its place.
import type { Heard, LegFailure } from '../../../../machines/events.ts';
import { ended, failed, partial } from '../heard.ts';
import { utteranceOf } from '../words.ts';

/** Committed items without a final, and commits without an answer. More is a failure of the leg: it is replayed. */
const WAITING_MAX = 64;
/** Items not yet committed that are remembered. The oldest is forgotten: it held a start and interim words, no final. */
const OPEN_MAX = 8;
/** Interim words of an item; what follows is not shown. */
const INTERIM_CHARS_MAX = 65_536;
/** Items that were given, so that one said again is known. */
const GIVEN_REMEMBERED_MAX = 128;

interface Range {
  start: number;
  end: number;
}

interface Item {
  id: string;
  /** Sample where speech began, and where the server's turn detection ended it. */
  started: number | undefined;
  stopped: number | undefined;
  /** The samples it covers, once it is committed. */
  range: Range | undefined;
  interim: string;
  final: { text: string; language: string | undefined } | undefined;
}

/** One for each leg. Samples count from the first that was sent. */
export class ItemQueue {
  readonly #sampleRate: number;
  readonly #tooMany: LegFailure;
  /** Committed items in their order, then the others in the order they were first heard of. */
  #items: Item[] = [];
  /** Each commit that was sent and not answered yet, and where it ends. */
  readonly #commits: { id: string; end: number }[] = [];
  readonly #given: { id: string; text: string; range: Range }[] = [];
  /** The service says which items it makes, before it says what is in them. */
  #announces = false;
  /** Which commit each item was taken to answer, the latest last; bounded like those that were given. */
  readonly #answers: { id: string; range: Range }[] = [];
  #sent = 0;
  #commitsSent = 0;
  /** End of the last committed item. */
  #covered = 0;

  /** @param tooMany what it is when more items wait than are remembered */
  constructor(sampleRate: number, tooMany: LegFailure) {
    this.#sampleRate = sampleRate;
    this.#tooMany = tooMany;
  }

  /** Samples sent behind the last commit. */
  get uncommitted(): number {
    return this.#sent - (this.#commits.at(-1)?.end ?? this.#covered);
  }

  /** Whether every commit has been answered, and every committed item been given. */
  get settled(): boolean {
    return this.#commits.length === 0 && this.#items.every(({ range }) => range === undefined);
  }

  append(samples: number): void {
    this.#sent += samples;
  }

  /** Name of the next commit that is sent. */
  get nextCommitId(): string {
    return `commit-${this.#commitsSent + 1}`;
  }

  /** A commit was sent: it takes everything up to now. */
  commit(): Heard[] {
    this.#commits.push({ id: this.nextCommitId, end: this.#sent });
    this.#commitsSent++;
    return this.#overflow();
  }

  /**
   * A commit was refused: its audio stays with what follows. That is told late, when an item may have been taken for its answer
   * that answers a later one: then each such item answers the commit behind. Without an id it is the oldest.
   */
  commitRefused(id: string | undefined): void {
    const commits = this.#commits;
    const answers = this.#answers;
    const first = answers.findIndex((answer) => answer.id === id);
    if (first < 0) {
      const at = id === undefined ? 0 : commits.findIndex((commit) => commit.id === id);
      if (at >= 0) commits.splice(at, 1);
      return;
    }
    for (const [at, answer] of answers.entries()) {
      if (at < first) continue;
      const next = answers[at + 1];
      const behind = next === undefined ? commits.shift() : { id: next.id, end: next.range.end };
      if (behind === undefined) {
        answers.pop();
        return;
      }
      answer.id = behind.id;
      answer.range.end = Math.max(answer.range.end, behind.end);
      if (next !== undefined) next.range.start = Math.max(next.range.start, answer.range.end);
      this.#covered = Math.max(this.#covered, answer.range.end);
    }
  }

  /** The server's turn detection heard speech begin, or end. */
  speech(id: string, edge: 'started' | 'stopped', sample: number): void {
    if (this.#isGiven(id)) return;
    const item = this.#item(id);
    if (item.range === undefined) item[edge] = sample;
  }

  /**
   * The server made an item of audio: what its turn detection ended, or else what the oldest commit took. It says so in the
   * order of the audio, which is also the chain that `previous_item_id` tells.
   */
  committed(id: string): Heard[] {
    if (this.#isGiven(id)) return [];
    this.#announces = true;
    return this.#commit(this.#item(id));
  }

  #commit(item: Item): Heard[] {
    if (item.range !== undefined) return [];
    const commit = item.stopped === undefined ? this.#commits.shift() : undefined;
    const end = Math.min(this.#sent, Math.max(this.#covered, item.stopped ?? commit?.end ?? this.#covered));
    const start = Math.min(end, item.started ?? this.#covered);
    item.range = { start, end };
    if (commit !== undefined) {
      this.#answers.push({ id: commit.id, range: item.range });
      if (this.#answers.length > GIVEN_REMEMBERED_MAX) this.#answers.shift();
    }
    this.#covered = end;
    this.#place(item);
    return this.#overflow();
  }

  /** More words of an item, as they are heard. Shown when the item is the next to be given. */
  delta(id: string, text: string): Heard[] {
    if (this.#isGiven(id)) return [];
    const item = this.#item(id);
    item.interim = (item.interim + text).slice(0, INTERIM_CHARS_MAX);
    return item === this.#items[0] ? this.#shown(item) : [];
  }

  /** The final of an item. It and those behind it are given when everything before them was. */
  completed(id: string, text: string, language: string | undefined): Heard[] {
    const said = text.trim();
    const given = this.#given.find((each) => each.id === id);
    if (given !== undefined) return this.#completedAgain(given, said, language);
    if (this.#isGivenAgain(id, said)) return [];
    const item = this.#item(id);
    const heard = this.#commit(item);
    // One without words may have another end.
    if (item.final === undefined || item.final.text === '') item.final = { text: said, language };
    return [...heard, ...this.#release()];
  }

  /** An item that was given without words has some after all. */
  #completedAgain(
    given: { id: string; text: string; range: Range },
    text: string,
    language: string | undefined,
  ): Heard[] {
    if (given.text !== '' || text === '') return [];
    given.text = text;
    return [this.#ended(given.id, { text, language }, given.range)];
  }

  /** The words of an item under a name that was never announced, where all others are. */
  #isGivenAgain(id: string, text: string): boolean {
    const isKnown = this.#items.some((item) => item.id === id);
    if (!this.#announces || isKnown || text === '') return false;
    return this.#given.some((each) => each.text === text) || this.#items.some(({ final }) => final?.text === text);
  }

  #ended(id: string, { text, language }: NonNullable<Item['final']>, { start, end }: Range): Heard {
    return ended(id, utteranceOf(text, start / this.#sampleRate, end / this.#sampleRate, { language }));
  }

  #release(): Heard[] {
    const heard: Heard[] = [];
    for (let item = this.#items[0]; item?.range !== undefined && item.final !== undefined; item = this.#items[0]) {
      heard.push(this.#ended(item.id, item.final, item.range));
      this.#items.shift();
      this.#given.push({ id: item.id, text: item.final.text, range: item.range });
      if (this.#given.length > GIVEN_REMEMBERED_MAX) this.#given.shift();
    }
    const head = this.#items[0];
    return head === undefined || heard.length === 0 ? heard : [...heard, ...this.#shown(head)];
  }

  #shown(item: Item): Heard[] {
    const text = item.interim.trim();
    if (text === '') return [];
    const end = item.range?.end ?? this.#commits[0]?.end ?? this.#sent;
    const start = Math.min(end, item.range?.start ?? item.started ?? this.#covered);
    return [partial(item.id, utteranceOf(text, start / this.#sampleRate, end / this.#sampleRate))];
  }

  /** Behind all that are committed, before all that are not. Who began before it is not committed any more. */
  #place(item: Item): void {
    const committed = this.#items.filter((other) => other.range !== undefined && other !== item);
    const later = this.#items.slice(this.#items.indexOf(item) + 1).filter(({ range }) => range === undefined);
    this.#items = [...committed, item, ...later];
  }

  #item(id: string): Item {
    const known = this.#items.find((item) => item.id === id);
    if (known !== undefined) return known;
    const item: Item = {
      id,
      started: undefined,
      stopped: undefined,
      range: undefined,
      interim: '',
      final: undefined,
    };
    this.#items.push(item);
    const open = this.#items.filter(({ range }) => range === undefined);
    if (open.length > OPEN_MAX) this.#items.splice(this.#items.indexOf(open[0] as Item), 1);
    return item;
  }

  #isGiven(id: string): boolean {
    return this.#given.some((each) => each.id === id);
  }

  #overflow(): Heard[] {
    const waiting = this.#commits.length + this.#items.filter(({ range }) => range !== undefined).length;
    return waiting > WAITING_MAX ? [failed(this.#tooMany)] : [];
  }
}
