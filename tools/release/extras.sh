#!/usr/bin/env bash
# Writes the man pages and the shell completions of both programs into FOLDER, from what the programs say themselves, and
# the licences of all modules that are built into them.
# Usage: tools/release/extras.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?which folder}
mkdir -p "$out/man" "$out/completions" "$out/bin"
go build -trimpath -o "$out/bin/" ./cmd/...

# roff escapes text for a page of man.
roff() { sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\\&&/" -e 's/-/\\-/g'; }

# page writes the page of a program: the help of each of its commands.
page() {
	local program=$1
	printf '.TH %s 1\n.SH NAME\n%s\n' "${program^^}" "$program \\- $2"
	printf '.SH SYNOPSIS\n.B %s\n.I command\n[arguments]\n' "$program"
	printf '.SH OVERVIEW\n.nf\n'
	COLUMNS=100 "$out/bin/$program" help | roff
	printf '.fi\n'
	"$out/bin/$program" __complete '' 2>/dev/null | sed '/^:/d' | cut -f1 | while read -r command; do
		printf '.SH %s\n.nf\n' "${command^^}"
		COLUMNS=100 "$out/bin/$program" help "$command" all | roff
		printf '.fi\n'
	done
}

page fwpcheck 'test servers of the Faktory Work Protocol, clause by clause' >"$out/man/fwpcheck.1"
page fwpbench 'put load on servers of the Faktory Work Protocol' >"$out/man/fwpbench.1"
for program in fwpcheck fwpbench; do
	for shell in bash zsh fish powershell; do
		"$out/bin/$program" completion "$shell" >"$out/completions/$program.$shell"
	done
done

# The modules are those of all systems: Windows and macOS have others built in.
for system in linux darwin windows; do
	GOOS=$system go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/...
done | sort -u | while read -r module version folder; do
	printf '\n==> %s %s\n' "$module" "$version"
	found=
	for file in "$folder"/{LICENSE,LICENCE,UNLICENSE,COPYING,NOTICE,PATENTS}*; do
		[ ! -f "$file" ] || { found=1 && printf '\n' && cat "$file"; }
	done
	[ -n "$found" ] || { echo "$module has no licence" >&2 && exit 1; }
done >"$out/THIRD_PARTY_NOTICES"
printf '\n==> Go\n\n' >>"$out/THIRD_PARTY_NOTICES"
cat "$(go env GOROOT)/LICENSE" >>"$out/THIRD_PARTY_NOTICES"
