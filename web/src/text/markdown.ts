// Markdown to safe HTML. Replies and tool results are untrusted: no script, no style, no frames, nothing
// loaded from elsewhere; links open in a new tab and tell the other side nothing.
import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { highlighted } from './highlight';

const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** A block of code with its language and a button that copies it; `Markdown` listens to the button. */
function block(text: string, language: string): string {
  const head = `<span>${escaped(language || 'text')}</span><button type="button" class="copy-code">Copy</button>`;
  return `<div class="code"><div class="code-head">${head}</div><pre tabindex="0"><code>${highlighted(text, language)}</code></pre></div>`;
}

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    code: ({ text, lang }) => block(text, (lang ?? '').split(/\s/, 1)[0]!),
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
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
    'a', 'b', 'blockquote', 'br', 'button', 'code', 'dd', 'del', 'div', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i',
    'kbd', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'title', 'align', 'aria-label', 'start', 'colspan', 'role', 'rowspan', 'class', 'tabindex', 'target', 'type', 'rel'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

// A reply stands below the page's own heading: its levels become 2, 3, 4 without gaps, whatever they were.
function lowered(html: string): string {
  const levels = [...new Set(Array.from(html.matchAll(/<h([1-6])\b/g), ([, level]) => level))].sort();
  return html.replace(/<(\/?)h([1-6])\b/g, (_, slash: string, level: string) => `<${slash}h${Math.min(6, levels.indexOf(level) + 2)}`);
}

/** A wide table scrolls by itself, by keyboard too; the page never does. */
function scrollable(html: string): string {
  return html.replaceAll('<table>', '<div class="table-scroll" role="region" aria-label="Table" tabindex="0"><table>').replaceAll('</table>', '</table></div>');
}

const made = new Map<string, string>();
const MADE_MAX = 300;

function render(text: string): string {
  return purifier.sanitize(scrollable(lowered(marked.parse(text) as string)), ALLOWED);
}

/** Markdown as safe HTML. What is finished is rendered once; `growing` text is different in every frame. */
export function markdown(text: string, growing = false): string {
  if (growing) return render(text);
  let html = made.get(text);
  if (html === undefined) {
    html = render(text);
    made.set(text, html);
    if (made.size > MADE_MAX) made.delete(made.keys().next().value!);
  }
  return html;
}
