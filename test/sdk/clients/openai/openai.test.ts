// The newest version of OpenAI's client library that runs on every Node this project promises.
import * as sdk from 'openai';
import { openaiSuite } from './openai.suite.ts';

openaiSuite('openai 6', sdk);
