// `provider_params` of Kyutai: there is nothing that its models could be asked for.
import { optionTable } from '../kit/options.ts';

export const options = optionTable({});
