"""Completion in the real shells, where they are installed: what `--show-completion` prints is loaded and asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

CASES = [
    ("qcheck check --format s", "sarif"),
    ("qcheck check --select QC10", "QC101"),
    ("qcheck check --cluster prod", "prod-a"),
    ("qcheck explain owner-c", "owner-cannot-reclaim"),
    ("qcheck schema nodep", "nodepool"),
    ("qcheck diff --format m", "markdown"),
    ("qcheck explain preemption --format h", "html"),
    ("qcheck cap", "capacity"),
]
BASH = 'eval "$SCRIPT"; COMP_WORDS=($LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _qcheck_completion qcheck; '
FISH = "printenv SCRIPT | source; complete --do-complete $LINE"
ZSH = 'autoload -Uz compinit; compinit -u -D; eval "$SCRIPT"; print -r -- $_comps[qcheck]; print -r -- "$ANSWER"'
"""What zsh loads, and what its function evaluates for a line; a line editor to press Tab in needs a terminal."""
FILES = [("qcheck check que", "queues/"), ("qcheck check --config qch", "qcheck.yaml")]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with settings and files, and `qcheck` on PATH."""
    (tmp_path / "qcheck.yaml").write_text("clusters: {prod-a: {include: [queues/**]}}\n")
    (tmp_path / "queues").mkdir()
    (tmp_path / "queues" / "research.yaml").write_text("")
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "qcheck"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m qcheck "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@cache
def script_for(shell: str) -> str:
    """What a shell loads; it is the same wherever and whenever it is printed."""
    env = {**os.environ, "_QCHECK_COMPLETE": f"source_{shell}"}
    return subprocess.run(["qcheck"], capture_output=True, text=True, env=env, check=True).stdout


def asked(place: Path, shell: str, code: str, line: str) -> list[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on this machine")
    env = {**os.environ, "SCRIPT": script_for(shell), "LINE": line}
    done = subprocess.run(
        [program, "-c", code], capture_output=True, text=True, cwd=place, env=env, check=False, timeout=60
    )
    return [word.partition("\t")[0] for word in done.stdout.splitlines()]


@pytest.mark.parametrize(("line", "word"), CASES)
def test_bash(place: Path, line: str, word: str) -> None:
    assert word in asked(place, "bash", BASH + r'printf "%s\n" "${COMPREPLY[@]}"', line)


def test_bash_completes_files_where_qcheck_knows_nothing(place: Path) -> None:
    assert asked(place, "bash", BASH + 'echo "${#COMPREPLY[@]}"; complete -p qcheck', "qcheck check que") == [
        "0",
        "complete -o default -F _qcheck_completion qcheck",
    ]


@pytest.mark.parametrize(("line", "word"), [*CASES, *FILES])
def test_fish(place: Path, line: str, word: str) -> None:
    assert word in asked(place, "fish", FISH, line)


@pytest.mark.parametrize(("line", "word"), CASES)
def test_zsh(place: Path, monkeypatch: pytest.MonkeyPatch, line: str, word: str) -> None:
    env = {**os.environ, "_QCHECK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    answer = subprocess.run(["qcheck"], capture_output=True, text=True, env=env, cwd=place, check=True).stdout
    monkeypatch.setenv("ANSWER", answer)
    function, *shown = asked(place, "zsh", ZSH, line)
    assert function == "_qcheck_completion"
    assert any(f'"{word}"' in text for text in shown)


def test_zsh_completes_files_where_qcheck_knows_nothing(place: Path) -> None:
    env = {**os.environ, "_QCHECK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "qcheck check que"}
    assert (
        subprocess.run(["qcheck"], capture_output=True, text=True, env=env, cwd=place, check=True).stdout == "_files\n"
    )
