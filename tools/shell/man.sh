#!/bin/sh
# usage: man.sh PROGRAM VERSION > PROGRAM.1
# The manual page of hone, hone-runner or hone-worker, made of what '--help' and 'hone VERB --help' say.
set -eu
hone=$1
version=$2
name=$(basename "$hone")

# A help text as a section: usage, summary, options as a list, notes, example. What all verbs have
# (--json, --config, -q, -v, -h) is told once, under OPTIONS: 1 prints these alone, "" none of them,
# all the other ones as well.
section() {
    awk -v common="$1" '
        function text(line) {
            gsub(/\\/, "\\e", line)
            gsub(/-/, "\\-", line)
            return line ~ /^[.\047]/ ? "\\&" line : line
        }
        function option(line,  name, rest) {
            gap = 0
            name = line
            sub(/^ +/, "", name)
            rest = name
            sub(/   *[^ ].*$/, "", name)
            rest = substr(rest, length(name) + 1)
            sub(/^ +/, "", rest)
            print ".TP\n.B " text(name) "\n" text(rest)
        }
        common != "all" && /^ +(-[a-z], )?--(json|config|quiet|verbose|help)( |$)/ { if (common) option($0); next }
        common == 1 { next }
        /^[Uu]sage: / { gap = 0; print ".SS " text(substr($0, 8)); next }
        /^       hone/ { sub(/^ +/, ""); print ".SS " text($0); next } # a further usage
        /^Example: / { print ".PP\nExample:\n.B " text(substr($0, 10)); gap = 0; next }
        /^ +(-[a-z], )?--[a-z]/ { option($0); next }
        /^$/ { gap = 1; next } # a paragraph, if text comes
        /^hone [a-z]* SUBVERB --help/ { next }
        /^  [a-z]/ { next } # sub-verbs have sections of their own
        /^ / { sub(/^ +/, "") } # what goes on with the line above
        gap { print ".PP"; gap = 0 }
        { print text($0) }'
}

verbs_of() { # HELP OF A PROGRAM OR VERB
    sed -n 's/^  \([a-z][a-z]*\)  *[^ ].*/\1/p'
}

title() { # WHAT IT IS FOR
    printf '.TH %s 1 "" "hone %s"\n.SH NAME\n' "$(echo "$name" | tr "[:lower:]" "[:upper:]")" "$version"
    printf '%s \\- %s\n' "$name" "$1" | sed 's/\([a-z]\)-\([a-z]\)/\1\\-\2/'
}
exit_status() { # ANSWER: what 1 means, or nothing
    printf '.SH EXIT STATUS\n.TP\n.B 0\ndone\n'
    [ -z "$1" ] || printf '.TP\n.B 1\n%s\n' "$1"
    cat <<END
.TP
.B 2
bad usage or bad input
.TP
.B 3
the world outside failed: disk, network, device, memory
.TP
.B 4
a bug
END
}

case $name in
hone-runner)
    title "run built kernels on this machine, alone or as a device of a farm"
    echo ".SH SYNOPSIS"
    "$hone" --help | section all
    exit_status ''
    printf '.SH SEE ALSO\n.BR hone (1)\n'
    exit 0
    ;;
hone-worker)
    title "compile programs for hone"
    echo ".SH DESCRIPTION"
    "$hone" --help | section all
    printf '.SH SEE ALSO\n.BR hone (1)\n'
    exit 0
    ;;
esac

title "make tensor programs fast on the machine that will run them"
cat <<END
.SH SYNOPSIS
.B hone
.I VERB
[\fIFILES\fR] [\fB\-\-options\fR]
.SH DESCRIPTION
Takes a model (ONNX) or a program (TVMScript), searches for the fastest schedule of every kernel by
building and measuring candidates, keeps what it learned in a database, and replays the best
schedules into one library that depends on nothing but the C library.
.PP
Options may stand anywhere; \fB\-\fR is standard input or output.
.SH OPTIONS
These are of all verbs, \fB\-\-json\fR of those that report.
END
"$hone" verify --help | section 1
echo '.SH VERBS'
for verb in $("$hone" --help | verbs_of); do
    "$hone" "$verb" --help | section ''
    case $("$hone" "$verb" --help | head -n 1) in
    *SUBVERB*)
        for sub in $("$hone" "$verb" --help | verbs_of); do
            "$hone" "$verb" "$sub" --help | section ''
        done
        ;;
    esac
done
exit_status "the answer is no: not equal, ill\\-formed, wrong results, nothing found"
cat <<END
.TP
.B 130
stopped by Ctrl\-C, after everything was saved
.SH ENVIRONMENT
.TP
.B HONE_TRACKER\fR, \fBHONE_KEY_FILE\fR, \fBHONE_TRACKER_KEY
stand for \fB\-\-tracker\fR, \fB\-\-key\fR and \fB\-\-tracker\-key
.TP
.B NO_COLOR
no colours on a terminal
.SH FILES
.TP
.B hone.conf
options, beside the first argument or given by \fB\-\-config\fR: sections [\fIverb\fR] of
\fIname\fR = \fIvalue\fR; the command line wins
END
