"""How Sphinx makes a site of the documents: `scripts/site` runs it.

The pages are read where they lie, and are plain Markdown: a code host shows them just as well. docs/SUMMARY.md says which pages there are
and in which order; the menu is made of it, so no page holds a directive.
"""
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENTRY = re.compile(r"^(?P<indent> *)(?:- )?\[(?P<title>.*)\]\((?P<path>\S+)\)$")

project = "Throughline"
author = "the authors of Throughline"
html_title = "Throughline"
language = "en"
root_doc = "README"
extensions = ["myst_parser"]
# Headings get the anchors that a code host gives them.
myst_heading_anchors = 6
exclude_patterns = ["target", ".git", ".cache", "crates", "web", "**/node_modules"]
# A sample with an ellipsis in it is no valid JSON and need not be.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}


def menus():
    """Of each page that has pages below it: the captions and entries of its menu, and all pages, as docs/SUMMARY.md lists them."""
    below, pages, parent = {root_doc: []}, [root_doc], root_doc
    for line in (ROOT / "docs/SUMMARY.md").read_text().splitlines()[1:]:
        entry = ENTRY.match(line)
        if line.startswith("# "):
            below[root_doc].append((line[2:], []))
        elif entry:
            page = os.path.normpath(os.path.join("docs", entry["path"])).removesuffix(".md")
            if page == root_doc:
                continue
            pages.append(page)
            if entry["indent"]:
                group = below.setdefault(parent, [("", [])])
            else:
                group, parent = below[root_doc], page
            group[-1][1].append(f"{entry['title']} </{page}>")
        elif line.strip():
            raise ValueError(f"docs/SUMMARY.md: neither a heading nor an entry: {line}")
    return below, pages


page_menus, PAGES = menus()
include_patterns = [f"{page}.md" for page in PAGES] + ["docs/SUMMARY.md"]


def add_menu(app, page, source):
    """Puts the menu of the pages below `page` at its end, where nobody sees it but the sidebar."""
    for caption, entries in app.config.page_menus.get(page, []):
        lines = ["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *entries, "```", ""]
        source[0] += "\n".join(lines)
    if page == "docs/SUMMARY":
        source[0] = "---\norphan: true\n---\n" + source[0].replace("# Summary", "# All pages", 1)


# What the theme leaves out for people who use a keyboard or a screen reader.
ACCESSIBLE = [
    ('<pre>', '<pre tabindex="0">'),
    (r'<p>(?=<img [^>]*\.svg")', '<p tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<th class="head"><p></p></th>', '<td></td>'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
]


def make_accessible(app, error):
    for page in pathlib.Path(app.outdir).rglob("*.html"):
        text = page.read_text()
        for theirs, ours in ACCESSIBLE:
            text = re.sub(theirs, ours, text)
        page.write_text(text)


def setup(app):
    # A changed menu is a reason to read the pages again.
    app.add_config_value("page_menus", {}, "env")
    app.connect("source-read", add_menu)
    app.connect("build-finished", make_accessible)
