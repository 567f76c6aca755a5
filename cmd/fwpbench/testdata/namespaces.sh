#!/bin/sh
# Puts a load on a server by segments that have a network namespace each, joined by a bridge, and merges their reports.
#
#     unshare --net sh namespaces.sh FWPBENCH 'SERVER COMMAND' SEGMENTS FOLDER [FLAG OF fwpbench run]...
#
# The server has to listen at 10.77.0.1:7419, and to print a line when it does. All interfaces are in the namespace that
# unshare makes, so no packet leaves the machine, and they end with it. The reports, and the sum, are in the folder.
set -eu
fwpbench=$1 server=$2 segments=$3 folder=$4
shift 4
ip link set lo up
ip link add br0 type bridge
ip address add 10.77.0.1/16 dev br0
ip link set br0 up

started=
end() {
	for pid in $started; do kill "$pid" 2>/dev/null || true; done
}
trap end EXIT

mkfifo "$folder/ready"
$server > "$folder/ready" &
started=$!
read -r ready < "$folder/ready"
start=$(date -u -d "+${START:-10} seconds" +%Y-%m-%dT%H:%M:%SZ)
parts= files=
for i in $(seq "$segments"); do
	mkfifo "$folder/go-$i"
	# The segment waits for its interface, which can be moved only into a namespace that is there.
	unshare --net sh -c '
		go=$1 i=$2
		shift 2
		read -r word < "$go"
		ip link set lo up
		ip address add "10.77.1.$i/16" dev eth0
		ip link set eth0 up
		exec "$@"
	' sh "$folder/go-$i" "$i" "$fwpbench" run --url tcp://10.77.0.1:7419 --segment "$i/$segments" --start-at "$start" \
		--processors 1 --no-progress -o "json=$folder/part-$i.json" "$@" >"$folder/$i.log" 2>&1 &
	part=$!
	parts="$parts $part" started="$started $part" files="$files $folder/part-$i.json"
	until [ "$(readlink "/proc/$part/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do :; done
	ip link add "v$i" type veth peer name eth0 netns "$part"
	ip link set "v$i" master br0
	ip link set "v$i" up
	echo go > "$folder/go-$i"
done
for part in $parts; do wait "$part" || true; done # their reports say what became of them
# shellcheck disable=SC2086
"$fwpbench" merge $files --show-invalid -o - -o "json=$folder/whole.json"
