// `provider_params` of Cartesia: https://docs.cartesia.ai/api-reference/stt/websocket
import { honouredBy, optionTable, texts } from '../kit/options.ts';
import { LIVE_MODELS } from './models.ts';

export const options = optionTable({
  keyterm: honouredBy({ live: LIVE_MODELS })(texts(100, 'Words and phrases to expect; 1,200 characters in all.'), {
    common: { keyterms: { charactersMax: 1_200, inUrl: ['live'] } },
  }),
});
