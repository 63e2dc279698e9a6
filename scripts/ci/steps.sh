# For .ci/run and scripts/ci/release.sh: named steps, of which one that fails does not end the others; what they report is counted
# at the end. Expects the name of the folder of the reports below .cache/.
set -euo pipefail
exec < /dev/null
export CI=true

reports=$PWD/.cache/$1
rm -rf "$reports"
mkdir -p "$reports"
failed_steps=()

has_failed() { [[ " ${failed_steps[*]-} " == *" $1 "* ]]; }

# Installs a Debian package when a program, or a file of it, is missing; apt's lists are fetched once.
need_debian() {
  local needed=$1 package=$2 sudo=()
  is_here "$needed" && return
  [[ $(id -u) == 0 ]] || sudo=(sudo -n)
  if [[ ! -f $reports/apt-updated ]]; then
    "${sudo[@]}" apt-get update -qq
    touch "$reports/apt-updated"
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" > /dev/null
  is_here "$needed" || { echo "$needed is missing, and the Debian package $package does not bring it." >&2; return 1; }
}

is_here() { [[ $1 == /* && -e $1 ]] || command -v "$1" > /dev/null; }

# Runs a command as a named step and tells how long it took; a failure is kept for the end.
step() {
  local name=$1 from=$SECONDS
  shift
  echo "== $name: $*"
  if "$@"; then
    echo "== $name: done in $((SECONDS - from)) s"
  else
    echo "== $name: FAILED after $((SECONDS - from)) s"
    failed_steps+=("$name")
  fi
}

# Like step, for a command that takes vitest's options: leaves a report to count in.
suite_once() {
  local name=$1
  shift
  export CI_UNHANDLED=$reports/$name.unhandled
  step "$name" "$@" --reporter=default --reporter=./test/setup/slowest-files.ts --reporter=json --outputFile.json="$reports/$name.json" \
    --reporter=./scripts/ci/unhandled-reporter.ts
}

# The same on a machine that others use as well: what failed is run once more with nothing beside it. What passes then is told of
# as unsteady, and the summary allows for few of them. The first word after the name is the files, for a command that takes some.
suite() {
  local name=$1 paths=() again=()
  read -ra paths <<< "$2"
  shift 2
  suite_once "$name" "$@" ${paths[@]+"${paths[@]}"}
  has_failed "$name" || return 0
  mapfile -t again < <(node_modules/.bin/tsx scripts/ci/failed-files.ts "$reports/$name.json")
  [[ ${#again[@]} -gt 0 ]] || return 0
  suite_once "$name-again" "$@" --no-file-parallelism "${again[@]}"
}

# The last line counts the tests, and the exit code is its verdict.
summary() {
  node_modules/.bin/tsx scripts/ci/summary.ts "$reports" "${failed_steps[@]-}"
}
