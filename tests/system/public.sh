#!/bin/bash
# Public traces (tests/public/list), where clones of their repositories are at hand: PUBLIC=DIR.
exec "$(dirname "$0")/../public/run.sh"
