/** Session ids for names that other libraries allow. */

/** The name itself where it can be an id; otherwise a readable id that no other name has. The Python client makes the same. */
export async function sessionId(name: string): Promise<string> {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,111}$/.test(name) && !name.endsWith('.next')) return name;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 48).replaceAll(/^-+|-+$/g, '');
  const bytes = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(name)));
  const digest = Array.from(bytes.slice(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return readable ? `${readable}-${digest}` : digest;
}
