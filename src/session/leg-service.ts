// Joins the upstream host to the bus: answers requests for legs, and carries commands and reports by address. The upstream
// host itself knows no bus, so that a batch job can hold a leg directly.
import type { LegCommand, LegOpened, OpenLeg } from '../../machines/events.ts';
import type { Address, Bus, Detach } from '../bus/bus.ts';
import { legActor, OPEN_LEG } from '../bus/subjects.ts';
import type { LegHandle, UpstreamHost } from '../upstream/live.ts';

/** Offers this node's upstream host to every session on the bus. */
export function serveLegs(bus: Bus, upstream: UpstreamHost): Detach {
  return bus.serve(OPEN_LEG, (body) => {
    const request = body as OpenLeg;
    const legId = legActor(request.sessionId, request.generation);
    const address = bus.address(legId);
    const session = request.session as Address;
    let leg: LegHandle | undefined;
    // Attached before it is opened: a command may follow the first report at once.
    const detach = bus.attach(legId, (envelope) => leg?.command(envelope.body as LegCommand, envelope.bytes));
    const report = (message: { type: string }) => {
      const outcome = bus.send(session, address, message);
      // Nobody is there to hear it any more: the session has ended, and its leg with it.
      if (outcome === 'unknown_actor' || outcome === 'unknown_node') leg?.dispose();
    };
    try {
      leg = upstream.open(legId, request, report, detach);
    } catch (error) {
      detach();
      throw error;
    }
    return { type: 'leg.opened', leg: address } satisfies LegOpened;
  });
}
