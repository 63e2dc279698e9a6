#!/usr/bin/env bash
# What a release needs after .ci/run, which installs everything: many more seeds, cut connections and kills, and both tiers on the
# server adapter that `auto` does not choose here and on the other versions of Node. Arguments run only some of the parts.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
parts=(seeds cuts kills adapter node)
for part in "$@"; do
  [[ " ${parts[*]} " == *" $part "* ]] || { echo "Unknown part $part. The parts are: ${parts[*]}." >&2; exit 2; }
done
[[ $# == 0 ]] || parts=("$@")
source scripts/ci/steps.sh ci-release

tests() { env "${variables[@]}" npx vitest run "$@"; }

for part in "${parts[@]}"; do
  case $part in
    seeds)
      variables=(SIMULATION_SEEDS=10000 REPLICA_SEEDS=1000)
      suite seeds '' tests test/simulation test/cluster/replication/replica-simulation.test.ts
      ;;
    cuts)
      variables=(CUT_SESSIONS=1000 CUT_PARALLEL=150)
      suite cuts '' tests test/live/failover/slow/cut-points.test.ts
      ;;
    kills)
      variables=(KILLS=50)
      suite kills '' tests --no-file-parallelism test/money/ledger/slow/kills.test.ts test/store/slow/ledger-kill.test.ts test/store/slow/processes.test.ts
      variables=(KILLS=200)
      suite replica-kills '' tests test/cluster/slow/replica-kills.test.ts
      variables=(KILLS=300)
      suite job-kills '' tests --no-file-parallelism test/jobs/slow/kills.test.ts test/cluster/slow/job-kills.test.ts
      variables=(FILE_HOURS=4)
      suite long-file '' tests test/gateway/files/slow/long-file.test.ts
      ;;
    adapter)
      variables=(VOXGATE_DOOR=node)
      suite adapter '' tests
      ;;
    node)
      step node-install bash scripts/node-matrix.sh install
      for version in $(bash scripts/node-matrix.sh versions); do
        suite "node-$version" '' bash scripts/node-matrix.sh test "$version"
      done
      ;;
  esac
done
summary
