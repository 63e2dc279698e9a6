// Ids of kept files: they look like UUIDs, and their last group names the node that has the file.
import { randomUUID } from 'node:crypto';

const NODE = /^[a-z0-9]{6}$/;
const GROUP = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-([0-9a-f]{12})$/;

/** @param node incarnation of the node, six characters */
export const newFileId = (node: string): string =>
  `${randomUUID().slice(0, 24)}${Buffer.from(node, 'latin1').toString('hex')}`;

/** The node that has the file; undefined for anything that is not the id of one. */
export function holderOf(fileId: string): string | undefined {
  const [, group] = GROUP.exec(fileId) ?? [];
  const node = group === undefined ? '' : Buffer.from(group, 'hex').toString('latin1');
  return NODE.test(node) ? node : undefined;
}
