// Fields of OpenAI's own API that are options of some of its models: which there are, and how a form carries them. Which models
// take them is said by the options of providers.
import { refuse } from '../../api/errors.ts';
import type { Common } from '../../api/vocabulary.ts';
import type { Field } from '../../http/multipart/form-fields.ts';

/** Options that come as lists, a field for each member. */
export const OPENAI_LISTS: readonly string[] = ['include', 'known_speaker_names', 'known_speaker_references'];

/** Comes as a word, as JSON, or as the clients write an object: `chunking_strategy[type]`. */
const STRATEGY = 'chunking_strategy';
const STRATEGY_MEMBER = /^chunking_strategy\[(type|threshold|prefix_padding_ms|silence_duration_ms)\]$/;

/** The fields as they are named in a list of them. */
export const OPENAI_FIELDS: readonly string[] = [STRATEGY, ...OPENAI_LISTS.map((name) => `${name}[]`)];

export const isOpenaiField = (name: string): boolean => OPENAI_FIELDS.includes(name) || STRATEGY_MEMBER.test(name);

/** The options that fields say, by the names of fields. Empty fields count as absent. Throws a Refusal for what cannot be read. */
export function readOpenaiOptions(fields: readonly Field[]): Partial<Common> {
  const options: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    if (!isOpenaiField(name) || value === '') continue;
    const member = STRATEGY_MEMBER.exec(name)?.[1];
    if (member !== undefined) {
      const strategy = options[STRATEGY];
      options[STRATEGY] = {
        ...(typeof strategy === 'object' ? strategy : {}),
        [member]: member === 'type' ? value : Number(value),
      };
    } else if (name === STRATEGY) options[STRATEGY] = value.startsWith('{') ? parsed(value) : value;
    else options[name] = [...((options[name] as string[] | undefined) ?? []), value];
  }
  return options;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('invalid_request', `\`${STRATEGY}\` is neither \`auto\` nor a JSON object.`, { param: STRATEGY });
  }
}
