// A model on a server of the operator's own, as the configuration says it. How such a file is read is in src/config/custom.ts.
import type { Capabilities } from '../../api/models.ts';
import type { Retention } from '../../api/processing.ts';
import type { NamedRegion } from '../../api/residency-rule.ts';
import { CUSTOM } from '../../api/slug.ts';

export interface CustomModel {
  /** The part of the slug behind the slash. */
  name: string;
  /** The protocol of its server: a name of the table of shapes. */
  shape: string;
  /** The server's base URL. */
  url: string;
  /** What the server is shown; undefined where it asks for nothing. */
  credential: string | undefined;
  /** Where it is, and what it keeps; unknown when absent, which keeps to no rule. */
  region?: NamedRegion;
  retention?: Retention;
  /** What the server calls the model. */
  model: string;
  /** The model of the shape's provider whose protocol, options and timing it has. */
  like: string;
  /** What people and messages call it; the slug when absent. */
  title?: string;
  description?: string;
  /** USD for a minute, or "free". A model has the modes that have a price. */
  batch?: string;
  live?: string;
  /** Each of these is as that of the model it is like when absent. */
  languages?: readonly string[];
  capabilities?: Partial<Capabilities>;
  sampleRates?: readonly number[];
  fileBytesMax?: number;
  fileSecondsMax?: number;
}

export const slugOf = ({ name }: Pick<CustomModel, 'name'>): string => `${CUSTOM}/${name}`;
