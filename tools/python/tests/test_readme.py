"""The programs in the README run unchanged."""

import pathlib
import re
import subprocess
import sys

import pytest

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text("utf-8")


@pytest.mark.parametrize("program", re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S))
def test_a_program_of_the_readme_runs(program, tmp_path):
    for module in re.findall(r"^from (google\.adk|agents|langgraph)\b", program, re.M):
        pytest.importorskip(module)
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
