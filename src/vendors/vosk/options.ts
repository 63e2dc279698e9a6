// `provider_params` of Vosk: members of its `config`. Alternatives cannot be shown, and words are always requested. `model` is a path
// on the server, which is not a customer's to name.
import { honouredBy, optionTable, texts } from '../kit/options.ts';
import { SMALL } from './models.ts';

export const options = optionTable({
  phrase_list: honouredBy({ live: SMALL, batch: SMALL })(
    texts(1_000, 'Nothing but these phrases is heard; `[unk]` among them stands for everything else.', {
      ...{ minItems: 1, maxLength: 256 },
    }),
  ),
});
