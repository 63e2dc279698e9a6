// How a simulated provider is known for one, and told to fail on demand. It says in the answer to the upgrade, or to the call, that it
// is simulated; whoever has that connection may then ask for a fault of it, in a text of its own between those of the protocol. No
// provider says so, and none is ever sent such a text.
import type { DemandedFault } from '../../../machines/events.ts';

/** Header of the answer to an upgrade or a call. */
export const SIMULATED_HEADER = 'voxgate-simulated';

/** `drop`: the connection is reset; `stall`: nothing is said any more; `error`: it fails in its own words, and closes. */
const FAULTS: readonly DemandedFault[] = ['drop', 'stall', 'error'];
const BEGIN = '{"voxgate_simulated":"';

export const demandText = (fault: DemandedFault): string => `${BEGIN}${fault}"}`;

/** The fault that a text asks for; undefined for every other text. */
export function demandOf(text: string): DemandedFault | undefined {
  return text.startsWith(BEGIN) ? FAULTS.find((fault) => text === demandText(fault)) : undefined;
}

/** The same among messages that are bytes, as a text. */
export const demandIn = (bytes: Buffer): string | undefined =>
  FAULTS.map(demandText).find((text) => bytes.length === text.length && bytes.equals(Buffer.from(text)));
