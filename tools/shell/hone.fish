# Completion of hone's verbs, options and files in fish. It asks 'hone --help' and
# 'hone VERB --help', and so knows what this hone knows.
function __hone_help
    set -l words (commandline -opc)
    set -l command $words[1]
    set -l help ($command --help 2>/dev/null)
    for word in $words[2..-1]
        string match -q '*VERB*' -- $help[1]; or break
        set command $command $word
        set help ($command --help 2>/dev/null)
    end
    string join \n -- $help
end

function __hone_wants_verb
    string match -q '*VERB*' -- (__hone_help)[1]
end

function __hone_verbs
    __hone_help | string replace -rf '^  ([a-z]+) +(\S.*)$' '$1\t$2'
end

function __hone_options
    __hone_help | string replace -rf '^ *(?:-[a-z], )?(--[a-z-]+).*?   *(\S.*)$' '$1\t$2'
end

complete -c hone -f -n __hone_wants_verb -a '(__hone_verbs)'
complete -c hone -n 'not __hone_wants_verb' -a '(__hone_options)'
