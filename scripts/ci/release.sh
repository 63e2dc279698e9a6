#!/usr/bin/env bash
# What a release needs beside .ci/run, which comes first and installs everything: many more seeds, cut points and kills, both tiers
# with the door that `auto` does not take here, and both on the other versions of Node.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/ci/steps.sh ci-release

step matrix-install bash scripts/node-matrix.sh install
suite seeds '' npm run test:seeds --
suite cuts '' npm run test:cuts --
suite kills '' npm run test:kills --
suite door-node '' npm run test:door-node --
for version in $(bash scripts/node-matrix.sh versions); do
  suite "node-$version" '' bash scripts/node-matrix.sh test "$version"
done
summary
