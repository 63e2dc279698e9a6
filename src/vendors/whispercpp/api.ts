// Where a whisper.cpp server is reached: wherever its operator says, and below the path it was started with. It knows no keys; one
// that a proxy in front of it asks for is shown.
import { bearer, providerApi } from '../kit/api.ts';

export const api = providerApi({ url: 'http://127.0.0.1:8080', headers: bearer });
