// The names that an environment may hold: which belong to somebody else although they begin like ours, and which was meant by one
// that there is not.
import { nearestSlugs } from '../api/slug.ts';

const PREFIX = 'VOXGATE_';

/** What Kubernetes puts into every container of a namespace for its Services named `voxgate` and `voxgate-…`. */
const OF_A_SERVICE =
  /^VOXGATE_(?:[A-Z0-9_]+_)?(?:SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
const ADDRESS_OF_A_SERVICE = /^(?:tcp|udp|sctp):\/\//;

/** Whether Kubernetes has set it: then it is nobody's setting, be it called like one. */
export const isOfService = (name: string, value: string | undefined): boolean =>
  OF_A_SERVICE.test(name) || (/^VOXGATE_(?:[A-Z0-9_]+_)?PORT$/.test(name) && ADDRESS_OF_A_SERVICE.test(value ?? ''));

/** Whether it claims to be of Voxgate. */
export const isOurs = (name: string): boolean => name.startsWith(PREFIX);

/** Of known names and members the one that is meant, in words. Names of providers' keys are found with our prefix before them. */
export function suggestion(wanted: string, known: readonly string[]): string {
  const written = new Map(known.flatMap((name) => [[name, name] as const, [`${PREFIX}${name}`, name] as const]));
  // A name cut short is nearest to the one it begins, whatever its length.
  const [begun] = known.filter((name) => name.startsWith(wanted)).sort((a, b) => a.length - b.length);
  const [nearest] = begun === undefined ? nearestSlugs(wanted, [...written.keys()], 1) : [begun];
  if (nearest === undefined) return '`voxgate config docs` lists what there is';
  return `the nearest name is ${written.get(nearest)}`;
}
