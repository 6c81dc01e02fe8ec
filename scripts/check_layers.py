#!/usr/bin/env python3
"""Compares every #include of the tree with scripts/layers.txt."""
import fnmatch
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_table(path):
    rooms, floors, subs, third, system = {}, {}, {}, [], []
    with open(path, encoding="utf-8") as table:
        for line in table:
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "room":
                floors[words[2]] = int(words[1])
                rooms[words[2]] = words[4:]
            elif words[0] == "sub":
                subs[words[1]] = room = room_around_sub(path, words[1], floors)
                rooms[words[1]] = row_of_sub(path, rooms, subs, room, words[3:])
            elif words[0] == "third":
                third.append((words[1], words[3:]))
            elif words[0] == "system":
                system += words[1:]
            else:
                sys.exit(f"{path}: unknown line: {line.strip()}")
    for room, names in rooms.items():
        for name in names:
            if room not in subs and name != "*" and floors[name] >= floors[room]:
                sys.exit(f"{path}: {room} names {name}, which is not on a floor below it")
    for sub in subs:
        floors[sub] = floors[room_around(sub, subs)]
        rooms[room_around(sub, subs)].append(sub)
    return rooms, floors, subs, third, system


def room_around(room, subs):
    """The room that a sub-room is in; a room is in itself."""
    return subs.get(room, room)


def room_around_sub(path, sub, floors):
    """The innermost room whose folder a new sub-room lies in."""
    around = [room for room in floors if sub.startswith(room + "/")]
    return max(around, key=len) if around else sys.exit(f"{path}: {sub} is in no room")


def row_of_sub(path, rooms, subs, room, names):
    """What its room may include, and those of its room whose rows stand before."""
    *before, sub = subs
    for name in names:
        if f"{room}/{name}" not in before:
            sys.exit(f"{path}: {sub} names {name}, whose row does not stand before it")
    others = [r for r in rooms if room_around(r, subs) != room] if rooms[room] == ["*"] else rooms[room]
    return others + [f"{room}/{name}" for name in names]


def closure(rooms, room):
    """The rooms that `room` may include: itself, its row, and what those include."""
    seen, todo = set(), [room]
    while todo:
        name = todo.pop()
        if name == "*":
            return set(rooms)
        if name not in seen:
            seen.add(name)
            todo += rooms[name]
    return seen


def room_of(path, rooms):
    found = [r for r in rooms if path.startswith(r + "/")]
    here = os.path.dirname(path) + "/."
    return here if here in rooms else max(found, key=len, default=None)


def is_private_of_another(name, other, room, subs):
    """x_impl.h is for its own room; tests look inside."""
    return (name.endswith("_impl.h") and room_around(other, subs) != room_around(room, subs)
            and room not in ("tests", "bench"))


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def check_file(path, table, allowed):
    rooms, floors, subs, third, system = table
    room = room_of(path, rooms)
    if room is None:
        yield 0, "is in no room of scripts/layers.txt"
        return
    divided = {room_around(sub, subs) for sub in subs}
    if room in divided or (room in subs and os.path.dirname(path) not in (room, room[:-2])):
        yield 0, f"is in no sub-room of {room_around(room, subs)}/"
        return
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            places = [p for pattern, where in third if fnmatch.fnmatchcase(name, pattern)
                      for p in where]
            if places:
                if not any(path.startswith(p + "/") for p in places):
                    yield number, f"<{name}> belongs to {' '.join(places)}"
            elif quote == "<":
                if not matches(name, system):
                    yield number, f"<{name}> is not in scripts/layers.txt"
            elif not os.path.exists(name) and "/" not in name:
                yield number, f'"{name}" is not spelled from the repository root'
            else:
                other = room_of(name, rooms)
                if other not in allowed[room]:
                    yield number, f"{room} may not include {name}"
                elif other != room and floors[other] == 9:
                    yield number, f"nobody includes {name}"
                elif is_private_of_another(name, other, room, subs):
                    yield number, f"{name} is private to {room_around(other, subs)}/"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    table = read_table("scripts/layers.txt")
    allowed = {room: closure(table[0], room) for room in table[0]}
    files = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.def", "*.inc"], text=True,
                           check=True, stdout=subprocess.PIPE).stdout.split()
    bad = 0
    for path in files:
        if not os.path.exists(path):
            continue
        for number, problem in check_file(path, table, allowed):
            print(f"{path}:{number}: {problem}")
            bad += 1
    print(f"layers: {len(files)} files, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
