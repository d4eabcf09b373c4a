#!/bin/bash
# long
# one at a time
# The fault campaign, for a while, with the same plans each time; `make campaign` and `make soak` take others, for longer.
# What it says of a violation is enough to replay it, and the folder of that run stays in $BUILD/campaign.
set -u
exec "$BUILD/tests/campaign" --seconds "${CAMPAIGN_SECONDS:-20}" --seed "${CAMPAIGN_SEED:-1}" --keep "$BUILD/campaign"
