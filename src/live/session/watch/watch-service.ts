// Answers other nodes about the sessions of this one: what one is doing, and, as long as a watcher renews its lease, each step. Nothing
// is attached to a session that is not watched. How it is shown is decided in watched-session.ts.
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import type { Bus, BusBody, Detach } from '../../../cluster/bus/bus.ts';
import { sessionFrames, WATCH_SESSION } from '../../../cluster/bus/subjects.ts';
import { Quota } from '../../../runtime/limits/quota.ts';
import type { SessionHost } from '../host.ts';
import type { SessionContextOptions } from './session-context.ts';
import { type WatchAnswer, WatchRequest } from './watch.ts';
import { WatchedSession } from './watched-session.ts';

/** Sessions of a node that are watched at a time, half of them of one organisation; a further one is refused as `watch.full`. */
const WATCHED_MAX = 100;

const UNKNOWN: WatchAnswer = { type: 'session.unknown' };

export interface WatchServiceOptions {
  bus: Bus;
  sessions: Pick<SessionHost, 'find' | 'describe'>;
  clock: Clock;
  breakers: SessionContextOptions['breakers'];
  nodeChart?: SessionContextOptions['nodeChart'];
  /** Frames were left out: more happened than is shown. */
  onDrop(name: 'watch_frames', count: number): void;
}

export class WatchService {
  readonly #options: WatchServiceOptions;
  readonly #watched = new Map<string, WatchedSession>();
  readonly #places = new Quota(WATCHED_MAX);
  #feeds = 0;
  readonly #detach: Detach;

  constructor(options: WatchServiceOptions) {
    this.#options = options;
    this.#detach = options.bus.serve(WATCH_SESSION, (body) => this.#answer(body));
  }

  /** Sessions that are watched. */
  get size(): number {
    return this.#watched.size;
  }

  close(): void {
    this.#detach();
    for (const session of [...this.#watched.values()]) session.release();
  }

  #answer(body: BusBody): WatchAnswer {
    if (!Value.Check(WatchRequest, body)) return UNKNOWN;
    const { type, sessionId, organisationId, watcher, after } = body;
    const { sessions } = this.#options;
    const session = sessions.find(sessionId);
    if (session?.opening.organisationId !== organisationId) return UNKNOWN;
    if (type === 'watch.stop') {
      this.#watched.get(sessionId)?.stop(watcher);
      return { type: 'watch.off' };
    }
    if (type === 'watch.renew') return this.#renew(session, watcher, after);
    const described = sessions.describe(sessionId);
    return described === undefined
      ? UNKNOWN
      : { type: 'session.described', state: described.state, legs: described.legs.map((leg) => ({ ...leg })) };
  }

  #renew(session: Watchable, watcher: string, after: number | undefined): WatchAnswer {
    const known = this.#watched.get(session.opening.sessionId);
    if (known === undefined && this.#places.take(session.opening.organisationId) !== undefined)
      return { type: 'watch.full' };
    const watched = known ?? this.#watch(session);
    if (watched.renew(watcher) === 'full') return { type: 'watch.full' };
    const { now } = watched;
    return { type: 'watch.on', ...now, frames: after === undefined ? [] : session.log.after(after) };
  }

  #watch(session: Watchable): WatchedSession {
    const { opening, charts, log } = session;
    const { sessionId, organisationId, request, chain } = opening;
    const { bus, clock, breakers, nodeChart, onDrop } = this.#options;
    this.#feeds++;
    const watched = new WatchedSession({
      feed: this.#feeds,
      around: { bus, sessionId, chain, breakers, nodeChart },
      model: request.model,
      charts,
      log,
      figures: () => session.figures,
      clock,
      publish: (frames) => bus.publish(sessionFrames(sessionId), frames),
      onDrop: (count) => onDrop('watch_frames', count),
      onReleased: () => {
        this.#watched.delete(sessionId);
        this.#places.giveBack(organisationId);
      },
    });
    this.#watched.set(sessionId, watched);
    return watched;
  }
}

type Watchable = NonNullable<ReturnType<SessionHost['find']>>;
