#!/bin/bash
# alone
# The fault campaign, for a while; `make soak` runs it for long. What it says of a violation is enough to replay it, and
# the folder of that run stays in $BUILD/campaign.
set -u
exec "$BUILD/tests/campaign" --seconds "${CAMPAIGN_SECONDS:-30}" --keep "$BUILD/campaign"
