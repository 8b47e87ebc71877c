"""The dealing core: what each command brings about. Pure; clocks, randomness and keys come in as
arguments, and every record it makes passes the auditor's own fold before anybody sees it."""
