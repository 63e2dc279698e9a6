// Tags as commands take them: `customer:acme`, as in a query.
import { ApiError } from '../../api/errors.ts';
import { readTag, readTags, type Tag, type Tags } from '../../api/tags.ts';
import { WrongInput } from './command.ts';
import { orNone } from './values.ts';

/** Of one option or several; null for `none`. */
export function tagsValue(name: string, texts: readonly string[]): Tags | null {
  const [first = '', ...others] = texts;
  const read = (text: string) => said(name, () => readTags(text) ?? null);
  return others.length === 0 ? orNone(first, read) : read(texts.join(','));
}

export const tagValue = (name: string, text: string): Tag => said(name, () => readTag(text));

/** What an ApiError says is wrong with an option. */
export function said<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) throw new WrongInput(`${name}: ${error.message}`);
    throw error;
  }
}
