// Its types name the class by its CommonJS export.
import elk from 'elkjs/lib/elk.bundled.js';

export type { ElkExtendedEdge, ElkNode, ElkPoint } from 'elkjs/lib/elk.bundled.js';
export const Elk = elk.default;
