# Completion of hone's verbs, options and files in bash. It asks 'hone --help' and
# 'hone VERB --help', and so knows what this hone knows.
_hone() {
    local word=$2 at=1 help list
    local -a command=("$1")
    COMPREPLY=()
    help=$("$1" --help 2>/dev/null) || return
    while [[ ${help%%$'\n'*} == *VERB* ]] && ((at < COMP_CWORD)); do
        command+=("${COMP_WORDS[at++]}")
        help=$("${command[@]}" --help 2>/dev/null) || return
    done
    if [[ ${help%%$'\n'*} == *VERB* ]]; then
        list=$(sed -n 's/^  \([a-z][a-z]*\)  *[^ ].*/\1/p' <<<"$help")
    elif [[ $word == -* ]]; then
        list=$(sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' <<<"$help")
    else
        return # names of files
    fi
    mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
}
complete -o default -F _hone hone
