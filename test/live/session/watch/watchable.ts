// A rig whose sessions can be watched, and what a watcher of one is told.
import type { WatchedFrame } from '../../../../src/api/console/watching.ts';
import { SessionsElsewhere } from '../../../../src/live/session/watch/watch.ts';
import { WatchService, type WatchServiceOptions } from '../../../../src/live/session/watch/watch-service.ts';
import { type RigClient, type RigOptions, SessionRig } from '../../../fakes/session-rig.ts';

export function watchable(of: RigOptions | SessionRig = {}, more: Pick<WatchServiceOptions, 'nodeChart'> = {}) {
  const rig = of instanceof SessionRig ? of : new SessionRig(of);
  const drops: number[] = [];
  const { bus, sessions, clock, breakers } = rig;
  const onDrop = (_: string, count: number) => drops.push(count);
  const service = new WatchService({ bus, sessions, clock, breakers, onDrop, ...more });
  const elsewhere = new SessionsElsewhere({ bus, clock, wallNow: () => new Date(0) });
  const watch = (client: RigClient, organisationId = 'org_1', after?: number) => {
    const seen = { actors: [] as WatchedFrame[], frames: [] as WatchedFrame[], ended: [] as string[] };
    const watching = {
      frame: (frame: WatchedFrame) => seen[frame.kind === 'actors' ? 'actors' : 'frames'].push(frame),
      ended: (why: string) => seen.ended.push(why),
    };
    const detach = elsewhere.watch(client.session.opening.sessionId, organisationId, watching, after);
    return { ...seen, detach };
  };
  return { rig, service, elsewhere, drops, watch };
}

export const stepsIn = (frames: readonly WatchedFrame[]) => frames.filter((frame) => frame.kind === 'step');
export const marksIn = (frames: readonly WatchedFrame[]) =>
  frames.flatMap((frame) => (frame.kind === 'mark' ? [frame.mark] : []));
