// What the gateway writes in the place of what it redacts.
import { labelOf, REDACTION_CLASSES } from '../api/redaction.ts';
import { UNREADABLE } from './pieces.ts';

const escaped = (label: string): string => label.replace(/[[\]]/g, '\\$&');

/** Each label in a text. */
export const LABELS = new RegExp([...REDACTION_CLASSES.map(labelOf), UNREADABLE].map(escaped).join('|'), 'g');
