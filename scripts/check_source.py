#!/usr/bin/env python3
"""Looks for what a compiler does not: banned functions, seeds that make check-full cannot draw, file
names used twice, oversized files, tests that docs/security.md promises and that are not there,
functions that a header of a room declares and no other file of a room calls, files that do not
begin with what they are, contracts that stand on the one before, mutations of what is not there,
READMEs that give more than eight files to read in order, or some that are not there, READMEs of
rooms that are missing, too long or lack a heading, folders with too many files, files in the top
folder that do not belong there (what a test wrote).

A line that must use a banned function says so and why: /* allow exit: the child of a fork */
"""
import collections
import os
import re
import subprocess
import sys

# Everywhere.
UNSAFE = ("strcpy strcat stpcpy sprintf vsprintf strtok strtok_r gets atoi atol atoll atof rand srand "
          "random srandom drand48 alloca tmpnam mktemp ctime asctime localtime gmtime usleep popen "
          "system")
# In rooms: the library does not end the process, does not print, lets tests fail any allocation
# (support/core/alloc.h) and choose the time (support/os/clock.h), and reads numbers with points
# (support/core/number.h).
IN_ROOMS = ("exit abort quick_exit atexit printf vprintf puts putchar perror setlocale time "
            "gettimeofday malloc calloc realloc reallocarray strdup strndup asprintf vasprintf "
            "aligned_alloc posix_memalign strtod strtof strtold strcasecmp strncasecmp")
# What is embedded in every compiled model knows nothing but the C library.
FREE = {"support/core/alloc.c": IN_ROOMS, "support/os/clock.c": "time", "runtime/model/": IN_ROOMS,
        "tools/": "exit abort printf vprintf puts putchar perror atexit setlocale strcasecmp "
                  "strncasecmp",
        "tests/": IN_ROOMS + " rand system", "bench/": IN_ROOMS, "examples/": IN_ROOMS}

# A call of snprintf up to the end of its format, and what prints a fraction there: with a comma in
# some locales.
FORMAT = re.compile(r'(?<!\w)snprintf\s*\([^;"]*((?:"(?:\\.|[^"\\\n])*"\s*)+)')
FRACTION = re.compile(r"(?<!%)(?:%%)*%[-+ #0]*[\d*]*(?:\.[\d*]+)?[aefgAEFG]")

# Tests get their seeds from hone_test_seed or hone_test_rng.
OWN_SEED = re.compile(r"\b(hone_rng_from_seed)\s*\(\s*\d+\w*\s*\)")

MAX_LINES = 700
COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
ALLOW = re.compile(r"/\* allow (\w+): \S")


def listed(*patterns):
    names = subprocess.run(["git", "ls-files", *patterns], text=True, check=True,
                           stdout=subprocess.PIPE).stdout.split()
    return [name for name in names if os.path.exists(name)]


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def banned_for(path):
    names = set((UNSAFE + " " + IN_ROOMS).split())
    for prefix, free in FREE.items():
        if path.startswith(prefix):
            names -= set(free.split())
    return re.compile(r"(?<![\w.>])(" + "|".join(sorted(names)) + r")\s*\(")


def check_line(path, pattern, line):
    for match in pattern.finditer(line):
        yield match.group(1), f"{match.group(1)}() is banned here"
    if path.startswith("tests/"):
        for match in OWN_SEED.finditer(line):
            yield match.group(1), "has a seed of its own: hone_test_rng gives one"


# "/* room/file.c - what it is", by the name under which others include the file; examples are shown
# to users, who do not see the path. A contract is found by its name, without what stands before it.
HEAD = re.compile(r"/\* (\S+)(?:\n \*)? - \S")
HEADLESS = ("examples/",)
LEANING = re.compile(r"^[ \t]*/\* The same\b", re.M)


def check_comments(path, text):
    head = HEAD.match(text)
    if not path.startswith(HEADLESS) and not (head and ("/" + path).endswith("/" + head.group(1))):
        yield 1, f"does not begin with /* {path} - what it is"
    for match in LEANING.finditer(text):
        if not path.startswith(HEADLESS):
            yield text.count("\n", 0, match.start()) + 1, 'says "The same": of what?'


def check_fractions(path, text):
    if not banned_for(path).search("strtod("):
        return
    for match in FORMAT.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        allowed = ALLOW.findall(text.split("\n")[number - 1])
        if FRACTION.search(match.group(1)) and "snprintf" not in allowed:
            yield number, "prints a fraction as locales do: hone_snprintf does not"


def check_file(path, text):
    code = COMMENT_OR_STRING.sub(blank, text).split("\n")
    pattern = banned_for(path)
    for number, (line, original) in enumerate(zip(code, text.split("\n")), 1):
        for name, problem in check_line(path, pattern, line):
            if name not in ALLOW.findall(original):
                yield number, problem
    if not text.endswith("\n"):
        yield len(code), "does not end with a newline"
    if "\t" in text or "\r" in text:
        yield 0, "has tabs or carriage returns"
    yield from check_comments(path, text)
    yield from check_fractions(path, text)


# `tests/room/test_thing.c name_of_the_case`
PROMISE = re.compile(r"`(tests/[\w./]+\.\w+)(?: (\w+))?`")
PROMISES = "docs/security.md"


def broken_promises():
    with open(PROMISES, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            for path, case in PROMISE.findall(line):
                if not os.path.exists(path):
                    yield number, f"there is no {path}"
                    continue
                with open(path, encoding="utf-8") as source:
                    if case and not re.search(rf"\b{case}\b", source.read()):
                        yield number, f"there is no {case} in {path}"


# What a header of a room declares is called by another file of a room, else it is local to its
# file or goes. Not these: what tests look into rooms with, doubles that they put in the place of
# the world, what macros and compiled models call, and steps, which are called by their traits.
UNCALLED = re.compile(
    r"hone_(virtual_clock|alloc)_\w+|hone_\w+_create_(null|memory|simulated)"
    r"|hone_(tracker|daemon|blob_cache)_get_stats|hone_runner_(simulated_now|remote_next_ns)"
    r"|hone_filter_(call_name|export)|hone_arena_reserved|hone_schedule_bind_node"
    r"|hone_tensor_set_find|hone_json_equal|hone_strmap_next|hone_check_bundle_parse"
    r"|hone_key_(pair_from_secret|parse_file_text)|hone_arith_bind_value|hone_iter_sum_expr"
    r"|hone_prior_(print|read)"
    r"|hone_sch_\w+|hone_progress_print|hone_cli_exit_code|hone_mt_\w+|intrin_write_\w+")
DECLARED = re.compile(
    r"^(?!static|typedef|extern|return|#)\w[\w *]*?\b(\w+)\([^;{}]*\)[^;{}]*;", re.M)


def uncalled(codes):
    """Functions of headers whose names stand in their declaration and one file; by header."""
    rooms = {path: code for path, code in codes.items()
             if not path.startswith(("tests/", "bench/", "examples/"))}
    uses = collections.Counter()
    for path, code in rooms.items():
        words = re.findall(r"\w+", code)
        uses.update(set(words) if path.endswith(".c") else words)
    for path in listed("*.def"):
        with open(path, encoding="utf-8") as table:
            uses.update(re.findall(r"\w+", table.read()))
    for path, code in rooms.items():
        if not path.endswith(".h") or path.startswith("include/"):
            continue
        for match in DECLARED.finditer(code):
            if uses[match.group(1)] <= 2 and not UNCALLED.fullmatch(match.group(1)):
                yield path, code.count("\n", 0, match.start(1)) + 1, match.group(1)


FOREACH = re.compile(r"foreach\((\w+)(?:\s+IN ITEMS)?\s+([^)]*)\)(.*?)endforeach", re.S)


def test_names():
    """The names in the lists of tests, those of loops as well."""
    names = set()
    for path in listed("*CMakeLists.txt", "*.cmake"):
        with open(path, encoding="utf-8") as source:
            text = source.read()
        for name, words, body in FOREACH.findall(text):
            text += "".join(body.replace(f"${{{name}}}", word) for word in words.split())
        names.update(re.findall(r"hone_(?:script_)?test\((\w+)[\s)]", text))
    names.update("cli_" + os.path.basename(path)[:-5] for path in listed("tests/cli/*.test"))
    return names


def stale_mutations():
    """Those of tests/mutation/ whose text does not stand once in its file, or whose tests are none."""
    made = test_names()
    for path in listed("tests/mutation/*.txt"):
        name, code, broken, begun = "", "", [], 0
        with open(path, encoding="utf-8") as table:
            lines = table.read().splitlines()
        for number, line in enumerate(lines, 1):
            key, _, rest = line.partition(" ")
            if key == "mutation":
                name, broken, begun = rest, [], number
            elif key == "file":
                with open(rest, encoding="utf-8") as source:
                    code = source.read()
            elif key == "-":
                broken.append(rest)
            elif key == "tests":
                if code.count("\n".join(broken)) != 1:
                    yield path, begun, f"what mutation {name} breaks does not stand in its file just once"
                for test in rest.split():
                    if test not in made:
                        yield path, number, f"mutation {name} names {test}, which is no test"


READING = re.compile(r"^\*\*(Read in this order|Then\b[^*]*)\*\*(.*(?:\n +.*)*)", re.M)
FILE_NAME = re.compile(r"(?<![\w./`])[\w./-]+\.(?:c|h|def|css|html|js|py|sh|txt)\b")
MAX_READING = 8


def wrong_readings():
    """What READMEs say is to be read; what stands in brackets is a remark, but for its files."""
    names = {os.path.basename(path) for path in listed()}
    for path in listed("*README.md"):
        with open(path, encoding="utf-8") as page:
            text = page.read()
        for match in READING.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            first = FILE_NAME.findall(re.sub(r"\([^)]*\)", "", match.group(2)))
            if match.group(1) != "Then" and len(first) > MAX_READING:
                yield path, line, f"{len(first)} files are to be read in order, {MAX_READING} at most"
            for name in FILE_NAME.findall(match.group(2)):
                here = os.path.join(os.path.dirname(path), name)
                if not os.path.exists(here) and os.path.basename(name) not in names:
                    yield path, line, f"there is no {name}"


# What the README of a room says; of what is added to it, or how it is changed.
HEADINGS = ("**Does** ", "**Does not** ", "**Invariants** ", "**Read in this order** ")
ADDING = re.compile(r"^ *\*\*(Add|Allow|Change) ", re.M)
MAX_README = 40
# Side by side in a folder; of these a newcomer knows the file by the name of its case.
MAX_FILES = 35
BY_CASE = ("tests/cli", "tests/programs", "bench/programs", "bench/schedules/avx2", "bench/schedules/avx512")


def rooms_and_parts():
    """The folders of scripts/layers.txt that have files."""
    with open("scripts/layers.txt", encoding="utf-8") as table:
        rows = [line.split() for line in table if re.match(r"(room|sub) ", line)]
    names = {row[2] if row[0] == "room" else row[1].removesuffix("/.") for row in rows}
    return sorted(names - {"examples"})


def wrong_rooms():
    """READMEs of rooms that are missing, too long or lack a heading; folders that are too full."""
    for room in rooms_and_parts():
        path = room + "/README.md"
        if not os.path.exists(path):
            yield path, "is not there"
            continue
        with open(path, encoding="utf-8") as page:
            text = page.read()
        if text.count("\n") > MAX_README:
            yield path, f"has {text.count(chr(10))} lines, {MAX_README} are enough"
        for heading in HEADINGS:
            if heading not in text:
                yield path, f"does not say {heading.strip()}"
        if not ADDING.search(text):
            yield path, "does not say how something is added"
    files = collections.Counter(os.path.dirname(path) for path in listed()
                                if os.path.basename(path) != "README.md")
    for folder, count in files.items():
        if count > MAX_FILES and folder not in BY_CASE:
            yield folder, f"holds {count} files, {MAX_FILES} at most: divide it"


TOP = ("ARCHITECTURE.md CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md LICENSE "
       "Makefile README.md .clang-format .clang-tidy .editorconfig .gitignore").split()


def strays():
    return [path for path in listed() if "/" not in path and path not in TOP]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = listed("*.c", "*.h")
    bad, long_files, seen, codes = 0, [], {}, {}
    for path in files:
        with open(path, encoding="utf-8", newline="") as source:
            text = source.read()
        for number, problem in check_file(path, text):
            print(f"{path}:{number}: {problem}")
            bad += 1
        codes[path] = COMMENT_OR_STRING.sub(blank, text)
        name = os.path.basename(path)
        if not path.startswith("include/hone/"):  # those are known as <hone/name.h>
            if name in seen:
                print(f"{path}: its name is taken by {seen[name]}")
                bad += 1
            seen[name] = path
        if text.count("\n") > MAX_LINES:
            long_files.append((text.count("\n"), path))
    for path in strays():
        print(f"{path}: does not belong in the top folder")
        bad += 1
    for path, problem in wrong_rooms():
        print(f"{path}: {problem}")
        bad += 1
    for path, number, name in uncalled(codes):
        print(f"{path}:{number}: no other file of a room calls {name}()")
        bad += 1
    for path, number, problem in stale_mutations():
        print(f"{path}:{number}: {problem}")
        bad += 1
    for path, number, problem in wrong_readings():
        print(f"{path}:{number}: {problem}")
        bad += 1
    for number, problem in broken_promises():
        print(f"{PROMISES}:{number}: {problem}")
        bad += 1
    for lines, path in sorted(long_files, reverse=True):
        print(f"note: {path} has {lines} lines, {MAX_LINES} are meant to be enough")
    print(f"source: {len(files)} files, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
