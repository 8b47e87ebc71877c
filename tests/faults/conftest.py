"""Tells the size and the result of the campaign at the end of a run."""

import pytest

CAMPAIGN = "test_campaign.py::test_a_fault"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line: how many rows ran, how many held, how many are known not to."""
    counts = {
        outcome: sum(CAMPAIGN in report.nodeid for report in terminalreporter.getreports(outcome))
        for outcome in ("passed", "failed", "xfailed", "error")
    }
    rows, broken = sum(counts.values()), counts["failed"] + counts["error"]
    if rows:
        line = f"fault campaign: {rows} rows, {counts['passed']} held"
        known = f", {counts['xfailed']} known not to hold" if counts["xfailed"] else ""
        terminalreporter.write_line(f"{line}{known}{f', {broken} BROKEN' if broken else ''}")
