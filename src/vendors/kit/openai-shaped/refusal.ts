// What the body of a refusal says, at services shaped like OpenAI: in its form, or in that of the framework that many of their
// servers are made with (`detail`), or flat.
import type { RefusalWords } from '../failures.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../json.ts';

export function openaiShapedRefusal(body: JsonObject): RefusalWords {
  const { detail, error } = body;
  const [first] = listIn(detail);
  if (first !== undefined) {
    const { loc, msg } = objectIn(first);
    return { words: textIn(msg), param: textIn(listIn(loc).at(-1)) };
  }
  const told = typeof error === 'object' ? objectIn(error) : body;
  const { code, message, param } = told;
  return {
    code: textIn(code) || undefined,
    words: textIn(message) ?? textIn(error) ?? textIn(detail),
    param: textIn(param) || undefined,
  };
}
