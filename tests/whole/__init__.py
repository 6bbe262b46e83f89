"""What crosses modules on purpose; where the other tests are, tests/README.md says."""
