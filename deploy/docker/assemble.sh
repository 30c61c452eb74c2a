#!/bin/sh
# Assembles the root file system of the image: sh assemble.sh <folder> <npm packages>
# Needs apt and dpkg of Debian. The file system gets the Node.js that is first in PATH.
set -eu
root=$1
shift
mkdir -p "$root/app" "$root/etc" "$root/site" "$root/tmp" "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" \
  "$root/usr/share/doc/node" "$root/var/lib/dpkg/status.d"
# Volumes need existing mount points if the file system is read-only.
mkdir "$root/dev" "$root/proc" "$root/sys"
chmod 1777 "$root/tmp"
ln -s usr/bin usr/lib usr/lib64 "$root"
# `dist` is the folder that the command serves by default.
ln -s /site "$root/app/dist"
node=$(command -v node)
cp "$node" "$root/usr/bin/node"
cp "${node%/*}/../LICENSE" "$root/usr/share/doc/node/copyright"
echo 'serve-dist:x:65532:65532::/tmp:/usr/sbin/nologin' > "$root/etc/passwd"
echo 'serve-dist:x:65532:' > "$root/etc/group"
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"

# The libraries that Node.js and the native engine need, without converters of character sets.
debs=$(mktemp -d)
compiler=$(LC_ALL=C apt-cache depends libgcc-s1 | sed -n 's/.*Depends: \(gcc-.*-base\)$/\1/p')
(cd "$debs" && apt-get download --quiet --quiet libc6 libgcc-s1 libstdc++6 "$compiler")
for deb in "$debs"/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar --extract --directory "$root" --keep-directory-symlink --no-same-owner \
    --exclude '*/gconv' --exclude '*/audit' --exclude '*/gdb' --exclude '*/gcc' --exclude '*.gz' --exclude './usr/bin'
  # Scanners read the versions of packages here.
  dpkg-deb --field "$deb" > "$root/var/lib/dpkg/status.d/$(dpkg-deb --field "$deb" Package)"
done
rm -r "$debs"

# Configurations may be ES modules.
echo '{ "type": "module" }' > "$root/app/package.json"
# The optional packages make every flag of the server work.
npm install --prefix "$root/app" --omit=dev --ignore-scripts --install-links --no-audit --no-fund --loglevel=error \
  "$@" @aws-sdk/client-s3@3 pino@10 prom-client@15
