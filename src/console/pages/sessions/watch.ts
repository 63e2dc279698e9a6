// What a watched session tells, as the page shows it: where its charts are, what just happened, and its figures. A browser's event
// source goes on by itself after a break, from the last event that it has.
import { type Signal, signal } from '@preact/signals';
import type { WatchedActor, WatchedFrame } from '../../../api/console/watching.ts';

/** Frames that are kept, for the list and for going back. */
export const FRAMES_MAX = 512;

/** Where everything was after a frame. */
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

/** Of a session that was not watched at the time, it is not kept where its charts were when they began. */
function unseen(id: string): WatchedActor {
  const kind = id.replace(/:.*$/, '');
  return { id, machine: kind === 'leg' ? 'upstream' : kind, node: '', about: null, value: null, status: 'active' };
}

/** Before the source is opened anew where the browser has given up on it; doubles up to the longest. */
const AGAIN_MS = { first: 1_000, max: 30_000 } as const;

export class Watch {
  /** What is kept, and where everything was before that. */
  readonly told: Signal<{ frames: readonly WatchedFrame[]; before: View }> = signal({ frames: [], before: NOTHING });
  readonly state: Signal<'opening' | 'on' | 'broken' | 'over'> = signal('opening');
  readonly #path: string;
  #source: EventSource;
  #sequence = 0;
  #againMs: number = AGAIN_MS.first;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(sessionId: string) {
    this.#path = `/console/api/sessions/${encodeURIComponent(sessionId)}/events`;
    this.#source = this.#open();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source.close();
  }

  /** A browser goes on by itself after a break, but not where it was refused: then the gateway was away, or has no room. */
  #open(): EventSource {
    const source = new EventSource(`${this.#path}?after=${this.#sequence}`);
    source.onopen = () => {
      this.state.value = 'on';
      this.#againMs = AGAIN_MS.first;
    };
    source.onerror = () => {
      if (this.state.value === 'over') return;
      this.state.value = 'broken';
      if (source.readyState !== EventSource.CLOSED) return;
      this.#timer = setTimeout(() => {
        this.#source = this.#open();
      }, this.#againMs);
      this.#againMs = Math.min(AGAIN_MS.max, this.#againMs * 2);
    };
    source.onmessage = ({ data }) => this.#hear(JSON.parse(data) as WatchedFrame);
    return source;
  }

  #hear(frame: WatchedFrame): void {
    this.#sequence = Math.max(this.#sequence, frame.sequence);
    const { frames, before } = this.told.value;
    const over = Math.max(0, frames.length + 1 - FRAMES_MAX);
    this.told.value = {
      frames: [...frames.slice(over), frame],
      before: frames.slice(0, over).reduce(viewAfter, before),
    };
    if (frame.kind !== 'ended') return;
    this.state.value = 'over';
    this.close();
  }
}
