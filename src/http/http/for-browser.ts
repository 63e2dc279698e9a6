// Whether a person looks at the answer: browsers ask for pages by their type, programs do not.
import type { DoorRequest } from '../door.ts';

export const isForBrowser = ({ headers }: Pick<DoorRequest, 'headers'>): boolean =>
  headers.get('accept')?.includes('text/html') ?? false;
