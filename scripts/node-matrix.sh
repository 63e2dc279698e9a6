#!/usr/bin/env bash
# Runs the whole suite on the other Node versions that package.json promises, each in a copy of the project with its own
# `npm ci`, as a newcomer on that version would. Node itself comes from the npm registry.
#
#   scripts/node-matrix.sh                install and test on every version
#   scripts/node-matrix.sh install        install only, all versions at once (two cores: about a minute and a half)
#   scripts/node-matrix.sh test VERSION [vitest options]
#   scripts/node-matrix.sh versions       says which versions they are
#
# What was installed is kept in .cache/node-<major> until package-lock.json changes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

versions=(22.23.3 24.21.0 26.12.1)
# OpenAI's newest client library wants Node 22, and is no dependency of a project that promises Node 20.
openai_newest=7.57.0
root=$PWD
node_package=$(node -p '`node-${process.platform}-${process.arch}`')

home() { echo "$root/.cache/node-${1%%.*}"; }

# Runs a command with the given Node version first on the PATH. Native modules are compiled against that version's own
# headers, whatever the user's npm configuration says.
with_node() {
  local runtime
  runtime="$(home "$1")/runtime/node_modules/$node_package"
  shift
  PATH="$runtime/bin:$PATH" npm_config_nodedir="$runtime" "$@"
}

install() {
  local version=$1 home key
  home=$(home "$version")
  key="$version $node_package $openai_newest $(cat package-lock.json {tools,test/sdk}/package-lock.json | sha256sum)"
  [[ -f $home/installed && $(< "$home/installed") == "$key" ]] && return
  rm -rf "$home"
  mkdir -p "$home/runtime" "$home/project"
  npm install --loglevel=error --no-save --prefix "$home/runtime" "$node_package@$version"
  cp --parents package.json package-lock.json .npmrc clients/*/package.json scripts/install/*.js {tools,test/sdk}/{package.json,package-lock.json,.npmrc} \
    "$home/project/"
  (cd "$home/project" && with_node "$version" npm ci --loglevel=error && with_node "$version" node scripts/install/parts.js tools test/sdk)
  (cd "$home/project" && with_node "$version" npm install --loglevel=error --no-save "openai-newest@npm:openai@$openai_newest")
  echo "$key" > "$home/installed"
}

# Brings the copy up to date with the working tree; only its node_modules stay.
copy_project() {
  local project=$1
  find "$project" -mindepth 1 -name node_modules -prune -o -type f -exec rm -f {} +
  tar --exclude=node_modules --exclude=./dist --exclude=./.cache --exclude=./data --exclude=./.git -cf - . | tar -xf - -C "$project"
}

run_suite() {
  local version=$1
  shift
  install "$version"
  copy_project "$(home "$version")/project"
  echo "Node $version:"
  (cd "$(home "$version")/project" && with_node "$version" npx vitest run "$@")
}

install_all() {
  local pids=() pid version failed=0
  for version in "${versions[@]}"; do
    install "$version" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return $failed
}

case ${1-all} in
  install) install_all ;;
  versions) echo "${versions[@]}" ;;
  test) shift && run_suite "$@" ;;
  all)
    install_all
    failed=0
    for version in "${versions[@]}"; do run_suite "$version" || failed=1; done
    exit $failed
    ;;
  *)
    sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
