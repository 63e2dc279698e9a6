// Replacement rules as commands take them: `vox gate:Voxgate`, or a JSON object, one for each option. A comma belongs to its rule.
import { type Replacement, readReplacements } from '../../api/replacements.ts';
import { said } from './tags.ts';

/** All rules; null for `none`. */
export const replacementsValue = (name: string, texts: readonly string[]): readonly Replacement[] | null =>
  texts.length === 1 && texts[0] === 'none' ? null : said(name, () => readReplacements(texts) ?? null);
