// Tells the node of a watched session what the charts of its legs on this node do. A leg that is not watched has nothing attached, and
// one whose lease is not renewed is released.
import type { Bus, BusBody, Detach } from '../../../cluster/bus/bus.ts';
import { legActor, legSteps, WATCH_LEG } from '../../../cluster/bus/subjects.ts';
import { type Chart, type Inspection, inspectSystem, type Macrostep, stepsOf } from '../../../runtime/actors.ts';
import type { UpstreamHost } from '../upstream-host.ts';
import { isWatchLeg, LEG_WATCH_MS, type LegStep, type LegWatched, type WatchLeg } from './leg-messages.ts';

/** Legs that are watched at a time; of a further one nothing is told. */
const WATCHED_MAX = 1_000;

type LegName = Pick<WatchLeg, 'sessionId' | 'generation' | 'model'>;
type WatchableLeg = { readonly chartReport: number };

interface Watched {
  inspection: Inspection;
  timer: unknown;
}

export class LegWatch {
  readonly #bus: Pick<Bus, 'node' | 'serve' | 'publish'>;
  readonly #upstream: Pick<UpstreamHost, 'find' | 'clock'>;
  readonly #watched = new Map<string, Watched>();
  readonly #detach: Detach;

  constructor(bus: Pick<Bus, 'node' | 'serve' | 'publish'>, upstream: Pick<UpstreamHost, 'find' | 'clock'>) {
    this.#bus = bus;
    this.#upstream = upstream;
    this.#detach = bus.serve(WATCH_LEG, (body) => this.#answer(body));
  }

  /** Legs that are watched. */
  get size(): number {
    return this.#watched.size;
  }

  /** A leg that is about to begin, of a session that is watched: it is seen from its first state on. */
  begin(legId: string, of: LegName, leg: WatchableLeg, chart: Chart): void {
    if (this.#watched.size < WATCHED_MAX) this.#watch(legId, of, leg, chart);
  }

  close(): void {
    this.#detach();
    for (const legId of [...this.#watched.keys()]) this.#release(legId);
  }

  #answer(body: BusBody): LegWatched {
    if (!isWatchLeg(body)) return { type: 'leg.unwatched' };
    const legId = legActor(body.sessionId, body.generation);
    const leg = this.#upstream.find(legId);
    const chart = leg?.chart;
    if (!body.on || leg === undefined || chart === undefined) {
      this.#release(legId);
      return { type: 'leg.unwatched' };
    }
    const known = this.#watched.get(legId);
    if (known === undefined && this.#watched.size >= WATCHED_MAX) return { type: 'leg.unwatched' };
    const watched = known ?? this.#watch(legId, body, leg, chart);
    this.#keep(legId, watched);
    const [step] = stepsOf(chart);
    return step === undefined
      ? { type: 'leg.unwatched' }
      : { type: 'leg.watched', value: step.value, status: step.status };
  }

  #watch(legId: string, of: LegName, leg: WatchableLeg, chart: Chart): Watched {
    const { node } = this.#bus;
    let told = leg.chartReport;
    const listener = ({ value, status, event, edges, through }: Macrostep) => {
      const { chartReport } = leg;
      const report = chartReport === told ? 0 : chartReport;
      told = chartReport;
      const { generation, model } = of;
      const step: LegStep = {
        ...{ type: 'leg.step', generation, node, model, report },
        ...{ value, status, event, edges, through },
      };
      this.#bus.publish(legSteps(of.sessionId), step);
      if (status !== 'active') this.#release(legId);
    };
    const watched: Watched = { inspection: inspectSystem(chart, listener), timer: undefined };
    this.#watched.set(legId, watched);
    this.#keep(legId, watched);
    return watched;
  }

  #keep(legId: string, watched: Watched): void {
    const { clock } = this.#upstream;
    clock.clearTimeout(watched.timer);
    watched.timer = clock.setTimeout(() => this.#release(legId), LEG_WATCH_MS);
  }

  #release(legId: string): void {
    const watched = this.#watched.get(legId);
    if (watched === undefined) return;
    this.#watched.delete(legId);
    this.#upstream.clock.clearTimeout(watched.timer);
    watched.inspection.detach();
  }
}
