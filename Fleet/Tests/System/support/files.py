# SPDX-License-Identifier: Apache-2.0
"""Runs files of tests, two beside each other, and prints how each ended and what it left out."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from support.database import make_cluster

#: The files that take longest begin, so that none of them ends alone.
LONGEST = ["test_broker_killed", "test_link", "test_jobs", "test_agent_killed"]


def run(name):
    begin = time.monotonic()
    result = subprocess.run([sys.executable, "-m", "unittest", "-v", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace")
    return name, result.returncode, result.stdout, time.monotonic() - begin


def main(names):
    begin = time.monotonic()
    if not names:
        names = sorted((path.stem for path in pathlib.Path().glob("test_*.py")),
                       key=lambda name: (LONGEST.index(name) if name in LONGEST else len(LONGEST), name))
    cluster = make_cluster()
    os.environ["FLEET_CLUSTER"] = cluster
    count, failed, skipped = 0, [], 0
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, status, output, seconds in pool.map(run, names):
                ran = re.search(r"^Ran (\d+) tests?", output, re.MULTILINE)
                number = int(ran[1]) if ran else 0
                count += number
                print(f"{'ok' if status == 0 else 'FAILED':>6}  {name}: {number} tests, {seconds:.1f} s", flush=True)
                for figure in re.findall(r"figure: (.+)$", output, re.MULTILINE):
                    print(f"        {figure}")
                for reason in re.findall(r"skipped '(.+)'$|skipped \"(.+)\"$", output, re.MULTILINE):
                    skipped += 1
                    print(f"        left out: {''.join(reason)}", flush=True)
                if status != 0:
                    failed.append(name)
                    print(output, flush=True)
    finally:
        shutil.rmtree(cluster, ignore_errors=True)
    seconds = time.monotonic() - begin
    print(f"{count} tests of the whole fleet in {seconds:.0f} s, {skipped} left out, {len(failed)} of {len(names)} files failed.")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
