"""The README's example, run as it stands there, and its table of adapters."""

from __future__ import annotations

import importlib
import os
import pathlib
import re
import subprocess
import sys

README = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()


def test_the_example_runs(client, server):
    before = {head["id"] for head in client.sessions.all()}
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    command = [sys.executable, "-c", example]
    said = subprocess.run(command, env={**os.environ, "THROUGHLINE_URL": server.url}, check=True, capture_output=True, text=True)
    assert len(said.stdout) > 10
    (made,) = [head for head in client.sessions.all() if head["id"] not in before]
    assert (made["title"], made["turns"]) == ("Racks", 2)


def test_each_adapter_of_the_table_is_there(server):
    names = re.findall(r"`throughline\.([\w.]+)\.(\w+)(?:\(\w*\))?`", README)
    assert len(names) == 7
    for module, name in names:
        assert hasattr(importlib.import_module(f"throughline.{module}"), name)


def test_the_package_says_that_it_is_typed():
    import throughline

    assert (pathlib.Path(throughline.__file__).parent / "py.typed").exists()
