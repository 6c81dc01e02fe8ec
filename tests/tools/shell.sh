#!/bin/bash
# usage: shell.sh DIR HONE VERSION
# Completions in bash, and in zsh and fish where they are installed; a section of the manual page
# for each verb and sub-verb.
set -u
dir=$1
hone=$2
version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
expect() { # WHAT GOT WANT
    [ "$2" = "$3" ] && return
    printf '%s: got\n%s\nwant\n%s\n' "$1" "$2" "$3" >&2
    failed=1
}
PATH=$(dirname "$hone"):$PATH

# shellcheck source=/dev/null
. "$dir/hone.bash"
in_bash() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _hone "$1" "${COMP_WORDS[COMP_CWORD]}"
    echo "${COMPREPLY[*]}"
}
expect "bash: verbs" "$(in_bash hone ta)" "tasks target"
expect "bash: sub-verbs" "$(in_bash hone db se s)" ""
expect "bash: sub-verbs" "$(in_bash hone db me)" "merge"
expect "bash: options" "$(in_bash hone equal a.py --f)" "--func"
expect "bash: options of sub-verbs" "$(in_bash hone db prune tuned.db --k)" "--keep"
expect "bash: files" "$(in_bash hone print mo)" ""
expect "bash: no such verb" "$(in_bash hone nothing --f)" ""

if command -v zsh >/dev/null; then
    cat >"$work/ask.zsh" <<'END'
_describe() { print -r -- "$3: ${(P)@[-1]}" }
_files() { print files }
file=$1 PREFIX=${@[-1]}
words=("${@[2,-1]}") CURRENT=$#words
() { source $file }
END
    in_zsh() { zsh -f "$work/ask.zsh" "$dir/_hone" "$@"; }
    expect "zsh: verbs" "$(in_zsh hone ta | grep -o 'hash:structural hashes')" "hash:structural hashes"
    expect "zsh: sub-verbs" "$(in_zsh hone farm '' | grep -o 'kick:cut a runner off')" "kick:cut a runner off"
    expect "zsh: options" "$(in_zsh hone hash -- | grep -o -e '--json:JSON to stdout')" "--json:JSON to stdout"
    expect "zsh: files" "$(in_zsh hone hash mo)" "files"
fi

if command -v fish >/dev/null; then
    in_fish() { HOME=$work fish --no-config -c "source $dir/hone.fish; complete -C '$1'"; }
    expect "fish: verbs" "$(in_fish 'hone ha')" "hash"$'\t'"structural hashes"
    expect "fish: sub-verbs" "$(in_fish 'hone farm ki')" "kick"$'\t'"cut a runner off"
    expect "fish: options" "$(in_fish 'hone hash --js')" "--json"$'\t'"JSON to stdout"
fi

"$dir/man.sh" "$hone" "$version" >"$work/hone.1" || failed=1
! command -v mandoc >/dev/null ||
    expect "man: faults" "$(mandoc -Tlint -W warning "$work/hone.1" | grep -v 'missing date')" ""
expect "man: paragraphs without text" "$(grep -A1 '^\.PP$' "$work/hone.1" | grep -E '^\.(SS|SH|TP)')" ""
sections=$(grep -c '^\.SS hone ' "$work/hone.1")
verbs=$(for of in "" db farm; do
    # shellcheck disable=SC2086
    "$hone" $of --help | grep -c '^  [a-z]'
done | awk '{ sum += $1 } END { print sum }')
expect "manual page: sections" "$sections" "$verbs"
expect "manual page: option" "$(grep -A 1 -F '.B \-\-keep N' "$work/hone.1" | tail -n 1 | cut -c 1-19)" "the fastest records"
expect "manual page: example" "$(grep -c '^\.B hone ' "$work/hone.1")" "$(grep -c '^Example:$' "$work/hone.1")"
runner=$(dirname "$hone")/hone-runner
"$dir/man.sh" "$runner" "$version" | sed 's/\\//g' >"$work/hone-runner.1"
for option in $("$runner" --help | sed -n 's/^ *\(--[a-z-]*\).*/\1/p'); do
    expect "manual page of hone-runner: $option" "$(grep -c -E -e "^\.B $option( |$)" "$work/hone-runner.1")" 1
done
if command -v groff >/dev/null; then
    expect "manual page: groff" "$(groff -k -man -Tutf8 -ww "$work/hone.1" 2>&1 >/dev/null)" ""
fi
exit "$failed"
