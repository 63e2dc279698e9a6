// Audio over a live socket at the pace of speech, and `close` behind it: as a microphone sends it.
import WebSocket from 'ws';

const CHUNK_MS = 100;

/**
 * Sends one chunk each 100 ms, by the clock: a late timer is made up for. Stops by itself when the socket is no longer open.
 *
 * @param onSent called with the bytes sent so far
 */
export function sendInRealTime(
  socket: WebSocket,
  audio: Uint8Array,
  bytesPerSecond: number,
  onSent: (bytes: number) => void,
): void {
  const chunkBytes = (bytesPerSecond * CHUNK_MS) / 1000;
  const startedAt = performance.now();
  let at = 0;
  const send = (): void => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const due = Math.floor((performance.now() - startedAt) / CHUNK_MS) * chunkBytes;
    while (at < Math.min(due, audio.byteLength)) {
      socket.send(audio.subarray(at, at + chunkBytes));
      at = Math.min(at + chunkBytes, audio.byteLength);
      onSent(at);
    }
    if (at < audio.byteLength) setTimeout(send, CHUNK_MS / 2);
    else socket.send('{"type":"close"}');
  };
  send();
}
