#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the links of the Markdown pages that git knows.

A relative link leads to a file or folder of the repository, and to a heading that exists. Documentation/README.md lists every page
of its folder. A page that another file names, as in Documentation/HowTo/NAME.md, exists.
"""
import pathlib
import posixpath
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = "Documentation/README.md"
# Code, which has no links, or a link: [text](link), [name]: link, or a tag of HTML.
TOKEN = re.compile(
    r"""
      ^[ ]*(?P<fence>```+|~~~+).*?^[ ]*(?P=fence)`*[ \t]*$
    | (?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)
    | (?:\]\([ ]*<?|^\[[^\]\n]+\]:[ ]+|\b(?:href|src)=")(?P<link>[^\s()<>"]+(?:\([^\s()]*\)[^\s()<>"]*)*)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
NAMED = re.compile(r"(?<![\w/])Documentation/(?!HowTo/NAME)[\w/-]+\.md")


def known():
    """The files that git knows, and the new ones that it does not ignore."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def links(text):
    """The matches of all links of a page."""
    return (match for match in TOKEN.finditer(text) if match["link"])


def target(page, link):
    """The path and the heading to which a link leads; None for one that leaves the repository."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = posixpath.join(posixpath.dirname(page), urllib.parse.unquote(parts.path)) if parts.path else page
    return posixpath.normpath(path), parts.fragment


def anchors(text):
    """The anchors of a page's headings, as forges make them."""
    found = set()
    for heading in HEADING.findall(TOKEN.sub(lambda match: match[0] if not match["fence"] else "", text)):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading.lower())).replace(" ", "-")
        number = next(number for number in range(len(found) + 1) if (f"{slug}-{number}" if number else slug) not in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found


def problems():
    names = known()
    places = names | {str(folder) for name in names for folder in pathlib.PurePosixPath(name).parents}
    pages = {name: (ROOT / name).read_text() for name in sorted(names) if name.endswith(".md")}
    listed = {INDEX}
    for name, text in pages.items():
        for match in links(text):
            found = target(name, match["link"])
            if not found:
                continue
            path, heading = found
            where = f"{name}:{text.count(chr(10), 0, match.start('link')) + 1}: {match['link']}"
            if path not in places:
                yield f"{where} leads to no file of the repository."
            elif heading and heading not in anchors(pages.get(path, "")):
                yield f"{where} leads to no heading of {path}."
            if name == INDEX:
                listed.add(path)
    for name in pages:
        if name.startswith("Documentation/") and name not in listed:
            yield f"{name}: {INDEX} does not list this page."
    for name in sorted(names):
        if name.endswith((".swift", ".py", ".md", ".txt", ".yml", ".js")):
            text = pages.get(name) or (ROOT / name).read_text()
            for page in NAMED.findall(text) if "Documentation/" in text else ():
                if page not in names:
                    yield f"{name}: {page} does not exist."


if __name__ == "__main__":
    found = list(problems())
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)
