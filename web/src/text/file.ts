// A file that is to come with a message: a text, or a picture; the server's limits, told before anything is sent.

/** What comes with a message: either its text or a picture as a data URL. */
export interface Attachment {
  name: string;
  text?: string;
  image?: string;
}

export const FILES_MAX = 8;
const TEXT_BYTES_MAX = 256 * 1024;
const IMAGE_BYTES_MAX = 1024 * 1024;
/** What all files of a message may have: the server's limit for a body, less the words. */
export const ALL_BYTES_MAX = 3.5 * 1024 * 1024;
/** Providers shrink what is larger, so nothing is lost by doing it here. */
const SIDE_MAX = 1568;
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const QUALITIES = [0.85, 0.7, 0.5];

export const sizeOf = ({ text, image }: Attachment) => (text ?? image ?? '').length;

/** The file as it is sent; throws a sentence where it cannot be taken along. */
export async function attachmentOf(file: File): Promise<Attachment> {
  if (PICTURES.includes(file.type)) return { name: file.name, image: await picture(file) };
  if (file.size === 0) throw new Error(`${file.name} is empty.`);
  if (file.size > TEXT_BYTES_MAX) throw new Error(`${file.name} is larger than 256 KiB.`);
  const bytes = await file.arrayBuffer();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { name: file.name, text };
  } catch {
    // Not UTF-8: said below.
  }
  throw new Error(`${file.name} is neither a text file nor a picture (PNG, JPEG, GIF, WebP).`);
}

/** A picture as it is where it is small enough, else made smaller. */
async function picture(file: File): Promise<string> {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} cannot be read as a picture.`);
  });
  const scale = Math.min(1, SIDE_MAX / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && file.size <= IMAGE_BYTES_MAX) return dataUrl(file);
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d')!;
  // What is transparent would turn black.
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  for (const quality of QUALITIES) {
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/jpeg', quality));
    if (blob && blob.size <= IMAGE_BYTES_MAX) return dataUrl(blob);
  }
  throw new Error(`${file.name} is too large, even when it is made smaller.`);
}

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result as string);
    reader.onerror = () => failed(new Error('The picture cannot be read.'));
    reader.readAsDataURL(blob);
  });
}

/** Whether a text is a picture, as pieces of requests hold it. */
export const isPicture = (text: string) => text.startsWith('data:image/');

/** A file as it was quoted in a request, without the quotation. */
export function unquoted(name: string, text: string): Attachment {
  if (isPicture(text)) return { name, image: text };
  const inner = /^<data from="[^"]*">\n([\s\S]*)\n<\/data>$/.exec(text)?.[1];
  return { name, text: (inner ?? text).replaceAll('<\\/data', '</data') };
}
