"""The tests of the session service need google-adk."""

try:
    import google.adk  # noqa: F401
except ImportError:
    collect_ignore_glob = ["test_*.py"]
