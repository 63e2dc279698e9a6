// `GET /v1/sessions/{id}/events`: what happens in a session, as server-sent events from any node. A live one is watched as long as
// somebody reads; of one that has ended, what was kept is told again.
import type { Clock } from '../../../machines/clock.ts';
import type { ConsoleRoute } from '../../accounts/console-login/console-route.ts';
import type { KeyStore } from '../../accounts/keys/calls.ts';
import type { WatchedFrame } from '../../api/console/watching.ts';
import { apiError } from '../../api/errors.ts';
import { knownQuery } from '../../http/query.ts';
import type { Route, RouteContext } from '../../http/router.ts';
import type { Reply, ServerRequest } from '../../http/server.ts';
import { fromLedger } from '../../http/store-answer.ts';
import { EVENT_STREAM, TextQueue } from '../../http/text-queue.ts';
import { framesOf, type SessionsDependencies, sessionOf } from '../../money/routes/sessions.ts';
import type { SessionRecord } from '../../money/store/calls.ts';
import { Quota, type Shortage } from '../../runtime/limits/quota.ts';
import { withoutTranscript } from '../session/watch/session-log.ts';

export const HEARTBEAT_MS = 15_000;
/** A reader is asked to come again after so long. */
export const STREAM_MS_MAX = 15 * 60_000;
/** Characters that a reader may leave unread; what is beyond is left out, and counted. */
const UNREAD_CHARS_MAX = 262_144;

/** Streams that one node writes at a time. */
const STREAMS_MAX = 512;

/** Watches a session of any node; as `SessionsElsewhere.watch`. */
export type WatchSession = (
  sessionId: string,
  organisationId: string,
  watching: { frame(frame: WatchedFrame): void; ended(why: 'ended' | 'unknown' | 'full' | 'lost'): void },
  after?: number,
) => () => void;

export interface SessionEventsDependencies {
  store: SessionsDependencies['store'];
  watchSession: WatchSession;
  clock: Clock;
  wallNow(): Date;
  /** One set for all readers of the node. */
  places: Pick<Quota, 'take' | 'giveBack'>;
}

/** Who reads. */
export interface EventsReader {
  organisationId: string;
  /** Whether the reader's key, or login, still opens this: asked as long as it reads. */
  isStillAllowed(): Promise<boolean>;
  /** Whether the reader sees the text of finals: never a key. */
  seesTranscripts?(): Promise<boolean>;
}

/** For the streams of a node, whoever reads them. */
export const streamPlaces = () => new Quota(STREAMS_MAX);

export const getSessionEvents =
  (dependencies: SessionEventsDependencies) =>
  async ({ request, params }: RouteContext, reader: EventsReader): Promise<Reply> => {
    const { organisationId } = reader;
    const after = afterOf(request);
    const find = () => sessionOf(dependencies, organisationId, params.id ?? '', 'id');
    const record = await find();
    if (record.endedAt !== null) return replayed(dependencies, organisationId, record, after);
    const stream = new EventStream(dependencies, record.id, reader, after, (await reader.seesTranscripts?.()) ?? false);
    const leave = () => stream.close();
    request.signal.addEventListener('abort', leave, { once: true });
    const begun = await stream.begun;
    if (begun === 'full') {
      throw apiError('overloaded', 'As many sessions are watched as this gateway shows at a time. Try again shortly.', {
        retryAfterSeconds: 5,
      });
    }
    if (begun === 'gone') return replayed(dependencies, organisationId, await find(), after);
    return { status: 200, headers: EVENT_STREAM, body: stream.pieces };
  };

/** Where an event source continues on its own, or is told to. */
function afterOf({ headers, query }: ServerRequest): number | undefined {
  const known = knownQuery(query, '/v1/sessions/{id}/events', ['after']);
  const text = headers.get('last-event-id') || known.get('after');
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw apiError('invalid_request', '`after` and `Last-Event-ID` are the number of an event: an integer from 0.', {
    param: 'after',
  });
}

/** Of a session that is not live, or whose node does not say so. */
async function replayed(
  { store }: Pick<SessionEventsDependencies, 'store'>,
  organisationId: string,
  { id, endedAt, openedAt, reason }: SessionRecord,
  after = 0,
): Promise<Reply> {
  const frames = framesOf(await fromLedger(store.findSessionEvents(organisationId, id)));
  const at = endedAt ?? openedAt;
  const last = frames.at(-1)?.sequence ?? after;
  if (frames.at(-1)?.kind !== 'ended') frames.push({ kind: 'ended', sequence: last + 1, at, reason: reason ?? 'lost' });
  const missed = frames.filter(({ sequence }) => sequence > after);
  // An event source comes again after every end: so it stays away.
  if (missed.length === 0) return { status: 204 };
  return { status: 200, headers: EVENT_STREAM, body: missed.map(textOf).join('') };
}

function tooManyStreams(shortage: Shortage) {
  const why =
    shortage === 'share'
      ? 'Your organisation reads as many event streams of this node as one organisation may'
      : `This node writes ${STREAMS_MAX} event streams, and has no place for another`;
  return apiError('rate_limit_exceeded', `${why}. Close one, or try again shortly.`, { retryAfterSeconds: 5 });
}

const textOf = (frame: WatchedFrame): string => `id: ${frame.sequence}\ndata: ${JSON.stringify(frame)}\n\n`;

/** One reader of one live session. */
class EventStream {
  readonly pieces = new TextQueue(() => this.close());
  /** `on` with the first frame; `gone` where there is nothing to be watched. */
  readonly begun: Promise<'on' | 'full' | 'gone'>;
  readonly #dependencies: SessionEventsDependencies;
  readonly #reader: EventsReader;
  #tellBegun: (begun: 'on' | 'full' | 'gone') => void = () => {};
  #sequence = 0;
  #seesTranscripts: boolean;
  #dropped = 0;
  #isOver = false;
  #heartbeat: unknown;
  readonly #deadline: unknown;
  #detach: () => void = () => {};

  /** Throws an ApiError `rate_limit_exceeded`. */
  constructor(
    dependencies: SessionEventsDependencies,
    sessionId: string,
    reader: EventsReader,
    after: number | undefined,
    seesTranscripts: boolean,
  ) {
    const { organisationId } = reader;
    const shortage = dependencies.places.take(organisationId);
    if (shortage !== undefined) throw tooManyStreams(shortage);
    this.#dependencies = dependencies;
    this.#reader = reader;
    this.#seesTranscripts = seesTranscripts;
    const { clock, watchSession } = dependencies;
    this.begun = new Promise((resolve) => {
      this.#tellBegun = resolve;
    });
    this.#deadline = clock.setTimeout(() => this.close(), STREAM_MS_MAX);
    this.#beat();
    this.#detach = watchSession(
      sessionId,
      organisationId,
      { frame: (frame) => this.#frame(frame), ended: (why) => this.#ended(why) },
      after,
    );
    if (this.#isOver) this.#detach();
  }

  /** The reader has left, or has to come again. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { clock, places } = this.#dependencies;
    places.giveBack(this.#reader.organisationId);
    clock.clearTimeout(this.#heartbeat);
    clock.clearTimeout(this.#deadline);
    this.#detach();
    this.pieces.end();
    this.#tellBegun('gone');
  }

  #frame(frame: WatchedFrame): void {
    if (this.#isOver) return;
    this.#tellBegun('on');
    this.#sequence = frame.sequence;
    if (this.pieces.waiting > UNREAD_CHARS_MAX && frame.kind !== 'ended') {
      this.#dropped++;
      return;
    }
    if (this.#dropped > 0) {
      const count = this.#dropped;
      this.#dropped = 0;
      this.#add({ kind: 'dropped', sequence: frame.sequence - 1, at: frame.at, count });
    }
    this.#add(this.#seesTranscripts ? frame : withoutTranscript(frame));
  }

  #add(frame: WatchedFrame): void {
    this.pieces.add(textOf(frame));
  }

  #ended(why: 'ended' | 'unknown' | 'full' | 'lost'): void {
    this.#tellBegun(why === 'full' ? 'full' : 'gone');
    if (why === 'lost' && !this.#isOver) {
      const at = this.#dependencies.wallNow().toISOString();
      this.#add({ kind: 'ended', sequence: this.#sequence + 1, at, reason: 'lost' });
    }
    this.close();
  }

  /**
   * Something is said in silence, too, so that nobody between takes the connection for dead; and who was shut out meanwhile reads
   * no further.
   */
  #beat(): void {
    this.#heartbeat = this.#dependencies.clock.setTimeout(() => {
      void this.#reader.isStillAllowed().then(
        (isAllowed) => isAllowed || this.close(),
        () => this.close(),
      );
      void this.#reader.seesTranscripts?.().then(
        (sees) => {
          this.#seesTranscripts = sees;
        },
        () => {
          this.#seesTranscripts = false;
        },
      );
      if (this.pieces.waiting === 0) this.pieces.add(': \n\n');
      this.#beat();
    }, HEARTBEAT_MS);
  }
}

/**
 * What happens in a session, for the page that shows it: the same events as a key is told, with the text of finals where the
 * organisation shows transcripts.
 */
export function consoleSessionEvents(
  consoleRoute: ConsoleRoute,
  dependencies: SessionEventsDependencies & { store: Pick<KeyStore, 'findOrganisation'> },
): Route[] {
  const handler = getSessionEvents(dependencies);
  return [
    consoleRoute('GET sessions/:id/events', (context) => {
      const { organisationId, isStillAllowed } = context;
      const seesTranscripts = () =>
        dependencies.store.findOrganisation(organisationId).then(
          (organisation) => organisation?.showTranscripts === true,
          () => false,
        );
      return handler(context, { organisationId, isStillAllowed, seesTranscripts });
    }),
  ];
}
