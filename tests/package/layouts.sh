#!/bin/sh
# usage: layouts.sh HEADER_DIR LIST [--update]
# The structures, constants and functions of the public headers are those of the list: members at
# the same places, the same numbers, the same types. Programs were built against them: what changes
# here raises HONE_ABI (include/CMakeLists.txt), what is new goes into the list by --update.
set -eu
headers=$1 list=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $(uname -m) in x86_64 | aarch64) ;; *) echo "the list is of 64-bit machines"; exit 77 ;; esac

for header in "$headers"/*.h; do echo "#include <hone/$(basename "$header")>"; done >"$work/all.c"
gcc -std=c11 -g -gdwarf-4 -fno-eliminate-unused-debug-types -I "$headers/.." -c "$work/all.c" \
    -o "$work/all.o"
# structures with their bytes, members with their places, constants with their numbers
LC_ALL=C readelf --debug-dump=info "$work/all.o" | awk '
    function put() {
        if (kind == "structure_type" && name ~ /^hone_/ && size != "") { print "struct " name, size; inside = name }
        if (kind == "structure_type" && name !~ /^hone_/) inside = ""
        if (kind == "member" && inside != "") print "member " inside "." name, at
        if (kind == "enumerator" && name ~ /^HONE_/) print "constant " name, value
        kind = name = size = value = ""; at = 0
    }
    /DW_TAG_/ { put(); kind = $0; sub(/.*DW_TAG_/, "", kind); sub(/\).*/, "", kind) }
    /DW_AT_name/ { name = $NF }
    /DW_AT_byte_size/ { size = $NF }
    /DW_AT_data_member_location/ { at = $NF }
    /DW_AT_const_value/ { value = $NF }
    END { put() }' >"$work/types"
# functions with their types, one a line
cat "$headers"/*.h | gcc -fpreprocessed -dD -E -P - 2>/dev/null | tr '\n' ' ' | grep -o 'HONE_API [^;{]*;' |
    sed 's/  */ /g; s/HONE_API /function /' >>"$work/types"
LC_ALL=C sort -u "$work/types" >"$work/now"
if ! grep -q '^function .*hone_program_tune(' "$work/now" || ! grep -q '^member hone_tuning_options.trials ' "$work/now"; then
    echo "the headers cannot be read: $(wc -l <"$work/now") lines" >&2
    exit 1
fi
if [ "${3:-}" = --update ]; then cp "$work/now" "$list"; fi
if LC_ALL=C comm -13 "$work/now" "$list" | grep .; then
    echo "programs were built against these, which are others now" >&2
    exit 1
fi
if LC_ALL=C comm -23 "$work/now" "$list" | grep .; then
    echo "these are new: layouts.sh … --update puts them into $list" >&2
    exit 1
fi
echo "$(wc -l <"$list") types"
