#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page on this machine that shows the last events, and the nodes. It only reads, and has no script.

A tag's text is the text of a stranger: it is shown as text, never as a link, with invisible characters made visible.
"""
import argparse
import base64
import hashlib
import html
import http.server
import json
import sys
import threading
import unicodedata

import psycopg

ROWS = 50
STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: start; padding: .3rem .6rem; border-bottom: 1px solid #8884; vertical-align: top }
td { overflow-wrap: anywhere } td.time { white-space: nowrap }
.off { color: #c33 }
@media (max-width: 45rem) {
  thead { display: none } tr { display: block; padding: .5rem 0; border-bottom: 1px solid #8888 }
  td { display: flex; gap: .6rem; border: 0; padding: .1rem 0 } td:empty { display: none }
  td::before { content: attr(data-name); flex: 0 0 6.5rem; color: #888 } td.time { white-space: normal }
}
"""
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'; "
                               "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

EVENTS = f"""
SELECT to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), node, reader, replace(type, 'org.opencorenfc.', ''), tag, late,
       left(body::text, 65536)
FROM fleet.event ORDER BY stored DESC LIMIT {ROWS}
"""
NODES = """
SELECT node, coalesce(reader, ''), agent, coalesce(reader_state, ''), missing, to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
FROM fleet.node_state ORDER BY node, reader LIMIT 500
"""


def visible(text: object, limit: int = 300) -> str:
    """Text for HTML. What can't be seen, or turns the direction of text around, becomes its number."""
    text = str(text if text is not None else "")
    shown = "".join(
        f"⟨U+{ord(c):04X}⟩" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else c for c in text[:limit]
    )
    return html.escape(shown + ("…" if len(text) > limit else ""), quote=True)


def content(body: str) -> str:
    """What an event says, in a few words."""
    try:
        data = json.loads(body).get("data", {})
        if data.get("outcome"):
            return f"job {data.get('job')}: {data['outcome']} {data.get('code', '')}"
        if "duration_ms" in data:
            return f"after {data['duration_ms'] / 1000:.1f} s"
        if data.get("code"):
            return f"{data['code']}: {data.get('message', '')}"
        records = (data.get("message") or {}).get("records") or []
        decoded = [record.get("decoded", {}) for record in records[:4]]
        return " · ".join(str(d.get("uri") or d.get("text") or d.get("kind") or "") for d in decoded) or str(data.get("product", ""))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError):
        return ""


def table(names: list[str], rows: list[list[tuple[str, str]]]) -> str:
    """A table of cells, each with its text and a class. On a narrow screen a row is a list with the names of the columns."""
    def cell(name: str, text: str, kind: str) -> str:
        return f"<td data-name='{name}'{f' class={kind}' if kind else ''}>{visible(text)}"

    body = "".join("<tr>" + "".join(cell(name, *values) for name, values in zip(names, row)) for row in rows)
    return f"<table><thead><tr>{''.join(f'<th>{name}' for name in names)}</thead><tbody>{body}</tbody></table>"


def page(events: list, nodes: list) -> str:
    rows = [
        [(time, "time"), (node, ""), (reader, ""), (f"{kind}{' (late)' if late else ''}", ""), (tag, ""), (content(body), "")]
        for time, node, reader, kind, tag, late, body in events
    ]
    states = [
        [(node, ""), (reader, ""), (agent, "" if agent == "online" else "off"), (state, "" if state == "online" else "off"),
         (missing, ""), (since, "time")]
        for node, reader, agent, state, missing, since in nodes
    ]
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5"><title>Fleet</title><style>{STYLE}</style></head><body>
<h1>The last events</h1>
{table(["Time (UTC)", "Node", "Reader", "Event", "Tag", "What it says"], rows)}
<h2>Nodes</h2>
{table(["Node", "Reader", "Agent", "State", "Missing events", "Since (UTC)"], states)}
</body></html>
"""


class Handler(http.server.BaseHTTPRequestHandler):
    server_version, sys_version = "fleet", ""
    timeout = 10

    def do_GET(self):
        # Other names would let a page of another site read this one, through a name that leads here.
        host = self.headers.get("Host", "")
        if host.rsplit(":", 1)[0] not in ("127.0.0.1", "localhost"):
            return self.answer(403, "Use http://127.0.0.1.")
        if self.path != "/":
            return self.answer(404, "There is only one page.")
        try:
            with self.server.slots, psycopg.connect(
                self.server.database, connect_timeout=5, autocommit=True,
                options="-c default_transaction_read_only=on -c statement_timeout=5s",
            ) as connection:
                text = page(connection.execute(EVENTS).fetchall(), connection.execute(NODES).fetchall())
        except psycopg.Error:
            return self.answer(503, "The database is away.")
        self.answer(200, text)

    def answer(self, status: int, text: str):
        body = (text if status == 200 else f"<!DOCTYPE html><title>Fleet</title><p>{html.escape(text)}").encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, form, *values):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, database: str):
        super().__init__(("127.0.0.1", port), Handler)
        self.database = database
        self.slots = threading.BoundedSemaphore(4)


def main():
    parser = argparse.ArgumentParser(description="Show the last events of a fleet at http://127.0.0.1:PORT/")
    parser.add_argument("--database", default="", metavar="DSN", help="a connection string of libpq without a password")
    parser.add_argument("--port", type=int, default=8008)
    options = parser.parse_args()
    server = Server(options.port, options.database)
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
