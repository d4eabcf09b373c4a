#!/usr/bin/env bash
# What recording costs that stays on: no plugin, no plugin again, the empty plugin, ringscope with all detail, and
# ringscope with detail in windows, in turns. Run it again to add rounds: 60 or more are wanted, and one sitting has
# about 300 s. Writes $OUT/windows-sockets.tsv and .md, with --here (all ranks in one process, NCCL 2.30 and later)
# $OUT/windows-here.tsv and .md. Keep the .tsv between sittings.
#   windows.sh [--here] [options of overhead.sh]
# WINDOWS="200ms:10s 20ms:1s": the settings compared. The second has the same share of the time and windows in every
# launch, which last about a second: its means are what a long job feels.
set -u
folder=$(dirname "${BASH_SOURCE[0]}")
name="windows-sockets"
if [ "${1:-}" = --here ]; then name="windows-here"; fi
variants="none none2 nop ours"
for windows in ${WINDOWS:-200ms:10s 20ms:1s}; do variants="$variants ours@$windows"; done
exec "$folder/overhead.sh" --name "$name" --append --variants "$variants" --ranks 4 --rounds 60 --limit-s 290 --iters 4000 "$@"
