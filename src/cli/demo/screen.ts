// How `voxgate demo` looks: rows of time, speaker and words. An interim is written over the one before it where the terminal can
// do that; colours are used only where they are welcome.
import type { ServerEvent } from '../../api/listen-events.ts';
import { providerOf } from '../../api/slug.ts';
import { CLEAR_LINE, type OutputStream, wrapped } from '../shared/output.ts';

interface ScreenOptions {
  output: OutputStream;
  /** For NO_COLOR (https://no-color.org) and TERM. */
  env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds of any origin. */
  now: () => number;
}

interface Programme {
  said: string;
  model: string;
  fallback: string;
  /** Empty when the first provider is to be killed. */
  faults: readonly string[];
}

type EventOf<Type extends ServerEvent['type']> = Extract<ServerEvent, { type: Type }>;

/** SGR parameters. */
const STYLES = { plain: '', bold: '1', faint: '2', red: '1;31', green: '32', yellow: '33' } as const;
type Style = keyof typeof STYLES;

const WIDTH = { min: 40, max: 80 };
const LABEL_WIDTH = 10;
/** Columns before the words of a row: `  1.4 s  assemblyai  `, and more where a label is longer. */
const wordsAt = (label: string) => 5 + ' s  '.length + Math.max(LABEL_WIDTH, label.length) + '  '.length;

const cast = (fallback: string): string =>
  providerOf(fallback) === 'local'
    ? 'The first provider is simulated on this machine; the fallback is the embedded model, which no outage takes away.'
    : 'Both providers are simulated on this machine, and use the embedded model.';

export class DemoScreen {
  readonly #output: OutputStream;
  readonly #now: () => number;
  readonly #canRewrite: boolean;
  readonly #hasColours: boolean;
  readonly #width: number;
  #startedAt: number | undefined;
  #diedAt: number | undefined;
  /** The interim that stands in the last row. */
  #interim = '';
  /** The last row has no line end yet: it may be written over. */
  #isOpen = false;

  constructor({ output, env, now }: ScreenOptions) {
    this.#output = output;
    this.#now = now;
    this.#canRewrite = output.isTTY === true && env.TERM !== 'dumb';
    this.#hasColours = this.#canRewrite && (env.NO_COLOR ?? '') === '';
    // The last column stays free: some terminals go on to the next line once it is written.
    this.#width = Math.min(WIDTH.max, Math.max(WIDTH.min, output.columns ?? WIDTH.max)) - 1;
  }

  /** What is about to happen. */
  open({ said, model, fallback, faults }: Programme): void {
    const misfortune =
      faults.length === 0
        ? 'In the middle of the sentence the first is killed.'
        : `The first has a fault: ${faults.join(', ')}.`;
    this.#line('');
    this.#line('  Voxgate: a failover in the middle of a sentence', 'bold');
    this.#line('');
    for (const [name, value] of Object.entries({ said, model, fallback })) this.#named(name, value);
    this.#line('');
    this.#paragraph(`${cast(fallback)} ${misfortune} This is what the client sees, and when:`);
    this.#line('');
  }

  /** An event of the client's. */
  show(event: ServerEvent): void {
    if (event.type === 'session_started') this.#startedAt = this.#now();
    else if (event.type === 'transcript') this.#transcript(event);
    else if (event.type === 'failover') this.#failover(event);
    else if (event.type === 'session_ended') this.#bill(event);
    else if (event.type === 'error') this.#row('error', [event.error.message], 'red');
    // Nobody sees the times of words here.
    else if (event.type === 'warning' && event.code !== 'words_estimated')
      this.#row('warning', [event.message], 'yellow');
    else if (event.type === 'discontinuity')
      this.#row('lost', [`${event.from} s to ${event.to} s (${event.reason})`], 'red');
  }

  /** The first provider was killed just now. */
  died(model: string): void {
    this.#diedAt = this.#now();
    this.#row(providerOf(model), ['the first provider dies here'], 'red');
  }

  verdict(sentence: string): void {
    this.#line('');
    this.#paragraph(sentence, 'green');
    this.#line('');
  }

  /** Nothing more is shown: what stands there is left as it is. */
  close(): void {
    if (this.#isOpen) this.#output.write('\n');
    this.#isOpen = false;
  }

  #transcript({ text, is_final: isFinal, model }: EventOf<'transcript'>): void {
    if (isFinal) {
      if (this.#isOpen) this.#output.write(CLEAR_LINE);
      this.#isOpen = false;
      this.#row('final', [text], 'bold');
    } else if (text !== this.#interim) this.#showInterim(providerOf(model), text);
  }

  #showInterim(speaker: string, text: string): void {
    if (this.#canRewrite) {
      const room = this.#width - wordsAt(speaker);
      const shown = text.length > room ? `…${text.slice(1 - room)}` : text;
      this.#output.write(`${CLEAR_LINE}${this.#head(speaker)}${shown}`);
      this.#isOpen = true;
    } else this.#row(speaker, [text]);
    this.#interim = text;
  }

  #failover({ from, to, reason, replayed_seconds: replayed }: EventOf<'failover'>): void {
    const took = this.#diedAt === undefined ? '' : `took ${Math.round(this.#now() - this.#diedAt)} ms, `;
    const words = [`${from} → ${to}`, `${reason}, ${took}${replayed.toFixed(1)} s of audio replayed`];
    this.#row('failover', words, 'yellow');
  }

  #bill({ usage, cost_usd: cost }: EventOf<'session_ended'>): void {
    const models = usage.map(({ model, seconds }) => `${model} ${seconds.toFixed(1)} s`);
    this.#row('bill', [`$${cost}: ${models.join(', ')}`]);
  }

  #named(name: string, value: string): void {
    const at = 2 + LABEL_WIDTH;
    const [first, ...rest] = wrapped(value, this.#width - at);
    this.#line(`  ${this.#styled(name.padEnd(LABEL_WIDTH), 'faint')}${first ?? ''}`);
    for (const each of rest) this.#line(' '.repeat(at) + each);
  }

  /** A row that stays. Each member of `words` begins a line. */
  #row(label: string, words: readonly string[], style: Style = 'plain'): void {
    this.close();
    this.#interim = '';
    const at = wordsAt(label);
    const [first, ...rest] = words.flatMap((each) => wrapped(each, this.#width - at));
    this.#line(this.#head(label, style) + this.#styled(first ?? '', style));
    for (const each of rest) this.#line(' '.repeat(at) + this.#styled(each, style));
  }

  #head(label: string, style: Style = 'plain'): string {
    const now = this.#now();
    const seconds = (now - (this.#startedAt ?? now)) / 1000;
    const time = this.#styled(`${seconds.toFixed(1).padStart(5)} s`, 'faint');
    return `${time}  ${this.#styled(label.padEnd(LABEL_WIDTH), style)}  `;
  }

  #paragraph(text: string, style: Style = 'plain'): void {
    for (const line of wrapped(text, this.#width - 2)) this.#line(`  ${line}`, style);
  }

  #line(text: string, style: Style = 'plain'): void {
    this.#output.write(`${this.#styled(text, style)}\n`);
  }

  #styled(text: string, style: Style): string {
    return this.#hasColours && style !== 'plain' ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text;
  }
}
