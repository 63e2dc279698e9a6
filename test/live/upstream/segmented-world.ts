// One leg of a model that hears files only, under a simulated clock, at a provider on real sockets; and what it reports.
import { afterEach } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { LegReport, OpenLeg } from '../../../machines/events.ts';
import { HttpPools } from '../../../src/live/upstream/http/pools.ts';
import { type LegHandle, UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import type { Engine, HttpBatchCodec } from '../../../src/vendors/kit/provider.ts';
import { TurnText } from '../../../src/vendors/kit/turn-text.ts';
import { KnowingProvider, RATE, type Speech } from './segmented-fixture.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export class World {
  readonly clock = new SimulatedClock();
  readonly pools = new HttpPools();
  readonly reports: LegReport[] = [];
  readonly faults: string[] = [];
  readonly knowing: KnowingProvider;
  readonly upstream: UpstreamHost;
  leg!: LegHandle;
  gone = false;
  private readonly speech: Speech;
  private sent = 0;
  private sequence = 0;
  private readonly watchers = new Set<() => void>();

  private readonly request: OpenLeg;

  constructor(
    speech: Speech,
    codec: Partial<HttpBatchCodec> = {},
    { voices, ...request }: Partial<Pick<OpenLeg, 'speechGate'>> & { voices?: Engine } = {},
  ) {
    this.speech = speech;
    this.request = { ...REQUEST, ...request };
    this.knowing = new KnowingProvider('alpha', speech, codec);
    this.upstream = new UpstreamHost({
      providers: new Map([['alpha', this.knowing.provider]]),
      engines: {},
      ...(voices === undefined ? {} : { voices }),
      access: () => ({ baseUrl: this.knowing.http.url, credential: 'key' }),
      clock: this.clock,
      http: { pools: this.pools, clock: this.clock },
      onEvent: (event) => event.type === 'fault' && this.faults.push(event.name),
    });
  }

  async open(): Promise<this> {
    await this.knowing.http.listen();
    closers.push(
      () => this.knowing.http.close(),
      () => this.pools.close(),
      () => this.upstream.close(),
    );
    const report = (each: LegReport) => {
      this.reports.push(each);
      for (const watch of [...this.watchers]) watch();
    };
    this.leg = this.upstream.open('leg.1', this.request, report, {
      gone: () => {
        this.gone = true;
      },
    });
    await this.until(() => this.of('leg.ready').length === 1);
    return this;
  }

  /** Sends the speech up to a sample, as far as the leg takes it; how far it was sent. */
  send(to = this.speech.audio.length): number {
    while (this.sent < to && !this.held) {
      const frame = this.speech.audio.slice(this.sent, Math.min(to, this.sent + 1_600));
      this.sequence++;
      this.sent += frame.length;
      this.leg.command({ type: 'leg.audio', sequence: this.sequence }, new Uint8Array(frame.buffer));
    }
    return this.sent;
  }

  get held(): boolean {
    return this.of('leg.pressure').at(-1)?.high ?? false;
  }

  of<Type extends LegReport['type']>(type: Type): Extract<LegReport, { type: Type }>[] {
    return this.reports.filter((report): report is Extract<LegReport, { type: Type }> => report.type === type);
  }

  /** The turns, as a session reads them. */
  get finals() {
    const text = new TurnText();
    return this.of('leg.heard').flatMap(({ heard }) => {
      const step = 'turnId' in heard ? text.hear(heard) : undefined;
      return step?.type === 'ended' ? [step.utterance] : [];
    });
  }

  /** Up to where the session knows everything to be heard, in samples. */
  get covered(): number {
    const ends = this.of('leg.heard').map(({ heard }) =>
      heard.type === 'turn.ended' ? (heard.utterance?.end ?? 0) : 0,
    );
    return Math.round(Math.max(0, ...ends) * RATE);
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const watch = () => {
        if (!holds()) return;
        this.watchers.delete(watch);
        resolve();
      };
      this.watchers.add(watch);
      watch();
    });
  }

  finish(): Promise<void> {
    this.leg.command({ type: 'leg.finish' });
    return this.until(() => this.of('leg.finished').length + this.of('leg.failed').length > 0);
  }
}

const REQUEST: OpenLeg = {
  type: 'leg.open',
  session: '',
  sessionId: 'ses_1',
  generation: 1,
  slug: 'alpha/file',
  sampleRate: RATE,
  language: null,
  interimResults: true,
  diarization: false,
  params: {},
  credentialId: 'service',
  organisationId: 'org_1',
};
