#!/usr/bin/env bash
# Prints the CPU per request of the native engine with 1, 2, 4 and 8 threads. Takes two minutes. Needs `pnpm build`, `wrk`
# and `curl`. Run it from the root of the repository.
site=$(mktemp -d); trap 'rm -rf $site $site.log $site.body' EXIT; head -c 3000 /dev/urandom >$site/3k; head -c 50000 /dev/urandom >$site/50k; echo hi >$site/index.html
cpu() { cat /proc/$1/stat | sed 's/.*) //' | awk '{ print $12 + $13 }'; }
for n in 1 2 4 8; do
  node packages/server/bin/serve-dist.js $site --force --engine native --workers $n --port 4199 2>&1 >$site.log & pid=$!
  until curl -sf -o $site.body localhost:4199/3k; do :; done
  first=$(grep -l '^serve-dist 0$' /proc/$pid/task/*/comm | cut -d/ -f3-5)
  for load in '3k -H Accept:x' '50k -H Accept:x' '3k -H Connection:\ close'; do
    whole=$(cpu $pid); part=$(cpu $first)
    count=$(eval wrk -t2 -c64 -d8s http://localhost:4199/$load | awk '/requests in/ { print $1 }')
    whole=$(($(cpu $pid) - whole)); part=$(($(cpu $first) - part))
    echo "$n threads, $load: $count requests, $((whole * 10000000 / count)) ns each, thread 0: $((100 * part / whole)) %"
  done
  kill $pid; wait $pid
done
