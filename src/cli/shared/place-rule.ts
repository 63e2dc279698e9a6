// A region and a retention as commands take them.
import { type NamedRegion, REGIONS } from '../../api/residency-rule.ts';
import { WrongInput } from './actions.ts';
import { choiceValue } from './values.ts';

export const regionValue = (text: string): NamedRegion => choiceValue('--region', text, REGIONS);

/** `any` takes the rule away. It has another word than other limits: `none` is what nothing is kept. */
export function retentionValue(text: string): 'none' | null {
  if (text === 'none') return 'none';
  if (text === 'any') return null;
  throw new WrongInput('--retention is none, or any.');
}
