// How a simulated provider is known for one, and told to fail on demand. It says in the answer to the upgrade that it is simulated;
// whoever has that connection may then ask for a fault of it, in a text of its own between those of the protocol. No provider says
// so, and none is ever sent such a text.
import type { DemandedFault } from '../../machines/events.ts';

/** Header of the answer to an upgrade. */
export const SIMULATED_HEADER = 'voxgate-simulated';

/** `drop`: the connection is reset; `stall`: nothing is said any more; `error`: it fails in its own words, and closes. */
const FAULTS: readonly DemandedFault[] = ['drop', 'stall', 'error'];
const BEGIN = '{"voxgate_simulated":"';

export const demandText = (fault: DemandedFault): string => `${BEGIN}${fault}"}`;

/** The fault that a text asks for; undefined for every other text. */
export function demandOf(text: string): DemandedFault | undefined {
  return text.startsWith(BEGIN) ? FAULTS.find((fault) => text === demandText(fault)) : undefined;
}
