// Markdown to safe HTML. Replies and tool results are untrusted: no script, no style, no frames, nothing
// loaded from elsewhere; links open in a new tab and tell the other side nothing.
import DOMPurify from 'dompurify';
import { Marked } from 'marked';

const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    // HTML within Markdown is shown as the text it is.
    html: ({ text }) => escaped(text),
    // An image would be a request to somebody else's server: its description and address stand in for it.
    image: ({ href, text }) => `<span class="image-left-out">[image: ${escaped(text || 'no description')}${href.startsWith('data:') ? '' : `, ${escaped(href)}`}]</span>`,
  },
});

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

const ALLOWED = {
  ALLOWED_TAGS: [
    'a', 'b', 'blockquote', 'br', 'code', 'dd', 'del', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i',
    'kbd', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'title', 'align', 'start', 'colspan', 'rowspan', 'class', 'target', 'rel'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

// A reply stands below the page's own heading: its levels become 2, 3, 4 without gaps, whatever they were.
function lowered(html: string): string {
  const levels = [...new Set(Array.from(html.matchAll(/<h([1-6])\b/g), ([, level]) => level))].sort();
  return html.replace(/<(\/?)h([1-6])\b/g, (_, slash: string, level: string) => `<${slash}h${Math.min(6, levels.indexOf(level) + 2)}`);
}

export function markdown(text: string): string {
  const html = lowered(marked.parse(text) as string);
  return purifier.sanitize(html, ALLOWED);
}
