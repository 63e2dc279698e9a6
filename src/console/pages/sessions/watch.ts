// The feed of a watched session as the page shows it: the states of its charts, what just happened, and its figures.
import { type Signal, signal } from '@preact/signals';
import type { WatchedActor, WatchedFrame } from '../../../api/console/watching.ts';

/** Frames that are kept, for the list and for going back. */
export const FRAMES_MAX = 512;

/** The state of everything after a frame. */
export interface View {
  actors: ReadonlyMap<string, WatchedActor>;
  /** Edges just taken, by actor. */
  taken: ReadonlyMap<string, readonly string[]>;
  figures: Extract<WatchedFrame, { kind: 'audio' }> | undefined;
  ended: string | undefined;
}

export const NOTHING: View = { actors: new Map(), taken: new Map(), figures: undefined, ended: undefined };

/** The view after one frame more. */
export function viewAfter(view: View, frame: WatchedFrame): View {
  switch (frame.kind) {
    case 'actors':
      return { ...view, actors: new Map(frame.actors.map((actor) => [actor.id, actor])), taken: new Map() };
    case 'actor':
      return { ...view, actors: new Map(view.actors).set(frame.actor.id, frame.actor) };
    case 'gone': {
      const actors = new Map(view.actors);
      actors.delete(frame.actor);
      return { ...view, actors };
    }
    case 'step': {
      const actor = view.actors.get(frame.actor) ?? unseen(frame.actor);
      const { value, status, edges } = frame;
      return {
        ...view,
        actors: new Map(view.actors).set(frame.actor, { ...actor, value, status }),
        taken: new Map([[frame.actor, edges]]),
      };
    }
    case 'audio':
      return { ...view, figures: frame };
    case 'ended':
      return { ...view, actors: withoutMoney(view.actors), ended: frame.reason };
    default:
      return view;
  }
}

/** An ended session holds nothing, also where its last frames were not recorded. */
function withoutMoney(actors: View['actors']): View['actors'] {
  const rest = new Map(actors);
  rest.delete('money');
  return rest;
}

/** An actor whose beginning was not watched. */
function unseen(id: string): WatchedActor {
  const kind = id.replace(/:.*$/, '');
  return { id, machine: kind === 'leg' ? 'upstream' : kind, node: '', about: null, value: null, status: 'active' };
}

/** Before the source is opened again where the browser has given up; doubles up to the longest. */
const RETRY_MS = { first: 1_000, max: 30_000 } as const;

export class Watch {
  /** The frames that are kept, and the view before them. */
  readonly history: Signal<{ frames: readonly WatchedFrame[]; before: View }> = signal({ frames: [], before: NOTHING });
  readonly state: Signal<'opening' | 'on' | 'broken' | 'over'> = signal('opening');
  readonly #path: string;
  #source: EventSource;
  #sequence = 0;
  #retryMs: number = RETRY_MS.first;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(sessionId: string) {
    this.#path = `/console/api/sessions/${encodeURIComponent(sessionId)}/events`;
    this.#source = this.#open();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source.close();
  }

  /** A browser reconnects automatically after a break, from the last event that it has, but not after an error response: then the gateway was away, or has no room. */
  #open(): EventSource {
    const source = new EventSource(`${this.#path}?after=${this.#sequence}`);
    source.onopen = () => {
      this.state.value = 'on';
      this.#retryMs = RETRY_MS.first;
    };
    source.onerror = () => {
      if (this.state.value === 'over') return;
      this.state.value = 'broken';
      if (source.readyState !== EventSource.CLOSED) return;
      this.#timer = setTimeout(() => {
        this.#source = this.#open();
      }, this.#retryMs);
      this.#retryMs = Math.min(RETRY_MS.max, this.#retryMs * 2);
    };
    source.onmessage = ({ data }) => this.#receive(JSON.parse(data) as WatchedFrame);
    return source;
  }

  #receive(frame: WatchedFrame): void {
    this.#sequence = Math.max(this.#sequence, frame.sequence);
    const { frames, before } = this.history.value;
    const over = Math.max(0, frames.length + 1 - FRAMES_MAX);
    this.history.value = {
      frames: [...frames.slice(over), frame],
      before: frames.slice(0, over).reduce(viewAfter, before),
    };
    if (frame.kind !== 'ended') return;
    this.state.value = 'over';
    this.close();
  }
}
