# SPDX-License-Identifier: Apache-2.0
"""Runs files of tests, two beside each other, and prints how each ended."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import time

#: The files that take longest begin, so that none of them ends alone.
LONGEST = ["test_accessibility", "test_sample_app", "test_editing", "test_keyboard", "test_background", "test_window"]


def run(name):
    begin = time.monotonic()
    result = subprocess.run([sys.executable, "-m", "unittest", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace")
    return name, result.returncode, result.stdout, time.monotonic() - begin


def main(names):
    begin = time.monotonic()
    if not names:
        names = sorted((path.stem for path in pathlib.Path().glob("test_*.py")),
                       key=lambda name: (LONGEST.index(name) if name in LONGEST else len(LONGEST), name))
    count, failed = 0, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, status, output, seconds in pool.map(run, names):
            ran = re.search(r"^Ran (\d+) tests?", output, re.MULTILINE)
            number = int(ran[1]) if ran else 0
            count += number
            print(f"{'ok' if status == 0 else 'FAILED':>6}  {name}: {number} tests, {seconds:.1f} s", flush=True)
            for skipped in re.findall(r"skipped=\d+", output):
                print(f"        {skipped}")
            if status != 0:
                failed.append(name)
                print(output, flush=True)
    seconds = time.monotonic() - begin
    print(f"{count} tests in Chromium in {seconds:.0f} s, {len(failed)} of {len(names)} files failed.")
    return 1 if failed or count == 0 else 0


sys.exit(main(sys.argv[1:]))
