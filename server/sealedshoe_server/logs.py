"""Structured logs: one JSON object a line on stderr, UTC times. Seeds, cards and keys are never logged."""

import logging
import sys

import structlog

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure_logs(level: str) -> None:
    """Sets up structlog for the process, and the standard library's warnings beside it."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format='{"stdlib": "%(name)s"}')
