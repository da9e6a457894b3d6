// A text file that is to come with a message; the server's limits, told before anything is sent.

export const FILES_MAX = 8;
const BYTES_MAX = 256 * 1024;

/** The text of a file; throws a sentence where it cannot be taken along. */
export async function textOfFile(file: File): Promise<string> {
  if (file.size > BYTES_MAX) throw new Error(`${file.name} is larger than 256 KiB.`);
  const bytes = await file.arrayBuffer();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8: said below.
  }
  throw new Error(`${file.name} is not a text file.`);
}
