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
      const actor = view.actors.get(frame.actor);
      if (actor === undefined) return view;
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
      return { ...view, ended: frame.reason };
    default:
      return view;
  }
}

export class Watch {
  readonly frames: Signal<readonly WatchedFrame[]> = signal([]);
  readonly state: Signal<'opening' | 'on' | 'broken' | 'over'> = signal('opening');
  readonly #source: EventSource;

  constructor(sessionId: string) {
    this.#source = new EventSource(`/console/api/sessions/${encodeURIComponent(sessionId)}/events`);
    this.#source.onopen = () => {
      this.state.value = 'on';
    };
    this.#source.onerror = () => {
      this.state.value = this.#source.readyState === EventSource.CLOSED ? 'over' : 'broken';
    };
    this.#source.onmessage = ({ data }) => this.#hear(JSON.parse(data) as WatchedFrame);
  }

  close(): void {
    this.#source.close();
  }

  #hear(frame: WatchedFrame): void {
    this.frames.value = [...this.frames.value.slice(1 - FRAMES_MAX), frame];
    if (frame.kind !== 'ended') return;
    this.state.value = 'over';
    this.close();
  }
}
