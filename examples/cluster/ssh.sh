#!/bin/sh
# One participant of bus.toml on each machine, by ssh alone: this one sends and leads, and has the
# result, bus.json.
#
#   ./ssh.sh THIS HOST1 HOST2 HOST3     where THIS is how the hosts reach this machine
#
# wiregauge must be on the path of all; they need no common folder. Key and scenario go there by
# standard input, so that no list of processes shows the key. When this ends, also by Ctrl-C, the
# hosts notice that their leader is gone, end, and keep no file.
set -eu
[ $# -ge 2 ] || {
  echo "usage: ssh.sh THIS HOST …: one host for each receiver of bus.toml" >&2
  exit 2
}
cd "$(dirname "$0")"
this=$1
shift
WIREGAUGE_KEY=$(openssl rand -hex 32)
export WIREGAUGE_KEY
there='set -eu; umask 077; folder=$(mktemp -d); trap "rm -rf $folder" EXIT; cd "$folder"
read -r WIREGAUGE_KEY; export WIREGAUGE_KEY; cat >bus.toml
wiregauge bus participant --scenario bus.toml --wait 1m'
rank=0
for host; do
  rank=$((rank + 1))
  { echo "$WIREGAUGE_KEY" && cat bus.toml; } | ssh "$host" "$there --rank $rank --peer $this" &
done
status=0
wiregauge bus participant --scenario bus.toml --wait 1m --rank 0 -o bus.json || status=$?
wait
exit $status
