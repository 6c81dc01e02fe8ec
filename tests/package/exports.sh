#!/bin/sh
# usage: exports.sh LIBRARY HEADER_DIR LIST [--update]
# The library exports what the public headers declare, no more and no less, and all of it is hone_*;
# and what the list has, under the version that stands there: programs were built against it. What is
# new goes into the list by --update; what is to go raises HONE_ABI (include/CMakeLists.txt).
set -eu
library=$1
headers=$2
list=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/exported"
# a declaration may go on over several lines: take the first name before a parenthesis
cat "$headers"/*.h | tr '\n' ' ' | grep -o 'HONE_API [^;{]*(' | grep -o 'hone_[a-z0-9_]*(' |
    tr -d '(' | sort -u >"$work/declared"

if grep -v '^hone_' "$work/exported"; then
    echo "$library exports names that do not begin with hone_" >&2
    exit 1
fi
[ -s "$work/exported" ] || { echo "$library exports nothing" >&2; exit 1; }
if ! diff "$work/declared" "$work/exported"; then
    echo "declared in the headers (<) and exported (>) differ" >&2
    exit 1
fi
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@+/, " ", $3); print $3 }' | sort >"$work/versions"
if [ "${4:-}" = --update ]; then cp "$work/versions" "$list"; fi
if grep -vxFf "$work/versions" "$list"; then
    echo "programs may call these, which are gone or have another version" >&2
    exit 1
fi
if grep -vxFf "$list" "$work/versions"; then
    echo "these are new: exports.sh … --update puts them into $list" >&2
    exit 1
fi
echo "$(wc -l <"$work/exported") functions"
