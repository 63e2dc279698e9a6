/** A sentence of the gateway, in which `code` stands between backticks. */
export function Prose({ text }: { text: string }) {
  return (
    <>{text.split('`').map((piece, at) => (at % 2 === 1 ? <code key={`${at} ${piece}`}>{piece}</code> : piece))}</>
  );
}
