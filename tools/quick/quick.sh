#!/usr/bin/env bash
# quick tests the packages that were changed since BASE (main unless it is given) and those that import them directly,
# in code or in tests, and prints the names of the others that depend on them.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
go=${GO:-go}
base=$(git merge-base HEAD "${1:-main}")

folders=$( { git diff --name-only "$base"; git ls-files --others --exclude-standard; } |
	sed -n 's|/[^/]*$||p; /^[^/]*\.go$/s|.*|.|p' | sort -u)
# A file below testdata, or a script, belongs to the nearest folder above it that has Go files.
changed=$(while read -r folder; do
	while [ "$folder" != . ] && ! compgen -G "$folder/*.go" >/dev/null; do folder=$(dirname "$folder"); done
	if compgen -G "$folder/*.go" >/dev/null; then printf './%s\n' "$folder"; fi
done <<<"$folders" | sort -u)
if [ -z "$changed" ]; then
	echo "quick: no package has changed since $(git rev-parse --short "$base")"
	exit 0
fi

mapfile -t packages < <(xargs "$go" list <<<"$changed")
fields='{{.ImportPath}}: {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}'
deps='{{.ImportPath}}: {{join .Deps " "}}'
# importers prints the packages with one of the given ones on their line.
importers() {
	"$go" list -f "$1" ./... | awk -v wanted="${packages[*]}" '
		BEGIN { n = split(wanted, w); for (i = 1; i <= n; i++) want[w[i]] = 1 }
		{ name = $1; sub(/:$/, "", name); hit = name in want
		  for (i = 2; i <= NF; i++) if ($i in want) hit = 1
		  if (hit) print name }'
}
tested=$(importers "$fields" | sort -u)
others=$(importers "$deps" | sort -u | comm -13 <(printf '%s\n' "$tested") -)
if [ -n "$others" ]; then
	echo "quick: not tested, though they depend on what has changed (go test ./... has all):"
	sed 's/^/  /' <<<"$others"
fi
xargs "$go" test <<<"$tested"
