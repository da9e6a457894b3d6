// Colours for code, by a small scanner: comments, text, numbers, words of the language. It understands no grammar;
// what it does not know stays plain, and no character is ever lost.

const WORDS =
  'abstract and as async await bool boolean break case catch char class const continue crate def default defer del delete do double elif else ' +
  'end enum except export extends extern false final finally float fn for foreach from func function go goto if impl implements import in ' +
  'instanceof int interface is lambda let long loop match mod module move mut namespace new nil None not null nullptr or package pass private ' +
  'protected pub public raise ref return Self self short sizeof static string struct super switch template this throw trait true True False try ' +
  'type typedef typename typeof undefined union unless unsafe until use using var virtual void volatile where while with yield';
const SQL =
  'add all alter and as asc begin between by case commit create delete desc distinct drop else end exists from group having in index inner insert ' +
  'into is join key left like limit not null on or order outer primary rollback select set table then union unique update values view when where with';
const SHELL = 'case do done elif else esac export fi for function if in local return select set then unset until while';

const known = (words: string) => new Set(words.split(' '));
const PLAIN = known(WORDS);
const KEYWORDS: Record<string, Set<string>> = { sql: known(`${SQL} ${SQL.toUpperCase()}`), sh: known(SHELL), bash: known(SHELL), shell: known(SHELL), zsh: known(SHELL) };

/** Languages whose comments begin with a hash. */
const HASH = new Set(['py', 'python', 'rb', 'ruby', 'sh', 'bash', 'shell', 'zsh', 'yaml', 'yml', 'toml', 'ini', 'make', 'makefile', 'dockerfile', 'r', 'perl', 'conf']);
const DASHES = new Set(['sql', 'lua', 'haskell', 'hs', 'ada']);
const MARKUP = new Set(['html', 'xml', 'svg', 'vue', 'markdown', 'md']);
/** Beyond this the text is shown plain: colours are not worth a slow page. */
const CHARACTERS_MAX = 50_000;

const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

function scanner(language: string): RegExp {
  const comment = MARKUP.has(language) ? '<!--[^]*?-->' : HASH.has(language) ? '#.*' : DASHES.has(language) ? '--.*' : '//.*|/\\*[^]*?\\*/';
  const text = '"(?:[^"\\\\\\n]|\\\\.)*"' + (language === 'json' ? '' : "|'(?:[^'\\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`");
  const markup = MARKUP.has(language) ? '|(?<tag></?[\\w:-]+|/?>)' : '';
  return new RegExp(`(?<comment>${comment})|(?<text>${text})|(?<number>\\b(?:0x[\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b)|(?<word>[A-Za-z_$][\\w$]*)${markup}`, 'g');
}

/** A text as HTML with spans of the classes `code-…`; the language may be unknown. */
export function highlighted(code: string, language: string): string {
  const name = language.toLowerCase();
  if (!name || name === 'text' || name === 'plain' || code.length > CHARACTERS_MAX) return escaped(code);
  if (name === 'diff') return differences(code);
  const keywords = KEYWORDS[name] ?? (MARKUP.has(name) ? new Set<string>() : PLAIN);
  let html = '';
  let from = 0;
  for (const match of code.matchAll(scanner(name))) {
    const [found] = match;
    const kind = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined)?.[0];
    const after = code.slice(match.index + found.length);
    const shown = kind === 'word' ? (keywords.has(found) ? 'keyword' : /^\s*\(/.test(after) ? 'call' : null)
      : kind === 'text' && /^\s*:/.test(after) && (name === 'json' || name === 'yaml') ? 'key'
      : kind;
    html += escaped(code.slice(from, match.index)) + (shown ? `<span class="code-${shown}">${escaped(found)}</span>` : escaped(found));
    from = match.index + found.length;
  }
  return html + escaped(code.slice(from));
}

function differences(code: string): string {
  const kind: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'keyword' };
  return code.split('\n').map((line) => {
    const shown = kind[line[0] ?? ''];
    return shown ? `<span class="code-${shown}">${escaped(line)}</span>` : escaped(line);
  }).join('\n');
}
