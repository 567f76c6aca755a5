#!/usr/bin/env bash
# Tries what users of a release do, without one: makes a module proxy in FOLDER that has this commit as the version
# v0.0.0-test, and installs both programs from it with go install, in a module cache and folder of their own.
# Usage: tools/release/try.sh FOLDER
set -euo pipefail
cd "$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)"
out=$(mkdir -p "${1:?which folder}" && cd "$1" && pwd)
module=github.com/fwpsuite/fwp version=v0.0.0-test
at=$out/proxy/$module/@v
rm -rf "$at" && mkdir -p "$at"
echo "$version" >"$at/list"
printf '{"Version":"%s","Time":"%s"}\n' "$version" "$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)" >"$at/$version.info"
git show HEAD:go.mod >"$at/$version.mod"
# What is in a module of its own is no part of this one.
mapfile -t others < <(git ls-files '*/go.mod' | sed 's|/go.mod$||; s|^|:(exclude)|')
git archive --format=zip --prefix="$module@$version/" -o "$at/$version.zip" HEAD -- . "${others[@]}"
export GOMODCACHE=$out/modules GOBIN=$out/bin GOFLAGS='-trimpath -modcacherw' GONOSUMDB=$module
export GOPROXY="file://$out/proxy,file://$(GOMODCACHE='' go env GOMODCACHE)/cache/download,$(go env GOPROXY)"
cd "$out"
go install -ldflags=-s "$module/cmd/...@$version"
for program in fwpcheck fwpbench; do
	"$out/bin/$program" version | grep "^$program $version "
	ls -l "$out/bin/$program"
done
"$out/bin/fwpcheck" run --quick --check 'info/*'
"$out/bin/fwpbench" run --jobs 100 --rate 100/s --warmup 0s --show-invalid --threshold 'lost==0' || [ $? -eq 3 ]
