// `provider_params` of Amazon Transcribe. Vocabularies, filters and models are made in the account before.
import { flag, honouredBy, oneOf, optionTable, text, texts } from '../kit/options.ts';
import { toRedactions } from '../kit/vocabulary/conversions.ts';
import { severalLocales } from './models.ts';

/** https://docs.aws.amazon.com/transcribe/latest/dg/pii-redaction-stream.html */
const KINDS = {
  pii: ['NAME', 'ADDRESS', 'EMAIL', 'PHONE', 'SSN'],
  pci: ['CREDIT_DEBIT_NUMBER', 'CREDIT_DEBIT_CVV', 'CREDIT_DEBIT_EXPIRY', 'PIN', 'BANK_ACCOUNT_NUMBER', 'BANK_ROUTING'],
} as const;

const live = honouredBy({ live: true });

export const options = optionTable({
  vocabulary_name: live(text(200, 'A custom vocabulary of the account.'), { wire: 'vocabulary-name' }),
  vocabulary_filter_name: live(text(200, 'A vocabulary filter of the account.'), { wire: 'vocabulary-filter-name' }),
  vocabulary_filter_method: live(oneOf(['remove', 'mask', 'tag'], 'What becomes of words of the filter.'), {
    wire: 'vocabulary-filter-method',
  }),
  language_model_name: live(text(200, 'A custom language model of the account.'), { wire: 'language-model-name' }),
  partial_results_stability: live(
    oneOf(['low', 'medium', 'high'], 'How soon words of interim results stay as they are.'),
    {
      wire: 'partial-results-stability',
    },
  ),
  content_redaction: live(flag('Takes personal data out of what is said.'), { wire: false }),
  pii_entity_types: live(
    texts(20, 'Kinds of personal data, such as NAME; all when absent. Takes them out by itself.', {
      minItems: 1,
      maxLength: 40,
    }),
    { wire: false, common: { redact: { to: toRedactions(KINDS) } } },
  ),
  language_options: live(
    texts(
      5,
      'Up to five locales that may be spoken, one of each language: with language=auto, or without a language.',
      {
        minItems: 2,
        maxLength: 10,
      },
    ),
    { wire: false, common: { languages: { to: severalLocales } } },
  ),
});
