// Ids that the page makes itself, so that a request can be repeated.

function random(bytes: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(bytes));
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A key for one message: sent again, it does not make a second turn. */
export function freshKey(): string {
  return hex(random(16));
}

/** A UUIDv7, as the server makes them. `crypto.randomUUID` needs a secure context, which a plain address is not. */
export function freshSessionId(now = Date.now()): string {
  const bytes = random(16);
  for (let index = 0; index < 6; index += 1) bytes[index] = Math.floor(now / 2 ** (8 * (5 - index))) & 0xff;
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
