// Linear16, the encoding that audio is held and sent on in, whatever a client sends.

export const BYTES_PER_SAMPLE = 2;
