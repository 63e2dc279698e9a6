// The processor as a file of its own, for pages whose Content-Security-Policy wants one: serve it, and give its URL.
import { installProcessor, PROCESSOR_NAME } from './microphone-processor.ts';

installProcessor(PROCESSOR_NAME);
