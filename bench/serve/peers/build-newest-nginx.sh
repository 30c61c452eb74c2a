#!/bin/sh
# Builds `nginx-newest`: the newest nginx of Debian's source packages, with ngx_brotli's static module. Prints its path.
# apt verifies the archives by Debian's signature, in folders of its own. It needs a C compiler, make, libssl-dev and
# zlib1g-dev. No suite after bookworm has h2o.
set -eu
cache="${XDG_CACHE_HOME:-$HOME/.cache}/serve-dist-bench"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# The machine's mirror.
mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)"

get() {
  apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@" >&2
}

download() {
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  echo "deb-src [signed-by=$keyring] ${mirror:-http://deb.debian.org/debian} $1 main" >"$work/sources.list"
  get update && get source --only-source --tar-only nginx libnginx-mod-http-brotli
}

mkdir -p "$cache" "$work/lists/partial" "$work/cache/archives/partial" "$work/nginx" "$work/brotli"
cd "$work"
# A mirror may lack archives of sid.
download sid || download trixie
tar -x --strip-components=1 -C nginx -f nginx_*.orig.tar.gz
tar -x --strip-components=1 -C brotli -f libnginx-mod-http-brotli_*.orig.tar.gz
cd nginx
./configure --with-cc-opt=-O2 --with-http_ssl_module --with-http_v2_module --with-http_gzip_static_module \
  --without-http_rewrite_module --add-module="$work/brotli/static" >&2
nice -n 10 make >&2
mv objs/nginx "$cache/nginx-newest"
echo "$cache/nginx-newest"
