// Markdown to safe HTML. Replies and tool results are untrusted: no script, no style, no frames, nothing
// loaded from elsewhere; links open in a new tab and tell the other side nothing.
import DOMPurify from 'dompurify';
import { Marked } from 'marked';

const marked = new Marked({ gfm: true, breaks: true, async: false });

const purifier = DOMPurify(window);
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  if (/^(https?:|mailto:)/i.test(node.getAttribute('href') ?? '')) {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  } else {
    node.removeAttribute('href');
  }
});
// An image would be a request to somebody else's server: its description and address stand in for it.
purifier.addHook('uponSanitizeElement', (node) => {
  if (!(node instanceof Element) || node.tagName !== 'IMG') return;
  const shown = document.createElement('span');
  shown.className = 'image-left-out';
  const address = node.getAttribute('src') ?? '';
  shown.textContent = `[image: ${node.getAttribute('alt') || 'no description'}${address.startsWith('data:') ? '' : `, ${address}`}]`;
  node.replaceWith(shown);
});

const ALLOWED = {
  ALLOWED_TAGS: [
    'a', 'b', 'blockquote', 'br', 'code', 'dd', 'del', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i',
    'kbd', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'title', 'align', 'start', 'colspan', 'rowspan', 'class', 'target', 'rel'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

// Text before and after a piece of Markdown keeps the page's heading order: replies start at level 4.
function lowered(html: string): string {
  return html.replace(/<(\/?)h([1-6])\b/g, (_, slash: string, level: string) => `<${slash}h${Math.min(6, Number(level) + 3)}`);
}

export function markdown(text: string): string {
  const html = lowered(marked.parse(text) as string);
  return purifier.sanitize(html, ALLOWED);
}
