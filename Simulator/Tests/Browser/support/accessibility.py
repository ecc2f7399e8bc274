# SPDX-License-Identifier: Apache-2.0
"""The accessibility engine axe."""
import importlib.util
import pathlib

package = importlib.util.find_spec("axe_playwright_python")
ENGINE = pathlib.Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(window, rules):
    """What axe finds in the page as it is, one line each."""
    window.settle()
    if not window.run("return !!window.axe"):
        window.run(ENGINE)
    found = window.run_async("""
        const [rules, done] = arguments;
        axe.run(document, { runOnly: rules, resultTypes: ['violations'] }).then(done, error => done({ violations: [{ id: String(error), nodes: [] }] }))""", rules)
    return [f"{violation['id']}: {node['target']} {node.get('failureSummary', '')}" for violation in found["violations"] for node in violation["nodes"] or [{"target": ""}]]
